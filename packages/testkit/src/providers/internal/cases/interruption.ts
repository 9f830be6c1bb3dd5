/** Cases for interruption: a call without a reader ends immediately, and its connection is closed. */

import assert from "node:assert/strict"
import { WorkerStream } from "@divisi/core/streams"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Case } from "../../ProviderContract.ts"
import * as Script from "../../Script.ts"
import type { Exchange, WireServer } from "../../WireServer.ts"
import { assertClosesSoon, begun, hello } from "../subject.ts"

const answer = Script.answer(["one", "two", "three"])

/** Waits until the server has written its data, and returns the first exchange. */
const silent = async (server: WireServer): Promise<Exchange> => {
  const exchange = await server.exchange(0)
  await exchange.written
  return exchange
}

export const interruption: ReadonlyArray<Case> = [
  {
    id: "interruption/in-stream",
    name: "closes the connection within 100 ms of an interruption in the middle of an answer",
    run: async ({ options, serve, start, worker }) => {
      const server = await serve([{ type: "hang", answer, after: 2 }])
      const call = start(worker(server))
      const exchange = await server.exchange(0)
      await begun(call, exchange, 2, options)
      const closes = assertClosesSoon(exchange)
      await call.interrupt()
      await closes
      assert.equal((await call.outcome).finish, undefined, "An interrupted call has finished.")
      assert.equal(server.exchanges.length, 1)
    }
  },
  {
    id: "interruption/before-answer",
    name: "closes the connection within 100 ms of an interruption before any answer",
    run: async ({ serve, start, worker }) => {
      const server = await serve([{ type: "hang" }])
      const call = start(worker(server))
      const exchange = await silent(server)
      const closes = assertClosesSoon(exchange)
      await call.interrupt()
      await closes
      assert.deepEqual((await call.outcome).parts, [])
    }
  },
  {
    id: "interruption/at-once",
    name: "can be interrupted before its request is sent",
    run: async ({ serve, start, worker }) => {
      const server = await serve([{ type: "hang" }])
      const call = start(worker(server))
      await call.interrupt()
      assert.equal((await call.outcome).finish, undefined)
      assert.equal(server.open(), 0, "A request is under way.")
    }
  },
  {
    id: "interruption/enough",
    name: "closes the connection within 100 ms when its reader has read enough",
    needsStream: true,
    run: async ({ serve, worker }) => {
      const server = await serve([{ type: "hang", answer, after: 2 }])
      const first = Stream.runCollect(Stream.take(WorkerStream.generate(worker(server), hello()), 1))
      const late = () => Effect.die(new Error("The first piece of an answer has not come in 2 s."))
      const parts = await Effect.runPromise(Effect.timeoutOrElse(first, { duration: "2 seconds", orElse: late }))
      assert.deepEqual(parts, [{ type: "text", text: "one" }])
      const [exchange] = server.exchanges
      assert.ok(exchange)
      await assertClosesSoon(exchange)
    }
  },
  {
    id: "interruption/many",
    name: "closes every one of 20 connections that are interrupted at once",
    run: async ({ options, serve, start, worker }) => {
      const server = await serve([{ type: "hang", answer, after: 1 }])
      const one = worker(server)
      const calls = Array.from({ length: 20 }, () => start(one))
      await Promise.all(calls.map(async (call, index) => begun(call, await server.exchange(index), 1, options)))
      const closes = server.exchanges.map(assertClosesSoon)
      await Promise.all(calls.map((call) => call.interrupt()))
      await Promise.all(closes)
      assert.equal(server.open(), 0)
    }
  }
]
