import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { withRepository } from "../release/repository.ts"

const repository = { type: "git", url: "git+https://example.org/choir.git" }
const manifest = '{ "name": "@choir/alto",\n  "version": "1.2.3" }\n'

let root: string
const folder = () => path.join(root, "packages", "alto")
const file = () => path.join(folder(), "package.json")

beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-release-"))
  fs.mkdirSync(folder(), { recursive: true })
  fs.writeFileSync(path.join(root, "package.json"), JSON.stringify({ private: true, repository }))
  fs.writeFileSync(file(), manifest)
})
afterEach(() => fs.rmSync(root, { recursive: true }))

describe("a manifest, while it is published", () => {
  it("says where in the repository its package is, and is as before afterwards", () => {
    const seen = withRepository(root, [folder()], () => JSON.parse(fs.readFileSync(file(), "utf8")))
    expect(seen).toEqual({
      name: "@choir/alto",
      version: "1.2.3",
      repository: { ...repository, directory: "packages/alto" }
    })
    expect(fs.readFileSync(file(), "utf8")).toBe(manifest)
  })

  it("is as before when publishing fails", () => {
    const fail = () => {
      throw new Error("no network")
    }
    expect(() => withRepository(root, [folder()], fail)).toThrow("no network")
    expect(fs.readFileSync(file(), "utf8")).toBe(manifest)
  })

  it("is not touched where the repository is unknown", () => {
    fs.writeFileSync(path.join(root, "package.json"), "{}")
    expect(() => withRepository(root, [folder()], () => {})).toThrow('"repository" must have a type and a url')
    expect(fs.readFileSync(file(), "utf8")).toBe(manifest)
  })
})
