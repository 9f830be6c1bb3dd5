/** Clients that send their whole request before they read can read a response that was sent before. */
import { connect } from "node:net"
import { Budget } from "@divisi/core"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import * as Caller from "../src/Caller.ts"
import type * as NodeServer from "../src/NodeServer.ts"
import { ApiError } from "../src/wire/ApiError.ts"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

const mebi = 2 ** 20

const spent = Budget.make({ calls: 0 })

const authenticate: Caller.Authenticate = (headers) => {
  const owner = Caller.tokenOf(headers) ?? ""
  if (owner === "unknown") return Effect.fail(new ApiError({ kind: "authentication", message: "Unknown key." }))
  return Effect.succeed(owner === "poor" ? { owner, ledger: spent } : { owner })
}

interface Refused {
  readonly key: string
  readonly limits?: NodeServer.Options["limits"]
  readonly status: number
}

/** Requests that are refused before the second half of their body. */
const refused: Readonly<Record<string, Refused>> = {
  "an unknown key": { key: "unknown", status: 401 },
  "a key whose budget is spent": { key: "poor", status: 429 },
  "a body that is too large": { key: "a", limits: { bodyBytes: mebi }, status: 413 },
  "too many bytes in flight": { key: "a", limits: { callerInFlightBytes: mebi }, status: 429 }
}

/** The beginning of a long text, and its rest. */
const half = `"${"A".repeat(mebi)}`

/** The header for a body of two halves, and how a half is sent. */
const framings: ReadonlyArray<readonly [header: string, half: string, end: string]> = [
  [`content-length: ${2 * half.length}`, half, ""],
  ["transfer-encoding: chunked", `${half.length.toString(16)}\r\n${half}\r\n`, "0\r\n\r\n"]
]

const head = (path: string, key: string, header: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${key}\r\n${header}\r\n\r\n`

/** A connection. `status` waits for the next complete response. */
const opened = (port: number) => {
  const socket = connect(port, "127.0.0.1").on("error", () => {})
  let text = ""
  let [isOver, wake] = [false, () => {}]
  socket.on("data", (data) => {
    text += String(data)
    wake()
  })
  socket.on("end", () => {
    isOver = true
    wake()
  })
  const status = async (): Promise<number> => {
    for (;;) {
      const [head, status, length] = /^HTTP\/1\.1 (\d+)[\s\S]*?content-length: (\d+)[\s\S]*?\r\n\r\n/i.exec(text) ?? []
      const size = (head?.length ?? 0) + Number(length)
      if (text.length >= size) {
        text = text.slice(size)
        return Number(status)
      }
      assert.isFalse(isOver, `The connection ended after: ${text}`)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  return { socket, status }
}

describe("a response before the end of its request", () => {
  it.each(Object.entries(refused))("is sent at once, and the connection stays usable: %s", (_, request) =>
    serving({ ...alone(worker("a", said("here"))), authenticate, limits: request.limits }, async ({ port }) => {
      for (const path of ["/v1/chat/completions", "/v1/responses", "/v1/messages"]) {
        for (const [header, half, end] of framings) {
          const { socket, status } = opened(port)
          socket.write(head(path, request.key, header) + half)
          assert.strictEqual(await status(), request.status, `${path} ${header}`)
          socket.write(`${half}${end}GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n`)
          assert.strictEqual(await status(), 200, `${path} ${header}`)
          socket.destroy()
        }
      }
    })
  )

  it("does not delay the end of the server", async () => {
    const { closed } = await serving({ ...alone(worker("a", said("here"))), authenticate }, async ({ port }) => {
      const { socket, status } = opened(port)
      socket.write(head("/v1/messages", "unknown", "content-length: 9000"))
      assert.strictEqual(await status(), 401)
      return { closed: new Promise((resolve) => socket.on("close", resolve)) }
    })
    await closed
  })

  it("closes the connection if the rest is too long", () =>
    serving({ ...alone(worker("a", said("here"))), authenticate }, async ({ port }) => {
      const { socket, status } = opened(port)
      const closed = new Promise((resolve) => socket.on("close", resolve))
      socket.write(head("/v1/messages", "unknown", "content-length: 9000000000"))
      assert.strictEqual(await status(), 401)
      const more = (error?: Error | null) => error == null && socket.write(half, more)
      more()
      await closed
    }))
})
