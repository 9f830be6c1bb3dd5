/** `divisi eval export`: recorded runs as training data. */
import { closeSync, existsSync, openSync, renameSync, rmSync, writeSync } from "node:fs"
import path from "node:path"
import type { Grader } from "@divisi/core/Grader"
import type { Transcript } from "@divisi/core/Transcript"
import { Replay } from "@divisi/evals"
import * as Report from "@divisi/evals/Report"
import * as ReportFile from "@divisi/evals/ReportFile"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as TranscriptFile from "../conductor/TranscriptFile.ts"
import { type Failure, failed, messageOf, usage } from "../invocation/Failure.ts"
import * as Format from "../view/Format.ts"
import type { ExportInput } from "./flags.ts"
import * as Suites from "./Suites.ts"

const say = (text: string): void => void process.stderr.write(`${text}\n`)

/** The runs of a folder, and what is known of each. */
interface Recorded {
  readonly folder: string
  /** Of the transcript; `undefined` when nothing is known of its run. */
  readonly graderOf: (transcript: Transcript) => Grader | undefined
  readonly options: Omit<Replay.Options, "grader">
}

/** The verdict that a run was given already: whatever is within it is worth as much. */
const known = (isCorrect: boolean): Grader => ({
  name: "recorded",
  grade: () => Effect.succeed({ score: isCorrect ? 1 : 0, correct: isCorrect })
})

/** An evaluation has graded its runs; those that the infrastructure lost, and those of other times, are left out. */
const ofEvaluation = (folder: string): Effect.Effect<Recorded, Failure> =>
  Effect.gen(function* () {
    const { report, samples } = yield* Effect.mapError(
      Effect.all({ report: ReportFile.read(folder), samples: ReportFile.readSamples(folder) }),
      (error) => usage(error.message)
    )
    const confidential = report.benchmarks.filter(({ isConfidential }) => isConfidential)
    if (confidential.length > 0) {
      say(
        `divisi: it quotes ${confidential.map(({ title }) => title).join(", ")}, whose questions are not to be published.`
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
    ? Effect.fail(usage(`${folder} is no evaluation, so nobody has graded its runs: name a grader with --grader.`))
    : Effect.map(Suites.graderNamed(name), (grader) => ({ folder, graderOf: () => grader, options: {} }))

/** The records of one run, as lines. */
const linesOf = (
  to: ExportInput["to"],
  transcript: Transcript,
  options: Replay.Options
): Effect.Effect<string, Failure> =>
  Effect.mapBoth(to === "decisions" ? Replay.decisions([transcript], options) : Replay.answers([transcript], options), {
    onFailure: (error) => failed(error.message),
    onSuccess: Replay.encode
  })

/** Standard output, or a file that is there whole or not at all. */
const output = (file: string | undefined) =>
  Effect.acquireRelease(
    Effect.try({
      try: () => {
        if (file === undefined)
          return { write: (text: string) => void process.stdout.write(text), finish: () => {}, drop: () => {} }
        const temporary = `${file}.${process.pid}.tmp`
        const descriptor = openSync(temporary, "w")
        return {
          write: (text: string) => void writeSync(descriptor, text),
          finish: () => renameSync(temporary, file),
          drop: () => {
            closeSync(descriptor)
            rmSync(temporary, { force: true })
          }
        }
      },
      catch: (error) => usage(`Cannot write ${file}: ${messageOf(error)}.`)
    }),
    ({ drop }) => Effect.sync(drop)
  )

/** Writes the records of all runs, one run after the other. */
export const write = (input: ExportInput): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { folder, to } = input
      const isEvaluation = existsSync(path.join(folder, ReportFile.names.results))
      const recorded = yield* isEvaluation
        ? ofEvaluation(folder)
        : ofTranscripts(folder, Option.getOrUndefined(input.grader))
      const files = yield* TranscriptFile.within(recorded.folder)
      const out = yield* output(Option.getOrUndefined(input.out))
      let [runs, lines] = [0, 0]
      for (const file of files) {
        const transcript = yield* TranscriptFile.read(file)
        const grader = recorded.graderOf(transcript)
        if (grader === undefined) continue
        const text = yield* linesOf(to, transcript, { ...recorded.options, grader })
        out.write(text)
        runs += 1
        lines += text.split("\n").length - 1
      }
      out.finish()
      const left = files.length - runs
      say(
        `${Format.count(lines, to === "decisions" ? "decision" : "answer")} of ${Format.count(runs, "run")}${left === 0 ? "" : `; ${left} left out that have no verdict`}`
      )
    })
  )
