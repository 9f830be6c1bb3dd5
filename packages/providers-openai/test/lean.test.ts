import { execFile } from "node:child_process"
import { once } from "node:events"
import * as http from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { promisify } from "node:util"
import * as zlib from "node:zlib"
import { WorkerStream } from "@divisi/core/streams"
import type { WorkerError } from "@divisi/core/Worker"
import { OpenAiChat, ProviderContract, Script, WireServer } from "@divisi/testkit/providers"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { type CompatibleOptions, openaiCompatible } from "../src/index.ts"

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void

const event = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`
const last = `data: ${JSON.stringify({ choices: [{ delta: {}, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`

/** A server that answers by hand, and its connections. */
const withServer = async (
  handler: Handler,
  use: (baseURL: string, sockets: ReadonlyArray<Socket>) => Promise<void>
): Promise<void> => {
  const sockets: Array<Socket> = []
  const server = http.createServer((request, response) => {
    request.resume()
    request.on("end", () => handler(request, response))
  })
  server.on("connection", (socket) => sockets.push(socket))
  // As a proxy, it is every server itself.
  server.on("connect", (_, socket) => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n")
    server.emit("connection", socket)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, sockets)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

const parts = (options: Omit<CompatibleOptions, "model">) =>
  WorkerStream.generate(openaiCompatible({ model: "m", ...options }), { messages: [{ role: "user", content: "Hi" }] })

const textOf = (options: Omit<CompatibleOptions, "model">): Promise<string> =>
  Effect.runPromise(
    Stream.runFold(
      parts(options),
      () => "",
      (text, part) => text + (part.type === "text" ? part.text : "")
    )
  )

const failureOf = (options: Omit<CompatibleOptions, "model">): Promise<WorkerError> =>
  Effect.runPromise(Effect.flip(Stream.runDrain(parts(options))))

/** Answers in one packet, and says that the answer is over in another one. */
const inTwoPackets: Handler = (_, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  response.write(event("ok") + last)
  setTimeout(() => response.end(), 5)
}

describe("connections to a compatible server", () => {
  it("are used again by the next call, of any worker", async () => {
    await withServer(inTwoPackets, async (baseURL, sockets) => {
      for (let call = 0; call < 3; call++) {
        assert.strictEqual(await textOf({ baseURL }), "ok")
        // Until what says that the answer is over has been sent and has come, however late these timers are.
        await new Promise((resolve) => setTimeout(resolve, 30))
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
      }
      assert.lengthOf(sockets, 1)
    })
  })

  it("are closed if a server keeps sending after the end of its answer", async () => {
    const more: Handler = (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(event("ok") + last)
      const timer = setInterval(() => response.write(": ping\n".repeat(1000)), 1)
      response.once("close", () => clearInterval(timer))
    }
    await withServer(more, async (baseURL, sockets) => {
      assert.strictEqual(await textOf({ baseURL }), "ok")
      if (sockets[0]?.destroyed === false) await once(sockets[0], "close")
    })
  })

  it("are not opened for a call that is interrupted before it is sent", async () => {
    let asked = 0
    const counting: Handler = (request, response) => {
      asked += 1
      inTwoPackets(request, response)
    }
    await withServer(counting, async (baseURL) => {
      const fiber = Effect.runFork(Stream.runDrain(parts({ baseURL })))
      await Effect.runPromise(Fiber.interrupt(fiber))
      await new Promise((resolve) => setTimeout(resolve, 30))
      assert.strictEqual(asked, 0)
    })
  })

  it("pause the server while there is no reader", async () => {
    const pieces = 400
    let isWhole = false
    const flood: Handler = async (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      for (let piece = 0; piece < pieces; piece++) {
        if (!response.write(event("x".repeat(100_000)))) await once(response, "drain")
      }
      isWhole = true
      response.end(last)
    }
    await withServer(flood, async (baseURL) => {
      let length = 0
      let isFirst = true
      await Effect.runPromise(
        Stream.runForEachArray(parts({ baseURL }), (read) => {
          for (const part of read) if (part.type === "text") length += part.text.length
          if (!isFirst) return Effect.void
          isFirst = false
          return Effect.andThen(
            Effect.sleep(500),
            Effect.sync(() => assert.isFalse(isWhole))
          )
        })
      )
      assert.strictEqual(length, pieces * 100_000)
    })
  })
})

describe("a call of a compatible server", () => {
  it("has the headers of the worker's options instead of its own, and asks for no compression", async () => {
    await using server = await WireServer.start(OpenAiChat.dialect, [Script.answer("ok")])
    const headers = { Authorization: "Basic abc", "X-Own": "1", "User-Agent": "mine" }
    await textOf({ baseURL: `${server.url}/v1`, apiKey: "sk-1", headers })
    const { host: _, connection: __, "content-length": ___, ...sent } = server.exchanges[0]!.headers
    assert.deepStrictEqual(sent, {
      accept: "text/event-stream",
      "accept-encoding": "identity",
      "content-type": "application/json",
      authorization: "Basic abc",
      "user-agent": "mine",
      "x-own": "1"
    })
  })

  it("fails as a wrong request where a header cannot be sent, and shows nothing of it", async () => {
    const apiKey = "sk-first line\nsecond line of the key"
    const error = await failureOf({ baseURL: "http://127.0.0.1:9/v1", apiKey })
    assert.strictEqual(error.reason._tag, "InvalidRequest")
    assert.notInclude(JSON.stringify([error, error.message]), "line")
  })

  it("reads an answer that is compressed although that was not asked for", async () => {
    const encoders = {
      gzip: zlib.gzipSync,
      deflate: zlib.deflateSync,
      br: zlib.brotliCompressSync,
      zstd: zlib.zstdCompressSync
    }
    for (const [encoding, encode] of Object.entries(encoders)) {
      const compressed: Handler = (_, response) =>
        response
          .writeHead(200, { "content-type": "text/event-stream", "content-encoding": encoding })
          .end(encode(Buffer.from(event("ok") + last)))
      await withServer(compressed, async (baseURL) => assert.strictEqual(await textOf({ baseURL }), "ok", encoding))
    }
  })

  it("fails where its answer cannot be decompressed", async () => {
    const details = {
      br: "an answer in br cannot be decompressed",
      odd: "the answer is encoded as odd, which was not requested"
    }
    for (const [encoding, detail] of Object.entries(details)) {
      const compressed: Handler = (_, response) =>
        response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": encoding }).end("xxxxxxx")
      await withServer(compressed, async (baseURL) => {
        const { reason } = await failureOf({ baseURL })
        assert.deepStrictEqual(reason, { _tag: "Malformed", detail })
      })
    }
  })

  it("names the host and the path of a page instead of an answer, without the query", () =>
    withServer(
      (_, response) => response.end("<html><title>My App</title></html>"),
      async (baseURL) => {
        const { host } = new URL(baseURL)
        for (const fetch of [undefined, globalThis.fetch]) {
          const { message } = await failureOf({ baseURL: `http://${host}/?token=hunter2`, id: "m", fetch })
          assert.strictEqual(
            message,
            `m returned an unusable answer: an HTML page from ${host}/chat/completions: My App. Check the base URL (the base URL has no version: if the API is under /v1, append /v1).`
          )
        }
      }
    ))

  it("passes over what a server says before its answer", async () => {
    const early: Handler = (request, response) => {
      response.writeEarlyHints({ link: "</style.css>; rel=preload" })
      inTwoPackets(request, response)
    }
    await withServer(early, async (baseURL) => assert.strictEqual(await textOf({ baseURL }), "ok"))
  })

  it("goes through the `fetch` that is given", async () => {
    const asked: Array<string> = []
    const fetch: typeof globalThis.fetch = async (input) => {
      asked.push(String(input))
      return new Response(event("from elsewhere") + last, { headers: { "content-type": "text/event-stream" } })
    }
    assert.strictEqual(await textOf({ baseURL: "http://nowhere.invalid/v1/?a=b", fetch }), "from elsewhere")
    assert.deepStrictEqual(asked, ["http://nowhere.invalid/v1/chat/completions?a=b"])
  })

  it("goes through the proxy of the environment where `fetch` does", async () => {
    const program = `
      import { openaiCompatible } from ${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)}
      import * as Effect from "effect/Effect"
      import * as Stream from "effect/Stream"
      const worker = openaiCompatible({ baseURL: "http://llm.invalid/v1", model: "m" })
      const parts = worker.generate({ messages: [{ role: "user", content: "Hi" }] })
      console.log(JSON.stringify(await Effect.runPromise(Stream.runCollect(parts))))`
    await withServer(inTwoPackets, async (baseURL) => {
      const env = { ...process.env, NODE_USE_ENV_PROXY: "1", HTTP_PROXY: new URL(baseURL).origin, NO_PROXY: "" }
      const argv = ["--conditions=@divisi/source", "--input-type=module", "--eval", program]
      const { stdout } = await promisify(execFile)(process.execPath, argv, { env, cwd: import.meta.dirname })
      assert.deepInclude(JSON.parse(stdout), { type: "text", text: "ok" })
    })
  })
})

const throughFetch: ProviderContract.Options = {
  name: "openaiCompatible through fetch",
  dialect: OpenAiChat.compatible({ reasoningField: "reasoning" }),
  make: ({ baseURL, defaults, ...connection }) =>
    openaiCompatible({
      baseURL: `${baseURL}/v1`,
      model: "some/model",
      reasoningField: "reasoning",
      fetch: globalThis.fetch,
      ...defaults,
      ...connection
    })
}

const ofConnections = ProviderContract.cases.filter(({ id }) =>
  /^(?:answer|failure|retry-after|fault|connection|interruption|secret|vendor)\//.test(id)
)

describe("openaiCompatible through fetch keeps the contract of providers", () => {
  for (const one of ofConnections) it(`${one.id}: ${one.name}`, () => ProviderContract.check(one, throughFetch))
})
