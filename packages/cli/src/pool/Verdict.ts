/** `divisi pool verdict`: evaluates the trained classifier on held-out questions, using recorded answers. */
import { rmSync } from "node:fs"
import path from "node:path"
import { ReportFile } from "@divisi/evals"
import type { Report } from "@divisi/evals/Report"
import { WholeFile } from "@divisi/files"
import { EvaluationTables } from "@divisi/report"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Evaluate from "../eval/Evaluate.ts"
import * as ReportText from "../eval/ReportText.ts"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import { quoted } from "../invocation/Hint.ts"
import { stdout } from "../invocation/Output.ts"
import { clean } from "../view/Line.ts"
import { evaluationFlags } from "./evaluationFlags.ts"
import type { VerdictInput } from "./flags.ts"
import * as HeldOut from "./HeldOut.ts"
import * as Train from "./Train.ts"

/** Returns the prices in effect during the recording. */
const pricesOf = ({ pool }: Report) =>
  Object.fromEntries(pool.flatMap(({ id, pricing }) => (pricing === undefined ? [] : [[id, pricing] as const])))

/** Returns the verdict as a sentence. A classifier that always selects the same worker is equivalent to that worker. */
const sentenceOf = (report: Report, conductor: string): string | undefined => {
  const [only, ...others] = report.cells.find(({ policy }) => policy === conductor)?.workers ?? []
  if (only !== undefined && others.length === 0) {
    return `The classifier always chooses ${only.name}. Use single:${only.name}, or record more questions and train again.`
  }
  return EvaluationTables.verdicts(report).find((_, at) => report.equalBudget![at]!.policy === conductor)
}

/**
 * Removes the results of an earlier verdict, which may be for a different classifier with the same name. Recreating them
 * costs nothing.
 */
const withoutEarlier = (out: string): Effect.Effect<void> =>
  Effect.sync(() => {
    for (const name of Object.values(ReportFile.names)) rmSync(path.join(out, name), { force: true })
  })

/** Replays the held-out questions, writes the report and prints it. Makes no calls. */
export const verdict = (input: VerdictInput): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const { folder } = input
    const recording = yield* Train.read(folder)
    const { record, report: recorded } = recording
    if (!(yield* Train.isTrained(folder)))
      return yield* usage(`${folder} contains no trained classifier. Run divisi pool train ${quoted(folder)}.`)
    const conductor = `head:${Train.fileIn(folder)}`
    const { config, pool } = recorded
    const ids = path.join(folder, "held-out.txt")
    for (const notice of Train.notices(recording)) Train.say(notice)
    const heldOut = Train.recordedIn(recording)
      .filter(HeldOut.isHeldOut)
      .map(({ id }) => id)
    if (heldOut.length === 0)
      return yield* usage(`${folder} contains no held-out questions. Continue with divisi pool record.`)
    yield* Effect.mapError(WholeFile.write(ids, `${heldOut.join("\n")}\n`), ({ message }) => failed(message))
    const out = path.join(folder, "verdict")
    yield* withoutEarlier(out)
    const evaluation = evaluationFlags({
      benchmark: record.requested ?? record.benchmark,
      policy: Option.some([conductor, ...config.policies.map(({ name }) => name)].join(",")),
      out,
      offline: Option.some(folder),
      pool: Option.orElse(input.pool, () => Option.some(pool.map(({ id }) => id).join(","))),
      config: input.config,
      price: Option.some(pricesOf(recorded)),
      grader: Option.fromUndefinedOr(record.requestedGrader),
      sandbox: input.sandbox,
      ids: Option.some(ids),
      epochs: config.epochs,
      seed: Option.some(config.seed),
      maxOutputTokens: Option.fromUndefinedOr(config.maxOutputTokens),
      temperature: Option.fromUndefinedOr(config.temperature),
      json: input.json
    })
    const measured = yield* Evaluate.measure(evaluation)
    const { report } = measured
    const sentence = clean(sentenceOf(report, conductor) ?? "No worker was recorded alone, so there is no verdict.")
    const text = ReportText.text(report, stdout.columns, "; run divisi pool record to measure them")
    stdout.write(
      input.json
        ? `${JSON.stringify({ verdict: sentence, report })}\n`
        : text.includes(sentence)
          ? `${text}\n`
          : `${text}\n\n${sentence}\n`
    )
    yield* Evaluate.ending(evaluation, measured)
  }).pipe(Effect.scoped)
