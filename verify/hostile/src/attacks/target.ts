/** The server under attack, in a separate process. The parent reads its maximum event loop delay. */
import { monitorEventLoopDelay } from "node:perf_hooks"
import { Baselines } from "@divisi/core"
import * as Usage from "@divisi/core/Usage"
import type { Worker, WorkerPart } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { Caller, NodeServer } from "@divisi/server"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { loadAll } from "../../../../packages/core/src/OnDemand.ts"

const usage = { inputTokens: 7, outputTokens: 3 }

/** Calls the client's tool if there is one, and otherwise answers. Unlike a scripted worker, it records no requests. */
const worker: Worker = {
  id: "a",
  pricing: Usage.free,
  capabilities: { tools: true, images: true, files: true, jsonSchema: true },
  generate: ({ tools = [] }) =>
    Stream.fromArray<WorkerPart>(
      tools.length > 0
        ? [
            { type: "tool-call", id: "own", name: tools[0]!.name, arguments: '{"a":"b"}' },
            { type: "finish", reason: "tool-calls", usage }
          ]
        : [
            { type: "text", text: "here" },
            { type: "finish", reason: "stop", usage }
          ]
    )
}

const delay = monitorEventLoopDelay({ resolution: 5 })

/**
 * The largest CPU time of this thread between two turns of a 5 ms timer: a delay that other processes do not affect.
 */
let busyMillis = 0

const watch = () => {
  const used = () => {
    const { system, user } = process.threadCpuUsage()
    return (system + user) / 1e3
  }
  let last = used()
  setInterval(() => {
    const now = used()
    busyMillis = Math.max(busyMillis, now - last)
    last = now
  }, 5)
}

/** Otherwise, the first request that needs a module would be measured. */
await loadAll()

const main = Effect.gen(function* () {
  const server = yield* NodeServer.make({
    port: 0,
    pool: WorkerPool.makeUnsafe([worker]),
    policy: Baselines.single(0),
    authenticate: (headers) => Effect.succeed({ owner: Caller.tokenOf(headers) ?? "none" })
  })
  delay.enable()
  watch()
  process.on("message", () => {
    process.send?.({ delayMillis: delay.max / 1e6, busyMillis })
    delay.reset()
    busyMillis = 0
  })
  process.on("disconnect", () => process.exit())
  process.send?.({ port: server.port })
  return yield* Effect.never
})

Effect.runFork(Effect.scoped(main))
