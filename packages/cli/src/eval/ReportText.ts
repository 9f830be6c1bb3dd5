/** Formats a report for the terminal. */
import type { Comparison, Report } from "@divisi/evals/Report"
import { EvaluationTables } from "@divisi/report"
import * as Format from "../view/Format.ts"
import { oneLine, widthOf, wrap } from "../view/Line.ts"
import { table } from "../view/Table.ts"
import { percent, points, pValue, withError } from "./Numbers.ts"

const cost = (usd: number | null, isPlay: boolean): string => (usd === null ? "–" : Format.cost(usd, isPlay))

const paid = (report: Report): string =>
  EvaluationTables.isPlay(report)
    ? Format.cost(report.extent.paidUsd, true)
    : `${Format.cost(report.extent.paidUsd)} paid`

const time = (millis: number | null): string => (millis === null ? "–" : Format.duration(millis))

/** Formats a table, dropping columns on the right until it fits the terminal. */
const fitting = (rows: ReadonlyArray<ReadonlyArray<string>>, columns: number, least: number): string => {
  const text = table(rows)
  const isTooWide = Math.max(...text.split("\n").map(widthOf)) > columns
  return isTooWide && rows[0]!.length > least
    ? fitting(
        rows.map((row) => row.slice(0, -1)),
        columns,
        least
      )
    : text
}

/** Formats the range of several policies' scores. */
const range = (means: ReadonlyArray<number | null>): string => {
  const known = means.filter((mean) => mean !== null)
  return known.length === 0 ? "–" : `${percent(Math.min(...known))} to ${percent(Math.max(...known))}`
}

/** Formats a score, with a mark if it covers only some of the samples. */
const scoreText = ({ mean, standardError }: Pick<Report["overall"][number], "mean" | "standardError">, mark: string) =>
  `${withError(mean, standardError)}${mark}`

const scores = (report: Report, columns: number): string => {
  const { benchmarks, cells, config, overall } = report
  const isMany = benchmarks.length > 1
  const less = EvaluationTables.folded(report)
  const shown = config.policies.map(({ name }) => name).filter((name) => !less.includes(name))
  const rows = shown.map((name) => {
    const mine = cells.filter(({ policy }) => policy === name)
    const all = overall.find(({ policy }) => policy === name)!
    return [
      name,
      ...mine.map((cell) => scoreText(cell.score, EvaluationTables.coverage(report, [cell]))),
      ...(isMany ? [scoreText(all, EvaluationTables.coverage(report, mine))] : []),
      cost(all.costUsd, EvaluationTables.isPlay(report)),
      all.steps?.toFixed(2) ?? "–",
      time(all.millis)
    ]
  })
  const head = [
    "policy",
    ...benchmarks.map(({ benchmark }) => `${benchmark} %`),
    ...(isMany ? ["mean %"] : []),
    "cost",
    "steps",
    "time"
  ]
  const rangeOf = (of: Report["cells"]) => range(of.map(({ score }) => score.mean))
  const rest = [
    `${less.length} more single workers`,
    ...benchmarks.map(({ benchmark }) =>
      rangeOf(cells.filter((cell) => cell.benchmark === benchmark && less.includes(cell.policy)))
    ),
    ...(isMany ? [range(overall.filter(({ policy }) => less.includes(policy)).map(({ mean }) => mean))] : []),
    ...["", "", ""]
  ]
  const last = shown.findLastIndex(EvaluationTables.isSingle) + 1
  const all = less.length === 0 ? rows : [...rows.slice(0, last), rest, ...rows.slice(last)]
  return fitting([head, ...all], columns, 1 + benchmarks.length + (isMany ? 1 : 0))
}

/** Formats the detectable differences of a benchmark: the range over its comparisons, or the estimate without any. */
const differences = ({ comparisons }: Report, benchmark: string, estimate: number): string => {
  const found = comparisons.flatMap((one) => (one.benchmark === benchmark ? (one.minimumDetectable ?? []) : []))
  const [low, high] = found.length === 0 ? [estimate, estimate] : [Math.min(...found), Math.max(...found)]
  return percent(low) === percent(high) ? percent(low) : `${percent(low)} to ${percent(high)}`
}

/** Describes the minimum detectable difference between the reference policy and the others. */
const detectable = (report: Report): ReadonlyArray<string> => {
  const { cells, config } = report
  const reference = config.policies[0]?.name
  return cells
    .filter(({ policy }) => policy === reference)
    .flatMap(({ benchmark, score }) =>
      score.minimumDetectable === null
        ? [
            score.questions === 0
              ? `${benchmark}: no question was measured`
              : `${benchmark}: ${Format.count(score.questions, "question")}, too few to detect a difference`
          ]
        : [
            `${benchmark}: ${Format.count(score.questions, "question")}; can detect a difference of ${differences(report, benchmark, score.minimumDetectable)} points between ${reference} and another policy (80% power)`
          ]
    )
}

const interval = ({ high, low }: Comparison): string => `${points(low)} to ${points(high)}`

const comparisons = (report: Report, columns: number): ReadonlyArray<string> => {
  const { benchmarks, comparisons } = report
  if (comparisons.length === 0) return []
  const less = EvaluationTables.folded(report)
  const rows = comparisons
    .filter(({ against }) => !less.includes(against))
    .map((one) => [
      `${one.policy} − ${one.against}`,
      ...(benchmarks.length > 1 ? [one.benchmark] : []),
      points(one.mean),
      interval(one),
      pValue(one.pAdjusted)
    ])
  const { confidence } = comparisons[0]!
  const head = [
    "difference, points",
    ...(benchmarks.length > 1 ? [""] : []),
    "mean",
    `${100 * confidence}% interval`,
    "p (Holm)"
  ]
  const others = less.length === 0 ? [] : ["The report lists the others; p is corrected for multiple comparisons."]
  return ["", fitting([head, ...rows], columns, head.length - 2), ...others]
}

/** Wraps sentences to the terminal, one paragraph each. */
const wrapped = (sentences: ReadonlyArray<string>, columns: number): ReadonlyArray<string> =>
  sentences.flatMap((sentence) => (Number.isFinite(columns) ? wrap(oneLine(sentence), columns) : [oneLine(sentence)]))

/** Formats the verdicts at equal token budgets. */
const verdicts = (report: Report, columns: number): ReadonlyArray<string> => {
  const sentences = EvaluationTables.verdicts(report)
  return sentences.length === 0 ? [] : ["", ...wrapped(sentences, columns)]
}

/**
 * Formats the complete report. Costs, steps and times are per answer; `±` indicates the standard error, clustered by
 * question. If a table is wider than `columns`, its last columns appear only in the report file. `remedy` is appended
 * to the number of missing samples.
 */
export const text = (
  report: Report,
  columns = Number.POSITIVE_INFINITY,
  remedy = "; use --retry-missing to measure them"
): string => {
  const { planned, samples, status } = report.extent
  return [
    scores(report, columns),
    "",
    ...detectable(report),
    ...wrapped(EvaluationTables.failures(report, remedy), columns),
    ...(status === "complete"
      ? [`${Format.count(samples, "sample")}, ${paid(report)}`]
      : [
          `stopped: ${Format.integer(samples)} of ${Format.count(planned, "sample")}, ${paid(report)}; to continue, run the same command again with a higher limit`
        ]),
    ...comparisons(report, columns),
    ...verdicts(report, columns)
  ].join("\n")
}
