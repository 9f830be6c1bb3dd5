import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { buildFingerprint, outputs } from "../setup/state.mjs"
import { bundles, closure, members, root } from "../setup/workspace.mjs"

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

  it("changes with the source that is taken in from another package, and with no other", () => {
    const files = ["providers-google", "providers-genai", "providers-openai"].map((name) => {
      fs.mkdirSync(path.join(folder, name, "src"), { recursive: true })
      const file = path.join(folder, name, "src/a.ts")
      fs.writeFileSync(file, "")
      return file
    })
    const of = (name: string) => buildFingerprint(path.join(folder, name), "dependencies")
    const prints = files.map((file) => {
      fs.writeFileSync(file, "export const a = 1\n")
      return { google: of("providers-google"), genai: of("providers-genai") }
    })
    expect(new Set(prints.slice(0, 2).map(({ google }) => google)).size).toBe(2)
    expect(prints[2]).toEqual(prints[1])
    expect(prints[1]?.genai).not.toBe(prints[0]?.genai)
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
  it("knows what the command line needs, and only that", () => {
    const names = closure("@divisi/cli").map(({ manifest }) => manifest.name)
    expect(names).toContain("@divisi/core")
    expect(closure("@divisi/core").map(({ manifest }) => manifest.name)).toEqual(["@divisi/core"])
  })

  it("tells turbo the same as set-up of source that is taken in from other packages", () => {
    for (const [name, siblings] of Object.entries(bundles)) {
      const { tasks } = JSON.parse(fs.readFileSync(path.join(root, "packages", name, "turbo.json"), "utf8"))
      expect(tasks.transit.inputs).toEqual(["$TURBO_EXTENDS$", ...siblings.map((sibling) => `../${sibling}/src/**`)])
    }
  })

  it("knows every folder that pnpm installs into", () => {
    const names = members().map(({ manifest }) => manifest.name)
    expect(names).toEqual(expect.arrayContaining(["divisi-workspace", "@divisi/core", "@divisi/bench"]))
  })
})
