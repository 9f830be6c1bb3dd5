import { execFileSync } from "node:child_process"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { missing, namesIn } from "../checks/changes.ts"

const published = ["alto", "bass"].map((name) => ({ name: `@choir/${name}`, folder: `packages/${name}` }))

let root: string
const git = (...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...args], { cwd: root, stdio: "pipe" })
const write = (file: string, text: string) => {
  fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true })
  fs.writeFileSync(path.join(root, file), text)
}
const commit = (subject: string) => {
  git("add", "--all")
  git("commit", "--quiet", "--allow-empty", "--message", subject)
}
const changeset = (file: string, ...names: ReadonlyArray<string>) =>
  write(
    `.changeset/${file}.md`,
    `---\n${names.map((name) => `"@choir/${name}": minor\n`).join("")}---\n\nAdd a song.\n`
  )

beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-changes-"))
  git("init", "--quiet")
  write("packages/alto/src/index.ts", "1")
  write("packages/bass/src/index.ts", "1")
  changeset("first", "alto", "bass")
  commit("feat: sing")
})
afterEach(() => fs.rmSync(root, { recursive: true, force: true }))

describe("changes", () => {
  it("passes if the changeset is in the same commit or in a later one", () => {
    expect(missing(root, published)).toEqual([])
    write("packages/alto/src/index.ts", "2")
    commit("fix(alto): sing higher")
    changeset("second", "alto")
    commit("docs: add a changeset")
    expect(missing(root, published)).toEqual([])
  })

  it("fails for a package that changed after its last changeset", () => {
    write("packages/alto/src/index.ts", "2")
    commit("fix(alto): sing higher")
    const problems = missing(root, published)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(
      /^packages\/alto\/src\/index\.ts \(\w+ fix\(alto\): sing higher\): @choir\/alto changed/
    )
  })

  it("fails if the new changeset names another package", () => {
    write("packages/alto/src/index.ts", "2")
    changeset("second", "bass")
    commit("Sing higher")
    expect(missing(root, published)).toHaveLength(1)
  })

  it("fails for a change that is not committed, until its changeset is written", () => {
    write("packages/bass/src/song.ts", "2")
    expect(missing(root, published)[0]).toContain("packages/bass/src/song.ts (not committed)")
    changeset("second", "bass")
    expect(missing(root, published)).toEqual([])
  })

  it("takes the removal of changesets for a release, not for a description", () => {
    write("packages/alto/src/index.ts", "2")
    commit("fix(alto): sing higher")
    fs.rmSync(path.join(root, ".changeset/first.md"))
    commit("chore: release")
    expect(missing(root, published)).toHaveLength(1)
  })

  it("looks no further back than the last release", () => {
    write("packages/alto/src/index.ts", "2")
    commit("fix(alto): sing higher")
    git("tag", "@divisi/core@0.1.0")
    expect(missing(root, published)).toEqual([])
    write("packages/alto/src/index.ts", "3")
    commit("fix(alto): sing still higher")
    expect(missing(root, published)).toHaveLength(1)
  })

  it("needs no changeset for a refactoring, a test or a comment", () => {
    for (const subject of ["refactor(alto): move the song", "test: sing", "docs(alto): explain the song"]) {
      write("packages/alto/src/index.ts", subject)
      commit(subject)
    }
    expect(missing(root, published)).toEqual([])
  })

  it("reads names in single, double and no quotes", () => {
    expect(
      namesIn('---\n"@choir/alto": minor\n\'@choir/bass\': patch\nchoir: major\n---\n\n"@choir/no": text\n')
    ).toEqual(["@choir/alto", "@choir/bass", "choir"])
  })
})
