/** `divisi eval diff`: compares the reports of two evaluations. */
import { ReportDiff, ReportFile } from "@divisi/evals"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Failure, usage } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import * as Format from "../view/Format.ts"
import { table } from "../view/Table.ts"
import type { DiffInput } from "./flags.ts"
import { percent, points, pValue } from "./Numbers.ts"
import { listOf } from "./Suites.ts"

const sideOf = (file: string): Effect.Effect<ReportDiff.Side, Failure> =>
  Effect.mapError(Effect.all({ report: ReportFile.read(file), samples: ReportFile.readSamples(file) }), (error) =>
    usage(error.message)
  )

const pairsOf = (
  sides: readonly [ReportDiff.Side, ReportDiff.Side],
  text: string | undefined
): Effect.Effect<ReportDiff.Options, Failure> => {
  if (text === undefined) return Effect.succeed({})
  return Effect.map(
    Effect.forEach(listOf(text), (pair) => {
      const [first = "", second = first] = pair.split("=")
      const names = [first, second] as const
      const unknown = names.findIndex(
        (name, side) => !sides[side]!.report.config.policies.some((policy) => policy.name === name)
      )
      return unknown === -1
        ? Effect.succeed(names)
        : Effect.fail(usage(`The ${unknown === 0 ? "first" : "second"} evaluation has no policy "${names[unknown]}".`))
    }),
    (policies) => ({ policies })
  )
}

const label = ({ first, second }: ReportDiff.Row): string => (first === second ? first : `${first} → ${second}`)

const rowText = (row: ReportDiff.Row): ReadonlyArray<string> => {
  const { benchmark, firstMean, paired, secondMean } = row
  return [
    label(row),
    benchmark,
    percent(firstMean),
    percent(secondMean),
    ...(paired === undefined
      ? ["–", "–", "–", "0"]
      : [
          points(paired.mean),
          `${points(paired.low)} to ${points(paired.high)}`,
          pValue(paired.pAdjusted),
          String(paired.questions)
        ])
  ]
}

const text = ({ rows, tasks, terms }: ReportDiff.Diff): string => {
  const head = ["policy", "benchmark", "first %", "second %", "difference", "95% interval", "p (Holm)", "questions"]
  return [
    rows.length === 0
      ? "The evaluations have no benchmark and policy in common. To compare policies with different names, use --policies."
      : table([head, ...rows.map(rowText)]),
    "",
    `${Format.count(tasks.both, "task")} in both, ${tasks.onlyFirst} only in the first, ${tasks.onlySecond} only in the second`,
    ...terms.map(
      ({ first, name, second }) =>
        `${name} differs: ${JSON.stringify(first)} in the first, ${JSON.stringify(second)} in the second`
    )
  ].join("\n")
}

/** Compares two reports and prints the differences. */
export const diff = Effect.fnUntraced(function* (input: DiffInput): Effect.fn.Return<void, Failure> {
  const sides = [yield* sideOf(input.first), yield* sideOf(input.second)] as const
  const options = yield* pairsOf(sides, Option.getOrUndefined(input.policies))
  const found = ReportDiff.make(...sides, options)
  stdout.write(`${input.json ? JSON.stringify(found) : text(found)}\n`)
})
