import * as Net from "node:net"
import { setImmediate } from "node:timers/promises"
import type * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import type { Worker } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as HttpEffect from "effect/http/HttpEffect"
import * as Stream from "effect/Stream"
import { assert, describe, it } from "vitest"
import * as Server from "../src/Server.ts"
import { serving } from "./serving.ts"
import { alone, said, usage, worker } from "./teams.ts"

/** A text of some megabytes, in pieces that come one by one. */
const pieces = Array.from({ length: 200 }, (_, at) => `${at}:`.padEnd(32_768, "ö"))

const long: Worker = {
  id: "long",
  generate: () =>
    Stream.concat(
      Stream.mapEffect(Stream.fromIterable(pieces), (text) =>
        Effect.as(
          Effect.promise(() => setImmediate()),
          { type: "text" as const, text }
        )
      ),
      Stream.succeed({ type: "finish" as const, reason: "stop" as const, usage })
    )
}

const bodyOf = (more: object) =>
  JSON.stringify({ model: "divisi", messages: [{ role: "user", content: "Go on." }], stream: true, ...more })

/** The texts of a stream's chunks. */
const textOf = (events: string): string =>
  events
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)).choices[0].delta.content ?? "")
    .join("")

/** Sends a request, and reads nothing until it is resumed. */
const slowly = (port: number, body: string, reads: Promise<unknown>): Promise<string> =>
  new Promise((resolve, reject) => {
    const received: Array<Buffer> = []
    const socket = Net.connect(port, "127.0.0.1", () => {
      socket.pause()
      const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n`
      socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
      reads.then(() => socket.resume())
    })
    socket.on("data", (bytes) => received.push(bytes))
    socket.on("error", reject)
    socket.on("end", () => resolve(Buffer.concat(received).toString()))
  })

/** Removes the chunk framing from a body. */
const unchunked = (response: string): string => {
  const bytes = Buffer.from(response.slice(response.indexOf("\r\n\r\n") + 4))
  const texts: Array<Buffer> = []
  for (let at = 0; ; ) {
    const end = bytes.indexOf("\r\n", at)
    const length = Number.parseInt(bytes.toString("latin1", at, end), 16)
    if (!(length > 0)) return Buffer.concat(texts).toString()
    texts.push(bytes.subarray(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
}

describe("a stream", () => {
  it("reaches a client whole that reads it late", () =>
    serving(alone(long), async ({ port, running }) => {
      const isOver = async () => {
        for (let begun = false; !begun || running() > 0; begun ||= running() > 0) await setImmediate()
      }
      const events = unchunked(await slowly(port, bodyOf({ max_tokens: 200_000 }), isOver()))
      assert.strictEqual(textOf(events), pieces.join(""))
      assert.isTrue(events.endsWith("data: [DONE]\n\n"))
    }))

  it("says on Chat, too, that it is alive while nothing happens", () => {
    const a = worker("a", { ...(said("one ", "two") as object), delayMillis: 60 } as ScriptedWorker.Reply)
    return serving({ ...alone(a), heartbeatMillis: 10 }, async ({ url }) => {
      const events = await (await fetch(`${url}/chat/completions`, { method: "POST", body: bodyOf({}) })).text()
      // An event that every client reads, which adds nothing.
      const empty = events.split("\n\n").filter((event) => /"delta":\{\},"finish_reason":null/.test(event))
      assert.isAbove(empty.length, 0)
      assert.strictEqual(textOf(events), "one two")
      assert.isTrue(events.endsWith("data: [DONE]\n\n"))
    })
  })

  it("is the same from a server other than Node's own", async () => {
    const options = () => alone(worker("a", said("one ", "two ", "three")))
    const ask = { method: "POST", headers: { host: "localhost" }, body: bodyOf({}) }
    const generic = await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const { app } = yield* Server.make(options())
          const answer = HttpEffect.toWebHandler(app)
          return yield* Effect.promise(async () =>
            (await answer(new Request("http://localhost/v1/chat/completions", ask))).text()
          )
        })
      )
    )
    const own = await serving(options(), async ({ url }) =>
      (await fetch(`${url}/chat/completions`, { ...ask, headers: {} })).text()
    )
    const plain = (events: string) => events.replaceAll(/chatcmpl-\w+|"created":\d+|"run":"[^"]+"/g, "")
    assert.strictEqual(textOf(generic), "one two three")
    assert.strictEqual(plain(own), plain(generic))
  })
})
