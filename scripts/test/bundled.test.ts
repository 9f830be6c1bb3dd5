/** An app that a bundler has made one file of calls its vendors, in both formats of modules. */
import { execFile } from "node:child_process"
import fs from "node:fs"
import http from "node:http"
import type { AddressInfo } from "node:net"
import os from "node:os"
import path from "node:path"
import { promisify } from "node:util"
import { build } from "esbuild"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { root } from "../setup/workspace.mjs"

const app = `
import { conduct } from "@divisi/core/promise"
import { anthropic } from "@divisi/providers-anthropic"
import { google } from "@divisi/providers-google"
import { openaiChat, openaiCompatible } from "@divisi/providers-openai"

const at = { baseURL: process.env.VENDOR_URL, apiKey: "k" }
const models = {
  answered: openaiCompatible({ ...at, model: "m" }),
  openai: openaiChat("refused", at),
  anthropic: anthropic("refused", at),
  google: google("refused", at)
}
const run = async () => {
  const said = {}
  for (const [name, model] of Object.entries(models)) {
    const { answer, error } = await conduct({ question: "Why?", pool: [model], retry: { maxAttempts: 1, baseDelayMillis: 0 } })
    said[name] = answer ?? error.message
  }
  console.log(JSON.stringify(said))
}
run()
`

const chunk = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 0, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

/** Answers the model "m" in the format of Chat Completions, and lets no other in. */
const vendor = http.createServer((request, response) => {
  let body = ""
  request.setEncoding("utf8").on("data", (text: string) => (body += text))
  request.on("end", () => {
    if (body.includes('"model":"m"')) {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.end(`${chunk({ role: "assistant", content: "Because." }, null)}${chunk({}, "stop")}data: [DONE]\n\n`)
    } else {
      response.writeHead(401, { "content-type": "application/json" })
      response.end(JSON.stringify({ error: { message: "Unknown key.", type: "authentication_error" } }))
    }
  })
})

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-bundled-"))

beforeAll(() => new Promise<void>((resolve) => vendor.listen(0, "127.0.0.1", resolve)))
afterAll(() => {
  vendor.close()
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
      const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}/v1`
      const { stdout } = await promisify(execFile)(process.execPath, [file], {
        env: { ...process.env, VENDOR_URL: url }
      })
      const { answered, ...refused } = JSON.parse(stdout)
      assert.strictEqual(answered, "Because.")
      for (const message of Object.values<string>(refused)) assert.match(message, /refused the credentials/)
    })
  }
})
