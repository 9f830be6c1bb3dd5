/** The folder of a stopped training run. */
import fs from "node:fs"
import path from "node:path"
import { Grader } from "@divisi/core"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { ExampleSource, RunFolder, ToyEngine, Trainer, TrainingConfig } from "@divisi/trainer"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { type Outcome, type Subject, same } from "./Subject.ts"

const parts = (): Trainer.Parts => ({
  engine: ToyEngine.make(),
  pool: WorkerPool.makeUnsafe([ScriptedWorker.echo("a")]),
  grader: Grader.exact,
  examples: {
    examples: ExampleSource.make("greetings", (_, index) => ({
      messages: [{ role: "user", content: `Hello ${index % 4}` }],
      completions: [{ text: "Good day" }, { text: "Hi" }]
    }))
  }
})

const input = { phases: [TrainingConfig.warmStart({ steps: 12, batch: 2 })], checkpoints: { every: 3, keep: 2 } }

/** The output of a training that does not depend on clocks. */
const left = async (folder: string) => {
  const { state, metrics } = await Effect.runPromise(
    Effect.all({ state: RunFolder.readState(folder, 12), metrics: RunFolder.readMetrics(folder) })
  )
  return { state, metrics: metrics.map((one) => ({ ...one, at: 0, seconds: 0 })) }
}

let expected: Awaited<ReturnType<typeof left>> | undefined

const make = async (folder: string) => {
  const whole = path.join(folder, "whole")
  await Effect.runPromise(Trainer.start(parts(), input, { folder: whole }))
  expected = await left(whole)
  fs.rmSync(whole, { recursive: true })
  const controller = new AbortController()
  const listener: Trainer.Options["listener"] = (event) => {
    if (event.type === "checkpoint-saved" && event.iteration === 9) controller.abort()
  }
  await Effect.runPromise(Trainer.start(parts(), input, { folder, listener, signal: controller.signal }))
}

const use = async (folder: string): Promise<Outcome> => {
  const resumed = Trainer.resume(parts(), { folder }).pipe(Effect.provide(Logger.layer([])))
  if ((await Effect.runPromise(Effect.result(resumed)))._tag === "Failure") return "refused"
  const { metrics, state } = await left(folder)
  same("state", state, expected!.state)
  const kept = new Set(metrics.map(({ iteration }) => iteration))
  same(
    "metrics",
    metrics,
    expected!.metrics.filter(({ iteration }) => kept.has(iteration))
  )
  same(
    "iterations after the damage",
    [9, 10, 11].every((one) => kept.has(one)),
    true
  )
  return "right"
}

export const training: Subject = {
  name: "training",
  make,
  files: [
    "checkpoints/000009/engine.bin",
    "checkpoints/000009/trainer.json",
    "checkpoints/000006/engine.bin",
    "metrics.jsonl",
    "config.json"
  ],
  use
}
