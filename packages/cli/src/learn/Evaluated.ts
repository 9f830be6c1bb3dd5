/** Reads the samples of an evaluation as graded questions for routers. */
import { existsSync } from "node:fs"
import path from "node:path"
import { Outcome } from "@divisi/core"
import { type Report, ReportFile } from "@divisi/evals"
import { Outcomes } from "@divisi/policy-router"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { usage } from "../invocation/Failure.ts"

const files: ReadonlyArray<string> = [ReportFile.names.results, ReportFile.names.samples]

/** Returns the folder of an evaluation, given the folder or a file in it. Otherwise, returns `undefined`. */
export const folderOf = (place: string): string | undefined => {
  const folder = files.includes(path.basename(place)) ? path.dirname(place) : place
  return existsSync(path.join(folder, ReportFile.names.samples)) ? folder : undefined
}

/** Returns the worker of a sample with a single step, or else the team of its policy. */
const creditedTo = ({ policy, steps }: Report.Sample): string =>
  steps.length === 1 ? steps[0]!.worker : `${Outcome.teamPrefix}${policy}`

/**
 * Reads the graded samples of an evaluation. Samples that were not measured or have no steps are left out, and so are
 * those of confidential benchmarks, whose questions are not in the folder.
 */
export const read = Effect.fnUntraced(function* (folder: string) {
  const found = yield* Effect.all([ReportFile.readSamples(folder), ReportFile.readQuestions(folder)]).pipe(
    Effect.mapError(({ message }) => usage(message))
  )
  const [samples, questions] = found
  const nameOf = (of: { readonly benchmark: string; readonly task: string }) => JSON.stringify([of.benchmark, of.task])
  const texts = new Map(questions.map((one) => [nameOf(one), one.question]))
  return samples.flatMap((sample) => {
    const question = texts.get(nameOf(sample))
    if (question === undefined || sample.score === undefined || sample.steps.length === 0) return []
    const worker = creditedTo(sample)
    const costUsd = sample.unpricedCalls === 0 ? { [worker]: sample.costUsd } : {}
    const row = { question, kind: sample.stratum ?? null, scores: { [worker]: sample.score }, costUsd }
    const parsed = Outcomes.parse(row)
    return Result.isSuccess(parsed) ? [parsed.success] : []
  })
})
