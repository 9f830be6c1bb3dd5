/** Tests that an app bundled into one file can call its vendors, in both module formats. */
import { execFile } from "node:child_process"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { promisify } from "node:util"
import { build } from "esbuild"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { problemOf, serveVendor } from "../checks/vendor.ts"
import { root } from "../setup/workspace.mjs"

const program = fs.readFileSync(path.join(root, "scripts/installation/vendors.mjs"), "utf8")
const app = `${program}\nask().then((said) => console.log(JSON.stringify(said)))\n`

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-bundled-"))

let vendor: Awaited<ReturnType<typeof serveVendor>>
beforeAll(async () => {
  vendor = await serveVendor()
})
afterAll(() => {
  vendor.stop()
  fs.rmSync(folder, { recursive: true, force: true })
})

describe("an app that is bundled", () => {
  for (const [format, ending] of [
    ["esm", "mjs"],
    ["cjs", "cjs"]
  ] as const) {
    it(`calls its vendors as ${format}`, async () => {
      const file = path.join(folder, `app.${ending}`)
      await build({
        stdin: { contents: app, resolveDir: path.join(root, "packages/recipes"), loader: "ts" },
        bundle: true,
        platform: "node",
        format,
        conditions: ["@divisi/source"],
        outfile: file,
        logLevel: "error"
      })
      const { stdout } = await promisify(execFile)(process.execPath, [file], {
        env: { ...process.env, VENDOR_URL: vendor.url }
      })
      assert.isUndefined(problemOf(stdout))
    })
  }
})
