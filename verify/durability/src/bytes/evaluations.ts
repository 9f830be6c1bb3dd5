/** An evaluation's folder: its journal, answers and report. */

import fs from "node:fs"
import path from "node:path"
import { Baselines } from "@divisi/core"
import { text } from "@divisi/core/Message"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Task from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { Evaluation, ReportFile } from "@divisi/evals"
import { IntegerGrader } from "@divisi/graders/math"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { type Outcome, type Subject, same } from "./Subject.ts"

const suites = [
  Evaluation.madeSuite({
    id: "doubles",
    title: "Doubles",
    prompt: "doubles/1",
    licence: "MIT",
    tasks: Array.from({ length: 8 }, (_, n) =>
      Task.make({ id: `task-${n}`, question: `Twice ${n}?`, reference: `${2 * n}` })
    ),
    grader: IntegerGrader.integer,
    seed: 0
  })
]

const pool = WorkerPool.makeUnsafe([
  ScriptedWorker.make({
    id: "a",
    pricing: { inputPerMillion: 1_000, outputPerMillion: 10_000 },
    replies: ({ messages }) => `It is ${2 * Number(/\d+/.exec(text(messages.at(-1)))?.[0])}.`
  })
])

const evaluate = (folder: string) =>
  Evaluation.run({ suites, policies: [{ policy: Baselines.single(0) }], pool, folder }).pipe(
    Effect.provide(Logger.layer([]))
  )

/** The parts of samples that are not measured times. */
const essence = (samples: Evaluation.Evaluated["samples"]) =>
  samples.map(({ answer, costUsd, inputTokens, outputTokens, score, task }) => [
    task,
    answer,
    score,
    costUsd,
    inputTokens,
    outputTokens
  ])

const expected = Array.from({ length: 8 }, (_, n) => [`task-${n}`, `It is ${2 * n}.`, 1])

const isRight = (samples: Evaluation.Evaluated["samples"]) =>
  same(
    "samples",
    essence(samples).map((one) => one.slice(0, 3)),
    expected
  )

const make = async (folder: string) => {
  await Effect.runPromise(evaluate(folder))
}

/** Continues the evaluation. Errors other than the documented ones are thrown. */
const goOn = async (folder: string): Promise<Outcome> => {
  const ended = await Effect.runPromise(Effect.result(evaluate(folder)))
  if (ended._tag === "Failure") return "refused"
  isRight(ended.success.samples)
  return "right"
}

export const journal: Subject = { name: "journal of an evaluation", make, files: [ReportFile.names.journal], use: goOn }

export const answers: Subject = {
  name: "answers of an evaluation",
  make,
  files: [ReportFile.names.answers],
  use: (folder) => {
    // Without the journal, all answers have to come from the file or be requested again.
    fs.rmSync(path.join(folder, ReportFile.names.journal))
    return goOn(folder)
  }
}

export const report: Subject = {
  name: "report of an evaluation",
  make,
  files: [ReportFile.names.results, ReportFile.names.samples],
  use: async (folder) => {
    const reading = Effect.all({ report: ReportFile.read(folder), samples: ReportFile.readSamples(folder) })
    const read = await Effect.runPromise(Effect.result(reading))
    if (read._tag === "Failure") return "refused"
    isRight(read.success.samples)
    const { cells, extent } = read.success.report
    same("report", [extent.status, extent.samples, cells.map(({ score }) => score.mean)], ["complete", 8, [1]])
    return "right"
  }
}
