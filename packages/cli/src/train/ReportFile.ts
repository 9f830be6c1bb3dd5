/** `divisi train report`: creates an HTML page for a training run. */
import path from "node:path"
import { WholeFile } from "@divisi/files"
import { Reports, Trainings } from "@divisi/studio"
import { RunFolder } from "@divisi/trainer"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Failure, failed, messageOf, usage } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import * as Services from "../stores/Services.ts"
import type { ReportInput } from "./flags.ts"

/** Reads a training run's folder, which is possible while the run is active. */
const read = Effect.fnUntraced(function* (folder: string) {
  const config = yield* RunFolder.readConfig(folder)
  const metrics = yield* RunFolder.readMetrics(folder)
  const recorded = new Set(yield* RunFolder.rolloutIterations(folder))
  const sampled = Reports.sampled(metrics).filter((iteration) => recorded.has(iteration))
  const rollouts = yield* Effect.forEach(sampled, (iteration) =>
    Effect.map(
      RunFolder.readRollouts(folder, iteration),
      (records) => [iteration, Trainings.groupsOf(records)] as const
    )
  )
  return { config, metrics, rollouts: new Map(rollouts) }
})

/** Writes the page and prints its path. */
export const write = Effect.fnUntraced(function* ({ folder, out }: ReportInput): Effect.fn.Return<void, Failure> {
  const { config, metrics, rollouts } = yield* Effect.mapError(Effect.provide(read(folder), Services.logger), (error) =>
    usage(error.message)
  )
  if (metrics.length === 0) {
    return yield* usage(`No iteration of the training run in ${folder} is finished yet. Try again later.`)
  }
  const file = Option.getOrElse(out, () => path.join(folder, "report.html"))
  const id = path.basename(path.resolve(folder))
  const page = yield* Effect.try({
    try: () => Reports.training({ id, config, metrics }, rollouts),
    catch: (error) => failed(messageOf(error))
  })
  yield* Effect.mapError(WholeFile.write(file, page), ({ message }) => failed(`Cannot write the report. ${message}`))
  yield* Effect.sync(() => void stdout.write(`${file}\n`))
})
