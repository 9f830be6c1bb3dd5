import * as http from "node:http"
import type { AddressInfo } from "node:net"
import type { Report } from "@divisi/evals/Report"
import { describe, expect, it } from "vitest"
import { divisi, inFolder } from "./process.ts"

/** A server with OpenAI's embeddings endpoint: letters are counted. */
const start = async () => {
  const texts: Array<string> = []
  const models = new Set<string>()
  const server = http.createServer((request, response) => {
    const pieces: Array<Buffer> = []
    request
      .on("data", (piece: Buffer) => pieces.push(piece))
      .on("end", () => {
        const { input, model } = JSON.parse(Buffer.concat(pieces).toString()) as {
          readonly input: ReadonlyArray<string>
          readonly model: string
        }
        texts.push(...input)
        models.add(`${request.url} ${model} ${request.headers.authorization}`)
        const data = input.map((text, index) => ({
          object: "embedding",
          index,
          embedding: ["a", "e", "i", "o", "1", "2"].map((letter) => text.split(letter).length - 1)
        }))
        response
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify({ object: "list", model, data, usage: { prompt_tokens: 1, total_tokens: 1 } }))
      })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return { url, texts, models, [Symbol.asyncDispose]: close }
}

const args = ["eval", "--limit", "3", "--learn-limit", "5", "--seed", "5", "--policy", "lexical", "--json"]

const learning = [...args, "--baselines", "smoothie-independent,routerdc-light"]

describe("divisi eval --embeddings", () => {
  it("embeds questions and answers with a vendor's model, or that of any server", () =>
    inFolder(async (cwd) => {
      await using server = await start()
      const environment = { OPENAI_API_KEY: "sk-secret", OPENAI_BASE_URL: server.url, MY_SERVER_BASE_URL: server.url }
      const first = await divisi([...learning, "--embeddings", "openai:points-1"], { cwd, environment })
      expect({ code: first.code, errors: first.code === 0 ? "" : first.errors }).toEqual({ code: 0, errors: "" })
      const report = JSON.parse(first.output) as Report
      expect(report.versions.embeddings).toBe("openai:points-1")
      expect(report.cells.map(({ score }) => score.samples)).toEqual([3, 3, 3])
      expect([...server.models]).toEqual(["/v1/embeddings points-1 Bearer sk-secret"])
      // Questions that are learned from, their answers, and the questions that are routed.
      expect(server.texts.length).toBeGreaterThan(5 + 3)
      const other = [...learning, "--out", "other", "--embeddings", "my-server:points-2"]
      expect((await divisi(other, { cwd, environment })).code).toBe(0)
      expect([...server.models].at(-1)).toBe("/v1/embeddings points-2 undefined")
    }))

  it("says what cannot embed, before anything is asked", () =>
    inFolder(async (cwd) => {
      const wrong = async (...flags: ReadonlyArray<string>) => {
        const { code, errors } = await divisi([...learning, ...flags], { cwd, environment: { OPENAI_API_KEY: "" } })
        expect(code).toBe(2)
        return errors
      }
      expect(await wrong("--embeddings", "openai:points-1")).toContain("needs a key: set OPENAI_API_KEY")
      expect(await wrong("--embeddings", "anthropic:x")).toMatch(/needs a key|has none here/)
      expect(await wrong("--embeddings", "vibes")).toContain("Use vendor:model")
      expect(await wrong("--embeddings", "llamacpp:no.gguf")).toContain("no.gguf does not exist")
    }))
})
