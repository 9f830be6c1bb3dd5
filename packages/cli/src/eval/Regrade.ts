/** `divisi eval regrade`: grades the answers of an evaluation again. */

import { Regrade as Regrading, ReportFile } from "@divisi/evals"
import type { BenchmarkRecord, Sample } from "@divisi/evals/Report"
import type { Sandbox } from "@divisi/graders"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import * as Format from "../view/Format.ts"
import type { RegradeInput } from "./flags.ts"
import * as Outputs from "./Outputs.ts"
import * as RecordedSuite from "./RecordedSuite.ts"
import * as ReportText from "./ReportText.ts"
import * as Suites from "./Suites.ts"

const suiteOf = (input: RegradeInput, sandbox: Sandbox.Sandbox, record: BenchmarkRecord) =>
  RecordedSuite.load(record, {
    places: Option.getOrUndefined(input.benchmark),
    revision: Option.getOrUndefined(input.revision),
    grader: Option.getOrUndefined(input.grader),
    sandbox
  })

const nameOf = ({ correct, missing, rung }: Sample): string =>
  missing === undefined ? `${correct === true ? "correct" : "wrong"} (by ${rung})` : `missing (${missing.cause})`

/** Whether the verdict changed, and not just the method that led to it. */
const isOtherVerdict = ({ after, before }: Regrading.Change): boolean =>
  after.correct !== before.correct ||
  after.score !== before.score ||
  (after.missing === undefined) !== (before.missing === undefined)

const textOf = (change: Regrading.Change): string => {
  const { after, before } = change
  const now = isOtherVerdict(change) ? "now" : "still"
  return `${before.task}, ${before.policy}, answer ${before.epoch + 1}: ${nameOf(before)}, ${now} ${nameOf(after)}`
}

const jsonOf = ({ after, before }: Regrading.Change): string => {
  const { benchmark, epoch, policy, task } = after
  const verdict = ({ correct, extracted, rung, score }: Sample) => ({ correct, score, rung, extracted })
  return JSON.stringify({ benchmark, task, epoch, policy, before: verdict(before), after: verdict(after) })
}

/** Regrades the answers, updates the report, and prints the changes. */
export const regrade = (input: RegradeInput): Effect.Effect<void, Failure> => Effect.scoped(regradeAll(input))

const regradeAll = Effect.fnUntraced(function* (input: RegradeInput): Effect.fn.Return<void, Failure, Scope.Scope> {
  const { folder } = input
  const before = yield* Effect.mapError(ReportFile.read(folder), (error) => usage(error.message))
  const sandbox = yield* Suites.sandbox(input.sandbox)
  const suites = yield* Effect.forEach(before.benchmarks, (record) => suiteOf(input, sandbox, record))
  const { changes, graded, report, samples } = yield* Effect.mapError(Regrading.regrade({ folder, suites }), (error) =>
    error._tag === "EvaluationError" ? usage(error.message) : failed(error.message)
  )
  yield* Outputs.write(folder, report, samples, suites)
  const lines = changes.map(input.json ? jsonOf : textOf)
  const summary = `Regraded ${Format.count(graded, "answer")}; ${Format.count(changes.filter(isOtherVerdict).length, "verdict")} changed`
  const output = input.json
    ? lines
    : [...lines, ...(lines.length === 0 ? [] : [""]), summary, "", ReportText.text(report, stdout.columns)]
  if (output.length > 0) stdout.write(`${output.join("\n")}\n`)
})
