import { setImmediate } from "node:timers/promises"
import { assert, describe, it } from "vitest"
import type * as RequestLog from "../src/RequestLog.ts"
import { serving } from "./serving.ts"
import { alone, said, team, usage, worker } from "./teams.ts"

const refuses = { fail: { _tag: "InvalidRequest", message: "No." } } as const

/** A log, and its entries once there are so many. */
const logging = () => {
  const entries: Array<RequestLog.Entry> = []
  const first = async () => {
    while (entries.length === 0) await setImmediate()
    return entries[0]!
  }
  return { entries, first, log: (entry: RequestLog.Entry) => void entries.push(entry) }
}

const body = (stream: boolean) =>
  JSON.stringify({ model: "divisi", messages: [{ role: "user", content: "Who?" }], stream })

/** Two that answer once for 0.037 USD each, and a third. */
const twoAnd = (third: Parameters<typeof worker>[1]) => {
  const c = worker("c", third)
  return { c, options: team(worker("a", said("one"), refuses), worker("b", said("two"), refuses), c) }
}

/** Asks, and goes away while the third worker is at work. */
const leaving = async (url: string, c: ReturnType<typeof worker>, stream: boolean) => {
  const left = new AbortController()
  const asking = fetch(`${url}/chat/completions`, { method: "POST", body: body(stream), signal: left.signal })
    .then((response) => response.text())
    .catch(() => {})
  while (c.running() === 0) await setImmediate()
  left.abort()
  await asking
}

describe("the log of requests", () => {
  it("says what a run has used that gave no answer", async () => {
    const { first, log } = logging()
    await serving({ ...twoAnd(refuses).options, log }, async ({ url }) => {
      await (await fetch(`${url}/chat/completions`, { method: "POST", body: body(false) })).text()
    })
    const entry = await first()
    assert.deepInclude(entry, { ending: "invalid-request", inputTokens: 14, outputTokens: 6, isCut: false })
    assert.closeTo(entry.costUsd, 0.074, 1e-9)
  })

  it.each([true, false])("logs the status that its client received (a stream: %s)", async (stream) => {
    const { first, log } = logging()
    const refused = await serving({ ...alone(worker("a", refuses)), log }, async ({ url }) =>
      fetch(`${url}/chat/completions`, { method: "POST", body: body(stream) })
    )
    assert.deepStrictEqual([refused.status, (await first()).status], [400, 400])
  })

  it("logs the usage of a disconnected client once its run has ended", async () => {
    const { entries, first, log } = logging()
    const { c, options } = twoAnd({
      parts: [
        { type: "text", text: "three" },
        { type: "finish", reason: "stop", usage }
      ],
      delayMillis: 500
    })
    await serving({ ...options, log }, async ({ url }) => {
      await leaving(url, c, true)
      assert.deepInclude(await first(), { isCut: true, ending: "stop", calls: 3, inputTokens: 21, outputTokens: 9 })
    })
    assert.lengthOf(entries, 1)
  })

  it.each([true, false])(
    "logs the usage of a run that was stopped because no client reconnected (a stream: %s)",
    async (stream) => {
      const { first, log } = logging()
      const { c, options } = twoAnd({ hang: true })
      await serving({ ...options, log, graceMillis: 1 }, async ({ url }) => {
        await leaving(url, c, stream)
        const entry = await first()
        assert.deepInclude(entry, { isCut: true, ending: "overloaded" })
        // The two that have answered, and what the call that was stopped is held to have read.
        assert.isAbove(entry.inputTokens, 14)
        assert.isAbove(entry.costUsd, 0.074)
      })
    }
  )

  it("logs that the client of a connection for many responses disconnected", async () => {
    const { first, log } = logging()
    const { c, options } = twoAnd({ hang: true })
    await serving({ ...options, log, graceMillis: 1, heartbeatMillis: 10 }, async ({ url }) => {
      const socket = new WebSocket(`${url.replace(/^http/, "ws")}/responses`)
      await new Promise((resolve) => socket.addEventListener("open", resolve))
      socket.send(JSON.stringify({ type: "response.create", model: "divisi", input: "Who?" }))
      while (c.running() === 0) await setImmediate()
      socket.close()
      const entry = await first()
      assert.deepInclude(entry, { wire: "responses socket", isCut: true })
      assert.isAbove(entry.inputTokens, 14)
    })
  })
})
