/**
 * Reports: a training run as one page that says what was learned, by whom the work was done, and what was written.
 *
 * The page is a single file that asks for nothing else, in print, on a phone, by day and by night. Under each picture
 * stand its numbers. What models wrote is shown, never run: the page allows no scripts at all.
 */
import { readFile } from "node:fs/promises"
import path from "node:path"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Metrics } from "./Metrics.ts"
import type { RolloutRecord } from "./RolloutRecord.ts"
import * as RunLayout from "./RunLayout.ts"
import * as CurveSections from "./report/CurveSections.ts"
import * as Curves from "./report/Curves.ts"
import { html } from "./report/Html.ts"
import * as JsonLines from "./report/JsonLines.ts"
import * as Overview from "./report/Overview.ts"
import * as SampleSection from "./report/SampleSection.ts"
import * as Samples from "./report/Samples.ts"
import { style } from "./report/Style.ts"
import * as Windows from "./report/Windows.ts"
import { workers } from "./report/WorkerSection.ts"
import { type TrainingConfig, version } from "./TrainingConfig.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** What a report shows of a run. Its size does not grow with the run. */
export interface RunSummary {
  readonly config: TrainingConfig
  readonly curves: Curves.Curves
  readonly samples: SampleSection.Samples
}

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** There is no run in a folder, or none that this version reads. */
export class ReportError extends Data.TaggedError("ReportError")<{
  readonly folder: string
  readonly detail: string
}> {
  override get message(): string {
    return `There is nothing to report of ${this.folder}: ${this.detail}`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const readConfig = async (folder: string): Promise<TrainingConfig> => {
  const fail = (detail: string) => new ReportError({ folder, detail })
  let config: Partial<TrainingConfig> | null
  try {
    config = JSON.parse(await readFile(path.join(folder, RunLayout.config), "utf8"))
  } catch (error) {
    if (JsonLines.isMissing(error)) throw fail(`it has no ${RunLayout.config}, so it is not the folder of a run.`)
    throw error instanceof SyntaxError ? fail(`its ${RunLayout.config} is not valid JSON.`) : error
  }
  if (config?.version === version) return config as TrainingConfig
  throw fail(`it was written in version ${config?.version} of the format, and this package reads version ${version}.`)
}

const readMetrics = async (folder: string): Promise<Curves.Curves> => {
  const recorder = Curves.recorder()
  try {
    for await (const line of JsonLines.read(path.join(folder, RunLayout.metrics))) recorder.add(line as Metrics)
  } catch (error) {
    if (!JsonLines.isMissing(error)) throw error
  }
  const curves = recorder.curves()
  if (curves.iterations > 0) return curves
  throw new ReportError({ folder, detail: "no iteration has ended yet. Ask again when one has." })
}

/** The rollouts of at most this many iterations are read for samples of a window: enough for every kind of task. */
const mostFiles = 8

const readSamples = async (folder: string, { from, to }: Windows.Window) => {
  const recorder = Samples.recorder()
  const step = Math.max(1, (to - from) / (mostFiles - 1))
  for (let at = from; at <= to; at += step) {
    try {
      const file = path.join(folder, RunLayout.rolloutsOf(Math.round(at)))
      for await (const line of JsonLines.read(file)) recorder.add(line as RolloutRecord)
    } catch (error) {
      if (!JsonLines.isMissing(error)) throw error
    }
  }
  return recorder.samples()
}

/**
 * Reads the folder of a run, also while it goes on, and whatever a crash left of its last line.
 *
 * **Details**
 *
 * Files are read line by line and only the rollouts of the beginning and the end are looked at, so that a run of any
 * length takes the same memory.
 */
export const read = (folder: string): Effect.Effect<RunSummary, ReportError> =>
  Effect.tryPromise({
    try: async () => {
      const config = await readConfig(folder)
      const curves = await readMetrics(folder)
      const windows = Windows.make(curves)
      const early = windows === undefined ? new Map() : await readSamples(folder, windows.early)
      const late = windows === undefined ? new Map() : await readSamples(folder, windows.late)
      return { config, curves, samples: { early, late } }
    },
    catch: (error) =>
      error instanceof ReportError
        ? error
        : new ReportError({ folder, detail: error instanceof Error ? `${error.message}.` : "it cannot be read." })
  })

// -------------------------------------------------------------------------------------------------------------------
// Page
// -------------------------------------------------------------------------------------------------------------------

/** Nothing is loaded, sent or run: not even by what a model wrote. */
const policy = "default-src 'none'; style-src 'unsafe-inline'"

/**
 * The page, as the text of an HTML file.
 *
 * **Example**
 *
 * ```ts
 * import * as Report from "@divisi/trainer/Report"
 * import * as Effect from "effect/Effect"
 *
 * const page = Effect.map(Report.read("runs/gym"), Report.render)
 * ```
 */
export const render = ({ config, curves, samples }: RunSummary): string => {
  const compared = Windows.make(curves)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${config.name}: training report</title>
<style>${style}</style>
</head>
<body>
<header>${Overview.title(config, curves)}</header>
<main>
${Overview.tiles(curves, compared)}
${CurveSections.learning(curves)}
${compared !== undefined && workers(curves, compared)}
${SampleSection.samples(samples)}
${CurveSections.optimiser(curves)}
${Overview.settings(config)}
</main>
</body>
</html>
`.markup
}
