/** Our own server in the bench: one worker over the lean wire, and a Conductor with a plan of one step. Prints its port. */
import { Baselines } from "@divisi/core"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { openaiCompatible } from "@divisi/providers-openai"
import * as Effect from "effect/Effect"
import * as NodeServer from "../src/NodeServer.ts"

const upstream = openaiCompatible({
  id: "up",
  baseURL: `http://127.0.0.1:${process.argv[2]}/v1`,
  model: "stand-in",
  pricing: { inputPerMillion: 1, outputPerMillion: 2 }
})

const serving = Effect.gen(function* () {
  const pool = WorkerPool.makeUnsafe([upstream])
  const { port } = yield* NodeServer.make({ pool, policy: Baselines.single("up"), port: 0 })
  console.log(port)
  return yield* Effect.never
})

process.on("message", (text) => {
  if (text !== "heap") return
  globalThis.gc?.()
  process.send?.(process.memoryUsage().heapUsed)
})
process.on("disconnect", () => process.exit())
await Effect.runPromise(Effect.scoped(serving))
