/**
 * Tokens per second of a local model while other programs run: with the default number of threads, with one, and with
 * as many as there are cores, in turns.
 *
 *     node --conditions=@divisi/source bench/threads.ts [--busy 1] [--tokens 32] [--rounds 3] [--width 640]
 *
 * `--busy` is the number of processes that keep a core busy; 0 for a quiet machine.
 */
import { spawn } from "node:child_process"
import os from "node:os"
import { WorkerStream } from "@divisi/core/streams"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as LlamaCppModel from "../src/LlamaCppModel.ts"
import { median, option, print, tinyModel } from "./tinyModel.ts"

const [busy, tokens, rounds, width] = [
  option("busy", 1),
  option("tokens", 32),
  option("rounds", 3),
  option("width", 640)
]

const speedOf = (source: string, threads: number | undefined) =>
  Effect.gen(function* () {
    const model = yield* LlamaCppModel.load({ source, gpu: "none", contextTokens: 512, sequences: 1, threads })
    const worker = LlamaCppModel.worker(model, { grammar: false })
    const ask = (seed: number) =>
      Stream.runDrain(
        WorkerStream.generate(worker, {
          messages: [{ role: "user", content: "Count." }],
          maxOutputTokens: tokens,
          seed
        })
      )
    yield* ask(0)
    const [since, before] = [performance.now(), LlamaCppModel.meter(model).sampledTokens]
    yield* ask(1)
    const sampled = LlamaCppModel.meter(model).sampledTokens - before
    return (sampled * 1000) / (performance.now() - since)
  }).pipe(Effect.scoped)

const source = await tinyModel({ hiddenSize: width, layers: 8, heads: 8, feedForwardSize: 4 * width })
const others = Array.from({ length: busy }, () => spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }))
process.once("exit", () => {
  for (const other of others) other.kill("SIGKILL")
})
const settings = { default: undefined, one: 1, cores: os.availableParallelism() }
const speeds: Record<string, Array<number>> = { default: [], one: [], cores: [] }
for (let round = 0; round < rounds; round++) {
  for (const [name, threads] of Object.entries(settings)) {
    speeds[name]!.push(await Effect.runPromise(speedOf(source, threads)))
  }
}
const tokensPerSecond = Object.fromEntries(
  Object.entries(speeds).map(([name, some]) => [name, Number(median(some).toFixed(2))])
)
const ratio = tokensPerSecond.default! / tokensPerSecond.one!
print({ cores: settings.cores, busy, tokensPerSecond, defaultToOneThread: Number(ratio.toFixed(2)) })
process.exit()
