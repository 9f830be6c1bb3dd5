import { spawnSync } from "node:child_process"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { linkCommand } from "../setup/bin.mjs"

const root = path.join(import.meta.dirname, "../..")
let clone: string
beforeEach(() => {
  clone = fs.mkdtempSync(path.join(os.tmpdir(), "divisi a clone "))
  fs.mkdirSync(path.join(clone, "scripts"))
  fs.writeFileSync(path.join(clone, "scripts/divisi.mjs"), "console.log(process.argv.slice(2))\n")
})
afterEach(() => fs.rmSync(clone, { recursive: true }))

describe("the command of a clone", () => {
  it.skipIf(process.platform === "win32")("runs what the clone has built, from any folder", () => {
    linkCommand(clone)
    linkCommand(clone)
    const { stdout } = spawnSync(path.join(clone, "node_modules/.bin/divisi"), ["run", "a b"], { encoding: "utf8" })
    expect(stdout).toBe("[ 'run', 'a b' ]\n")
  })

  it("is a command file on Windows", () => {
    linkCommand(clone, "win32")
    const text = fs.readFileSync(path.join(clone, "node_modules/.bin/divisi.cmd"), "utf8")
    expect(text).toContain('node "%~dp0\\..\\..\\scripts\\divisi.mjs" %*')
  })

  it("is found by npx before anything is installed, without a network", () => {
    for (const name of ["package.json", ".npmrc", "scripts/divisi.mjs", "scripts/install.mjs", "scripts/setup"])
      fs.cpSync(path.join(root, name), path.join(clone, name), { recursive: true })
    fs.writeFileSync(path.join(clone, "scripts/setup/divisi.mjs"), 'console.log(process.argv.slice(2).join("|"))\n')
    const env = {
      ...process.env,
      npm_config_cache: path.join(clone, "cache"),
      npm_config_registry: "http://127.0.0.1:9"
    }
    const options = { cwd: clone, encoding: "utf8", env, shell: process.platform === "win32" } as const
    const { status, stderr, stdout } = spawnSync("npx", ["divisi", "run", "2+2"], options)
    expect([stdout, stderr, status]).toEqual(["run|2+2\n", "", 0])
    expect(fs.readdirSync(clone).sort()).toEqual([".npmrc", "cache", "package.json", "scripts"])
  })
})

describe("npm install in a clone", () => {
  it("finds nothing in the root's manifest that npm cannot read", () => {
    const { dependencies, devDependencies } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"))
    for (const range of Object.values({ ...dependencies, ...devDependencies }))
      expect(range).toMatch(/^(npm:[a-z]+@)?[\^~]?\d/)
  })
})
