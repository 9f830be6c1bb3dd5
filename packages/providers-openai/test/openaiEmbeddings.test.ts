import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { WorkerError } from "@divisi/core/Worker"
import { afterEach, describe, expect, it, vi } from "vitest"
import { type EmbeddingsOptions, openaiEmbeddings } from "../src/index.ts"

interface Asked {
  readonly path: string | undefined
  readonly authorization: string | undefined
  readonly organization: string | undefined
  readonly body: { readonly model: string; readonly input: ReadonlyArray<string> }
}

type Answer = (asked: Asked, index: number) => { readonly status?: number | undefined; readonly body: unknown }

/** Points as OpenAI gives them: each with its index, and in no order. */
const points: Answer = ({ body }) => ({
  body: {
    object: "list",
    model: body.model,
    data: body.input.map((text, index) => ({ object: "embedding", index, embedding: [text.length, index] })).reverse(),
    usage: { prompt_tokens: 3, total_tokens: 3 }
  }
})

/** Runs something against a server on this machine that has the endpoint. */
const withServer = async (answer: Answer, use: (baseURL: string, asked: ReadonlyArray<Asked>) => Promise<void>) => {
  const asked: Array<Asked> = []
  const server = http.createServer((request, response) => {
    const pieces: Array<Buffer> = []
    request
      .on("data", (piece: Buffer) => pieces.push(piece))
      .on("end", () => {
        const { authorization, "openai-organization": organization } = request.headers
        const one = {
          path: request.url,
          authorization,
          organization: organization?.toString(),
          body: JSON.parse(Buffer.concat(pieces).toString())
        }
        asked.push(one)
        const { body, status = 200 } = answer(one, asked.length - 1)
        response
          .writeHead(status, { "content-type": "application/json", "retry-after-ms": "1" })
          .end(JSON.stringify(body))
      })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

const failureOf = async (texts: ReadonlyArray<string>, options: EmbeddingsOptions): Promise<WorkerError> => {
  const error = await openaiEmbeddings(
    "points-1",
    options
  )(texts).then(
    () => undefined,
    (error: unknown) => error
  )
  expect(error).toBeInstanceOf(WorkerError)
  return error as WorkerError
}

describe("openaiEmbeddings", () => {
  afterEach(() => vi.unstubAllEnvs())

  it("gives points in the order of the texts, with what is too long cut and nothing empty", () =>
    withServer(points, async (baseURL, asked) => {
      const embed = openaiEmbeddings("points-1", { baseURL, apiKey: "sk-secret", dimensions: 2, maxCharacters: 5 })
      expect(await embed(["abc", "", "abcdefgh"])).toEqual([
        [3, 0],
        [1, 1],
        [5, 2]
      ])
      expect(asked[0]).toMatchObject({
        path: "/v1/embeddings",
        authorization: "Bearer sk-secret",
        body: { model: "points-1", input: ["abc", " ", "abcde"], encoding_format: "float", dimensions: 2 }
      })
    }))

  it("sends other vendors' servers nothing of the environment's account", () =>
    withServer(points, async (baseURL, asked) => {
      vi.stubEnv("OPENAI_API_KEY", "sk-secret")
      vi.stubEnv("OPENAI_ORG_ID", "org-secret")
      await openaiEmbeddings("points-1", { baseURL })(["a"])
      expect(asked[0]).toMatchObject({ authorization: undefined, organization: undefined })
      vi.stubEnv("OPENAI_BASE_URL", baseURL)
      await openaiEmbeddings("points-1")(["a"])
      expect(asked[1]).toMatchObject({ authorization: "Bearer sk-secret", organization: "org-secret" })
    }))

  it("follows no redirect, and rejects invalid vectors", async () => {
    await withServer(points, async (other, elsewhere) => {
      const moved = http.createServer((_, response) => response.writeHead(307, { location: other }).end())
      await new Promise<void>((resolve) => moved.listen(0, "127.0.0.1", resolve))
      const baseURL = `http://127.0.0.1:${(moved.address() as AddressInfo).port}/v1`
      const error = await failureOf(["a"], { baseURL, apiKey: "sk-secret", maxRetries: 0 })
      moved.close()
      expect(error.reason).toMatchObject({ _tag: "Malformed" })
      expect(error.message).toContain(new URL(other).host)
      expect(elsewhere).toHaveLength(0)
    })
    for (const data of [null, {}, [null], [{ embedding: "odd" }], [{ embedding: [null] }], []]) {
      await withServer(
        () => ({ body: { data } }),
        async (baseURL) => {
          expect((await failureOf(["a"], { baseURL, maxRetries: 0 })).reason._tag).toBe("Malformed")
        }
      )
    }
  })

  it("tries again what may pass, and says what does not", async () => {
    const busy = { status: 429, body: { error: { message: "slow down", code: "rate_limit_exceeded" } } }
    await withServer(
      (one, index) => (index === 0 ? busy : points(one, index)),
      async (baseURL, asked) => {
        expect(await openaiEmbeddings("points-1", { baseURL })(["a"])).toEqual([[1, 0]])
        expect(asked).toHaveLength(2)
      }
    )
    await withServer(
      () => ({ status: 401, body: { error: { message: "Incorrect API key sk-secret", code: "invalid_api_key" } } }),
      async (baseURL, asked) => {
        const error = await failureOf(["a"], { baseURL, apiKey: "sk-secret" })
        expect(error.reason._tag).toBe("Authentication")
        expect(error.message).not.toContain("sk-secret")
        expect(asked).toHaveLength(1)
      }
    )
    vi.stubEnv("OPENAI_API_KEY", "")
    expect((await failureOf(["a"], {})).message).toContain("OPENAI_API_KEY is not set")
  })
})
