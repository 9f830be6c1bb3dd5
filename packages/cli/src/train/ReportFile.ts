/** `divisi train report`: a run as one page. */
import path from "node:path"
import { WholeFile } from "@divisi/files"
import * as TrainingPage from "@divisi/report/TrainingPage"
import { RunFolder } from "@divisi/trainer"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import * as Services from "../stores/Services.ts"
import type { ReportInput } from "./flags.ts"

/** Reads the folder of a run, also while the run is active. */
const read = Effect.fnUntraced(function* (folder: string) {
  const config = yield* RunFolder.readConfig(folder)
  const metrics = yield* RunFolder.readMetrics(folder)
  const recorded = new Set(yield* RunFolder.rolloutIterations(folder))
  const sampled = TrainingPage.sampled(metrics).filter((iteration) => recorded.has(iteration))
  const rollouts = yield* Effect.forEach(sampled, (iteration) => RunFolder.readRollouts(folder, iteration))
  return { config, metrics, rollouts: rollouts.flat() }
})

/** Writes the page, and prints where it is. */
export const write = Effect.fnUntraced(function* ({ folder, out }: ReportInput): Effect.fn.Return<void, Failure> {
  const training = yield* Effect.mapError(Effect.provide(read(folder), Services.logger), (error) =>
    usage(error.message)
  )
  if (training.metrics.length === 0) {
    return yield* usage(`No iteration of the training run in ${folder} is finished yet. Try again later.`)
  }
  const file = Option.getOrElse(out, () => path.join(folder, "report.html"))
  yield* Effect.mapError(WholeFile.write(file, TrainingPage.render(training)), ({ message }) =>
    failed(`Cannot write the report. ${message}`)
  )
  yield* Effect.sync(() => void stdout.write(`${file}\n`))
})
