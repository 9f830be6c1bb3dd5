import { spawnSync } from "node:child_process"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"

const scripts = path.join(import.meta.dirname, "..")
let clone: string

/**
 * A clone with one script, and an npm that either installs the Node running this test or reports that there is no
 * network.
 */
beforeEach(() => {
  clone = fs.mkdtempSync(path.join(os.tmpdir(), "divisi a clone "))
  fs.cpSync(path.join(scripts, "setup"), path.join(clone, "scripts/setup"), { recursive: true })
  write(
    "scripts/script.mjs",
    `import { withNode } from "./setup/with-node.mjs"
withNode(async () => {
  console.log(process.argv.slice(2).join("|"), process.env.PATH.split(${JSON.stringify(path.delimiter)})[0])
  process.exitCode = 7
})
`
  )
  write(
    "npm-cli.js",
    `const fs = require("node:fs")
fs.appendFileSync(${JSON.stringify(path.join(clone, "calls"))}, process.argv.slice(2).join(" ") + "\\n")
if (process.env.OFFLINE) {
  console.error("npm error code ENOTFOUND")
  process.exit(1)
}
fs.mkdirSync("node_modules/node/bin", { recursive: true })
fs.symlinkSync(process.execPath, "node_modules/node/bin/node")
`
  )
  // This makes the clone's own Node look too old, and the installed one supported.
  write(
    "old.mjs",
    `if (!process.env.PATH.includes(${JSON.stringify(path.join(clone, ".divisi"))}))
  Object.defineProperty(process, "version", { value: "v16.20.0" })
`
  )
})
afterEach(() => fs.rmSync(clone, { recursive: true }))

const write = (name: string, text: string) => {
  fs.mkdirSync(path.dirname(path.join(clone, name)), { recursive: true })
  fs.writeFileSync(path.join(clone, name), text)
}

const start = (env: Record<string, string> = {}) =>
  spawnSync(process.execPath, [path.join(clone, "scripts/script.mjs"), "a b", "c"], {
    encoding: "utf8",
    env: {
      ...process.env,
      npm_execpath: path.join(clone, "npm-cli.js"),
      NODE_OPTIONS: `--import="${path.join(clone, "old.mjs")}"`,
      ...env
    }
  })

const calls = () => fs.readFileSync(path.join(clone, "calls"), "utf8").trim().split("\n")

describe.skipIf(process.platform === "win32")("with a Node that is too old", () => {
  it("installs one, once, and runs the command with it", () => {
    const first = start()
    expect(first.stdout).toBe(`a b|c ${path.join(clone, ".divisi/node24/node_modules/node/bin")}\n`)
    expect(first.stderr).toMatch(
      /^Divisi needs Node 22\.19 or newer, and this is v16\.20\.0\.\n {2}installing Node 24 .*…\n.*done in .* s\n$/
    )
    expect(first.status).toBe(7)
    const again = start()
    expect(again.stdout).toBe(first.stdout)
    expect(again.stderr).toBe("")
    expect(calls()).toHaveLength(1)
  })

  it.each([
    ["EACCES", "permission denied. Run the command as the owner of the clone"],
    ["EROFS", "the file system is read-only."],
    ["ENOSPC", "the disk is full. Free 2 GB, then run the same command again."]
  ])("says what to do if the clone cannot be written: %s", (code, says) => {
    // A full disk still creates the file.
    write(
      "old.mjs",
      `import fs from "node:fs"
Object.defineProperty(process, "version", { value: "v16.20.0" })
const { writeFileSync } = fs
fs.writeFileSync = (file, text, options) => {
  if (!String(file).endsWith(".lock")) return writeFileSync(file, text, options)
  if (${JSON.stringify(code)} === "ENOSPC") writeFileSync(file, "", options)
  throw Object.assign(new Error("${code}: refused"), { code: ${JSON.stringify(code)}, path: file })
}
`
    )
    const { status, stderr } = start()
    expect(stderr).toContain(`${path.join(clone, ".divisi/set-up.lock")} cannot be written: ${says}`)
    expect(stderr).not.toMatch(/^ +at /m)
    expect(status).toBe(1)
    expect(fs.existsSync(path.join(clone, ".divisi/set-up.lock"))).toBe(false)
  })

  it("says what to do without a network, and leaves nothing that looks installed", () => {
    const { status, stderr } = start({ OFFLINE: "1" })
    expect(stderr).toContain("could not be installed from the npm registry. Check the network")
    expect(stderr).not.toMatch(/^\s+at /m)
    expect(status).toBe(1)
    expect(start().status).toBe(7)
  })
})

describe("with a Node that is new enough", () => {
  it("installs nothing", () => {
    const { status, stderr, stdout } = start({ NODE_OPTIONS: "" })
    expect([stdout.startsWith("a b|c "), stderr, status]).toEqual([true, "", 7])
    expect(fs.existsSync(path.join(clone, "calls"))).toBe(false)
  })
})
