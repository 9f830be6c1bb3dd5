/** `divisi eval export`: exports recorded runs as training data, or as inspect_ai logs. */
import { existsSync } from "node:fs"
import path from "node:path"
import type { Grader, Transcript } from "@divisi/core"
import { Replay, ReportFile } from "@divisi/evals"
import * as Report from "@divisi/evals/Report"
import { WholeFile } from "@divisi/files"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Failure, failed, usage } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import * as TranscriptFile from "../stores/TranscriptFile.ts"
import * as Format from "../view/Format.ts"
import type { ExportInput } from "./flags.ts"
import * as Suites from "./Suites.ts"

const say = (text: string): void => void process.stderr.write(`${text}\n`)

/** The recorded runs in a folder, with their verdicts. */
interface Recorded {
  readonly folder: string
  /** Returns the grader for a transcript, or `undefined` if the run has no verdict. */
  readonly graderOf: (transcript: Transcript.Transcript) => Grader.Grader | undefined
  readonly options: Omit<Replay.Options, "grader">
}

/** Creates a grader that returns the recorded verdict. */
const known = (isCorrect: boolean): Grader.Grader => ({
  name: "recorded",
  grade: () => Effect.succeed({ score: isCorrect ? 1 : 0, correct: isCorrect })
})

/** Loads the graded runs of an evaluation. Skips runs that were lost to outages or belong to other evaluations. */
const ofEvaluation = (folder: string): Effect.Effect<Recorded, Failure> =>
  Effect.gen(function* () {
    const { report, samples } = yield* Effect.mapError(
      Effect.all({ report: ReportFile.read(folder), samples: ReportFile.readSamples(folder) }),
      (error) => usage(error.message)
    )
    const confidential = report.benchmarks.filter(({ isConfidential }) => isConfidential)
    if (confidential.length > 0) {
      say(
        `divisi: the output contains questions of ${confidential.map(({ title }) => title).join(", ")}, which must not be published.`
      )
    }
    const verdicts = new Map(samples.map((sample) => [Report.runId(sample), sample.correct]))
    const { maxSteps, settings } = report.config
    return {
      folder: path.join(folder, "transcripts"),
      graderOf: ({ runId }) => {
        const isCorrect = verdicts.get(runId)
        return isCorrect === undefined ? undefined : known(isCorrect)
      },
      options: { maxSteps, self: settings?.self !== undefined }
    }
  })

const ofTranscripts = (folder: string, name: string | undefined): Effect.Effect<Recorded, Failure> =>
  name === undefined
    ? Effect.fail(usage(`${folder} is not an evaluation, so its runs are not graded. Choose a grader with --grader.`))
    : Effect.map(Suites.graderNamed(name), (grader) => ({ folder, graderOf: () => grader, options: {} }))

/** Converts a run to JSON Lines records. */
const linesOf = (
  to: ExportInput["to"],
  transcript: Transcript.Transcript,
  options: Replay.Options
): Effect.Effect<string, Failure> =>
  Effect.mapBoth(to === "decisions" ? Replay.decisions([transcript], options) : Replay.answers([transcript], options), {
    onFailure: (error) => failed(error.message),
    onSuccess: Replay.encode
  })

/** Number of graded runs and exported lines for one folder. */
interface Tally {
  runs: number
  lines: number
}

const recordsOf = (
  files: ReadonlyArray<string>,
  { graderOf, options }: Recorded,
  to: ExportInput["to"],
  tally: Tally
) =>
  Stream.mapEffect(
    Stream.fromIterable(files),
    Effect.fnUntraced(function* (file): Effect.fn.Return<string, Failure> {
      const transcript = yield* TranscriptFile.read(file)
      const grader = graderOf(transcript)
      if (grader === undefined) return ""
      const text = yield* linesOf(to, transcript, { ...options, grader })
      tally.runs += 1
      tally.lines += text.split("\n").length - 1
      return text
    })
  )

/** Writes to standard output, or atomically to a file. */
const writeAll = (texts: Stream.Stream<string, Failure>, file: string | undefined): Effect.Effect<void, Failure> =>
  file === undefined
    ? Stream.runForEach(texts, (text) => Effect.sync(() => void stdout.write(text)))
    : Effect.mapError(
        WholeFile.writeWith(file, async (sink) => {
          for await (const text of Stream.toAsyncIterable(texts)) await sink.write(text)
        }),
        ({ cause, message }) => (cause instanceof Failure ? cause : usage(message))
      )

/** Exports the records of all runs, one run at a time. */
export const write = Effect.fnUntraced(function* (input: ExportInput): Effect.fn.Return<void, Failure> {
  const { folder, to } = input
  if (to === "inspect") {
    const out = Option.getOrElse(input.out, () => path.join(folder, "inspect"))
    const InspectExport = yield* Effect.promise(() => import("./InspectExport.ts"))
    return yield* InspectExport.write(folder, out, { places: Option.getOrUndefined(input.benchmark) })
  }
  const isEvaluation = existsSync(path.join(folder, ReportFile.names.results))
  const recorded = yield* isEvaluation
    ? ofEvaluation(folder)
    : ofTranscripts(folder, Option.getOrUndefined(input.grader))
  const files = yield* TranscriptFile.within(recorded.folder)
  const tally: Tally = { runs: 0, lines: 0 }
  yield* writeAll(recordsOf(files, recorded, to, tally), Option.getOrUndefined(input.out))
  const left = files.length - tally.runs
  say(
    `${Format.count(tally.lines, to === "decisions" ? "decision" : "answer")} of ${Format.count(tally.runs, "run")}${left === 0 ? "" : `; ${left} without a verdict skipped`}`
  )
})
