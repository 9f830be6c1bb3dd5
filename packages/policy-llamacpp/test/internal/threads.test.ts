import os from "node:os"
import { WorkerStream } from "@divisi/core/streams"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { assert, describe, it } from "vitest"
import * as Threads from "../../src/internal/threads.ts"
import * as LlamaCppModel from "../../src/LlamaCppModel.ts"
import { tiny } from "../model.ts"

const at = (seconds: number, busyCores: number, ownCores: number): Threads.Times => ({
  at: seconds * 1000,
  busy: busyCores * seconds * 1000,
  own: ownCores * seconds * 1000
})

describe("threads", () => {
  it("leave one core to the rest of the machine by default", () => {
    assert.deepStrictEqual([1, 2, 4, 8].map(Threads.byDefault), [1, 1, 3, 7])
  })

  it("are as many as the cores that other processes leave free, at least one", () => {
    const fitting = (others: number, own: number) => Threads.fitting(7, 8, at(0, 0, 0), at(1, others + own, own))
    assert.strictEqual(fitting(0, 7), 7)
    assert.strictEqual(fitting(0.2, 7), 7)
    assert.strictEqual(fitting(1, 6), 7)
    assert.strictEqual(fitting(3, 4.5), 5)
    assert.strictEqual(fitting(8, 0), 1)
    assert.strictEqual(fitting(20, 0), 1)
  })

  it("follow the machine during a run, and recover when others have ended", () => {
    let now = at(0, 0, 0)
    const applied: Array<number> = []
    const fit = Threads.fit(7, (threads) => applied.push(threads), { cores: 8, times: () => now })
    const round = (seconds: number, others: number) => {
      now = { at: now.at + seconds * 1000, busy: now.busy + others * seconds * 1000, own: now.own }
      fit.begin()
      fit.end()
    }
    round(1, 0)
    round(1, 6)
    round(0.05, 0)
    round(1, 6)
    round(1, 0)
    assert.deepStrictEqual(applied, [2, 7])
  })
})

it.skipIf(os.availableParallelism() < 2)("of a context change from its next batch on", async () => {
  const source = await tiny()
  const used = Effect.gen(function* () {
    const model = yield* LlamaCppModel.load({ source, gpu: "none", contextTokens: 256, sequences: 1, threads: 2 })
    const { context } = model.runtime.scheduler
    const worker = LlamaCppModel.worker(model, { maxOutputTokens: 2 })
    const messages = [{ role: "user" as const, content: "Why?" }]
    const ask = Effect.map(Stream.runDrain(WorkerStream.generate(worker, { messages })), () => context.currentThreads)
    const before = yield* ask
    Threads.set(context, 1)
    return [before, yield* ask]
  })
  assert.deepStrictEqual(await Effect.runPromise(Effect.scoped(used)), [2, 1])
})
