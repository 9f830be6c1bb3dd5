import { execFileSync } from "node:child_process"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { pending } from "../release/changesets.ts"
import { asPublished, linked, withAddresses } from "../release/published.ts"
import { packages, root as workspace } from "../setup/workspace.mjs"

const repository = { type: "git", url: "git+https://example.org/choir/choir.git" }
const author = "The choir"
const manifest = '{ "name": "@choir/alto",\n  "version": "1.2.3" }\n'
const readme =
  "See [the notes](../../docs/notes.md#second), [us](https://example.org), [above](#alto), [it](../bass).\n"

let root: string
const folder = () => path.join(root, "packages", "alto")
const file = () => path.join(folder(), "package.json")

beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-release-"))
  fs.mkdirSync(folder(), { recursive: true })
  fs.writeFileSync(path.join(root, "package.json"), JSON.stringify({ private: true, repository, author }))
  fs.writeFileSync(file(), manifest)
  fs.writeFileSync(path.join(folder(), "README.md"), readme)
})
afterEach(() => fs.rmSync(root, { recursive: true }))

describe("a package, while it is published", () => {
  it("says where in the repository it is, whose, and where to tell mistakes, and is as before afterwards", () => {
    const seen = asPublished(root, [folder()], () => JSON.parse(fs.readFileSync(file(), "utf8")))
    expect(seen).toEqual({
      name: "@choir/alto",
      version: "1.2.3",
      homepage: "https://example.org/choir/choir/tree/HEAD/packages/alto#readme",
      bugs: { url: "https://example.org/choir/choir/issues" },
      repository: { ...repository, directory: "packages/alto" },
      author
    })
    expect(fs.readFileSync(file(), "utf8")).toBe(manifest)
  })

  it("has a README whose links lead to the repository, and to nothing beside the package", () => {
    const seen = asPublished(root, [folder()], () => fs.readFileSync(path.join(folder(), "README.md"), "utf8"))
    expect(seen).toBe(
      "See [the notes](https://example.org/choir/choir/blob/HEAD/docs/notes.md#second), [us](https://example.org), " +
        "[above](#alto), [it](https://example.org/choir/choir/blob/HEAD/packages/bass).\n"
    )
    expect(fs.readFileSync(path.join(folder(), "README.md"), "utf8")).toBe(readme)
  })

  it("is as before when publishing fails", () => {
    const fail = () => {
      throw new Error("no network")
    }
    expect(() => asPublished(root, [folder()], fail)).toThrow("no network")
    expect(fs.readFileSync(file(), "utf8")).toBe(manifest)
  })

  it("is not touched where the repository is unknown", () => {
    fs.writeFileSync(path.join(root, "package.json"), "{}")
    expect(() => asPublished(root, [folder()], () => {})).toThrow('"repository" must have a type and a url')
    expect(fs.readFileSync(file(), "utf8")).toBe(manifest)
  })
})

describe("the packages of this workspace", () => {
  it("link to what is there", () => {
    for (const { folder } of packages()) {
      const directory = path.relative(workspace, folder)
      const text = fs.readFileSync(path.join(folder, "README.md"), "utf8")
      for (const target of linked(text, directory))
        expect(fs.existsSync(path.join(workspace, target)), target).toBe(true)
      expect(withAddresses(text, repository.url, directory)).not.toMatch(/\]\(\.\.?\//)
    }
  })

  // This only creates versions. Tests never call code that could publish.
  it("become one version with changelogs of their changesets, by one command", () => {
    const clone = path.join(root, "clone")
    for (const name of [".changeset", "package.json", "pnpm-workspace.yaml"]) {
      fs.cpSync(path.join(workspace, name), path.join(clone, name), { recursive: true })
    }
    for (const { folder } of packages()) {
      const at = path.join(clone, path.relative(workspace, folder))
      fs.mkdirSync(at, { recursive: true })
      fs.copyFileSync(path.join(folder, "package.json"), path.join(at, "package.json"))
    }
    const run = (command: string, ...args: ReadonlyArray<string>) =>
      execFileSync(command, args, { cwd: clone, stdio: "pipe", timeout: 60_000 })
    run("git", "init", "--quiet")
    run("git", "add", "--all")
    run("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message", "all")
    const changesets = pending(clone).map((name) => fs.readFileSync(path.join(clone, name), "utf8"))
    run(process.execPath, path.join(workspace, "node_modules/@changesets/cli/bin.js"), "version")
    expect(pending(clone)).toEqual([])
    const versions = new Set<string>()
    for (const name of fs.readdirSync(path.join(clone, "packages"))) {
      const at = path.join(clone, "packages", name)
      versions.add(JSON.parse(fs.readFileSync(path.join(at, "package.json"), "utf8")).version)
      const isNamed = changesets.some((text) => text.includes(`"@divisi/${name}":`))
      if (isNamed) expect(fs.readFileSync(path.join(at, "CHANGELOG.md"), "utf8")).toContain(`# @divisi/${name}`)
    }
    expect(versions.size).toBe(1)
    if (changesets.length > 0) expect([...versions][0]).not.toBe("0.0.0")
  }, 120_000)
})
