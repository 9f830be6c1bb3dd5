import { execFileSync } from "node:child_process"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { problemsOf } from "../hooks/subject.mjs"

describe("subject", () => {
  it.each([
    "fix(server): bound the expansion of JSON Schema references",
    "feat!: drop Node 20",
    "Embed the model card",
    "docs: need no key for the gym\n\nAdded figures.",
    "Merge branch 'main' into a-branch-with-a-name-that-is-longer-than-any-subject-may-be-at-all",
    'Revert "fixed it."'
  ])("accepts %j", (message) => expect(problemsOf(message)).toEqual([]))

  it.each([
    ["fix(server): fixed the expansion", "not imperative"],
    ["fix: fixing it", "not imperative"],
    ["Adds a flag", "not imperative"],
    ["fix(server): bound it.", "full stop"],
    ["fix(server): ", "says nothing"],
    [`fix: ${"bound it ".repeat(9)}`, "characters; at most 72"]
  ])("refuses %j", (message, problem) => expect(problemsOf(message).join(" ")).toContain(problem))
})

describe.skipIf(process.platform === "win32")("the hook", () => {
  let root: string
  beforeEach(() => {
    root = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-hook-"))
  })
  afterEach(() => fs.rmSync(root, { recursive: true, force: true }))

  it("stops a commit with another subject", () => {
    const git = (...args: ReadonlyArray<string>) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...args], {
        cwd: root,
        stdio: "pipe"
      })
    git("init", "--quiet")
    git("config", "core.hooksPath", path.join(import.meta.dirname, "../hooks"))
    expect(() => git("commit", "--allow-empty", "--quiet", "--message", "fixed it")).toThrow(/not imperative/)
    git("commit", "--allow-empty", "--quiet", "--message", "fix: bound it")
  })
})
