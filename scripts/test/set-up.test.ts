import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { buildFingerprint, newestInput, outputs } from "../setup/state.mjs"
import { closure, members } from "../setup/workspace.mjs"

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi set-up "))
  fs.mkdirSync(path.join(folder, "src/internal"), { recursive: true })
  fs.writeFileSync(path.join(folder, "src/internal/a.ts"), "export const a = 1\n")
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

describe("buildFingerprint", () => {
  it("stays while nothing changes, whatever is built", () => {
    const before = buildFingerprint(folder, "dependencies")
    fs.mkdirSync(path.join(folder, "dist"))
    fs.writeFileSync(path.join(folder, "dist/a.js"), "")
    expect(buildFingerprint(folder, "dependencies")).toBe(before)
  })

  it.each([
    ["a source is edited", () => fs.writeFileSync(path.join(folder, "src/internal/a.ts"), "export const a = 22\n")],
    ["a source is touched", () => fs.utimesSync(path.join(folder, "src/internal/a.ts"), 1, 1)],
    ["a source is added", () => fs.writeFileSync(path.join(folder, "src/b.ts"), "")],
    ["a source is renamed", () => fs.renameSync(path.join(folder, "src/internal/a.ts"), path.join(folder, "src/a.ts"))],
    ["the configuration is added", () => fs.writeFileSync(path.join(folder, "tsup.config.ts"), "")]
  ])("changes when %s", (_, change) => {
    const before = buildFingerprint(folder, "dependencies")
    change()
    expect(buildFingerprint(folder, "dependencies")).not.toBe(before)
  })

  it("changes with no other package's source", () => {
    const files = ["providers-google", "providers-genai"].map((name) => {
      fs.mkdirSync(path.join(folder, name, "src"), { recursive: true })
      const file = path.join(folder, name, "src/a.ts")
      fs.writeFileSync(file, "")
      return file
    })
    const [google = "", genai = ""] = files
    const print = () => buildFingerprint(path.join(folder, "providers-google"), "dependencies")
    const before = print()
    fs.writeFileSync(genai, "export const a = 1\n")
    expect(print()).toBe(before)
    fs.writeFileSync(google, "export const a = 1\n")
    expect(print()).not.toBe(before)
  })

  it("changes with the installed dependencies", () => {
    expect(buildFingerprint(folder, "others")).not.toBe(buildFingerprint(folder, "dependencies"))
  })
})

describe("outputs", () => {
  it("lists the JavaScript of a build, and nothing before there is one", () => {
    expect(outputs(folder)).toEqual([])
    fs.mkdirSync(path.join(folder, "dist"))
    for (const name of ["b.js", "a.js", "a.js.map", "a.d.ts"]) fs.writeFileSync(path.join(folder, "dist", name), "")
    expect(outputs(folder)).toEqual([path.join("dist", "a.js"), path.join("dist", "b.js")])
  })
})

describe("workspace", () => {
  it("knows what the command line needs, with what is optional and without, and only that", () => {
    const names = closure("@divisi/cli").map(({ manifest }) => manifest.name)
    expect(names).toContain("@divisi/core")
    expect(names).toContain("@divisi/providers-openai")
    const needed = closure("@divisi/cli", { withOptional: false }).map(({ manifest }) => manifest.name)
    expect(needed).toContain("@divisi/policy-tiny")
    expect(needed.filter((name) => /providers-|llamacpp|trainer-/.test(name))).toEqual([])
    expect(closure("@divisi/core").map(({ manifest }) => manifest.name)).toEqual(["@divisi/core"])
  })

  it("knows every folder that pnpm installs into", () => {
    const names = members().map(({ manifest }) => manifest.name)
    expect(names).toEqual(expect.arrayContaining(["divisi-workspace", "@divisi/core", "@divisi/bench"]))
  })
})

describe("newestInput", () => {
  it("is the time of the last edit of a source, and of nothing that is built", () => {
    const later = Date.now() / 1000 + 1000
    fs.utimesSync(path.join(folder, "src/internal/a.ts"), later, later)
    fs.mkdirSync(path.join(folder, "dist"))
    fs.writeFileSync(path.join(folder, "dist/a.js"), "")
    fs.utimesSync(path.join(folder, "dist/a.js"), later + 1000, later + 1000)
    expect(newestInput(folder)).toBe(fs.statSync(path.join(folder, "src/internal/a.ts")).mtimeMs)
  })
})
