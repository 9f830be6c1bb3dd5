/** A report on a terminal. */
import type { Comparison, Report } from "@divisi/evals/Report"
import * as Format from "../view/Format.ts"
import { table } from "../view/Table.ts"
import { percent, points, pValue, withError } from "./Numbers.ts"

const isPlay = ({ pool }: Report): boolean => pool.length > 0 && pool.every(({ pricing }) => pricing?.isPlay === true)

const cost = (usd: number | null, isPlay: boolean): string => (usd === null ? "–" : Format.cost(usd, isPlay))

const paid = (report: Report): string =>
  isPlay(report) ? Format.cost(report.extent.paidUsd, true) : `${Format.cost(report.extent.paidUsd)} paid`

const time = (millis: number | null): string => (millis === null ? "–" : Format.duration(millis))

const scores = (report: Report): string => {
  const { benchmarks, cells, config, overall } = report
  const isMany = benchmarks.length > 1
  const rows = config.policies.map(({ name }) => {
    const mine = cells.filter(({ policy }) => policy === name)
    const all = overall.find(({ policy }) => policy === name)!
    return [
      name,
      ...mine.map(({ score }) => withError(score.mean, score.standardError)),
      ...(isMany ? [withError(all.mean, all.standardError)] : []),
      cost(all.costUsd, isPlay(report)),
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
  return table([head, ...rows])
}

/** What could be seen at all, of the reference. */
const detectable = ({ cells, config }: Report): ReadonlyArray<string> => {
  const reference = config.policies[0]?.name
  return cells
    .filter(({ policy }) => policy === reference)
    .flatMap(({ benchmark, score }) =>
      score.minimumDetectable === null
        ? []
        : [
            `${benchmark}: ${Format.count(score.questions, "question")}; differences of ${percent(score.minimumDetectable)} points would be found four times in five`
          ]
    )
}

const interval = ({ high, low }: Comparison): string => `${points(low)} to ${points(high)}`

const comparisons = ({ benchmarks, comparisons }: Report): ReadonlyArray<string> => {
  if (comparisons.length === 0) return []
  const rows = comparisons.map((one) => [
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
    `${100 * confidence} % interval`,
    "p (Holm)"
  ]
  return ["", table([head, ...rows])]
}

const sum = (report: Report, of: (cell: Report["cells"][number]) => number): number =>
  report.cells.reduce((total, cell) => total + of(cell), 0)

/** Where tokens and costs are estimates, as a vendor's own figures cannot be. */
const misreported = (report: Report): ReadonlyArray<string> => {
  const said = report.cells.flatMap(({ misreported }) => misreported ?? [])
  if (said.length === 0) return []
  const runs = Format.count(
    sum(report, ({ misreported }) => misreported?.runs ?? 0),
    "run"
  )
  return [`${runs} with usage that cannot be (${said[0]!.first}): estimates stand in its place`]
}

/** What counts as wrong without an answer, and what is in no mean. */
const failures = (report: Report): ReadonlyArray<string> => {
  const [unparsed, unanswered, missing, unpriced] = [
    sum(report, ({ score }) => score.unparsed),
    sum(report, ({ score }) => score.unanswered),
    sum(report, ({ score }) => score.missing),
    sum(report, ({ unpricedCalls }) => unpricedCalls)
  ]
  const reasons = report.cells.flatMap(({ score }) => Object.entries(score.missingBy))
  const by = [...Map.groupBy(reasons, ([reason]) => reason)].map(
    ([reason, some]) => `${reason} ${some.reduce((total, [, count]) => total + count, 0)}`
  )
  return [
    ...(unparsed === 0 ? [] : [`${Format.count(unparsed, "answer")} could not be read, and count as wrong`]),
    ...(unanswered === 0 ? [] : [`${Format.count(unanswered, "run")} gave no answer, and count as wrong`]),
    ...(missing === 0
      ? []
      : [
          `${Format.count(missing, "sample")} missing, in no mean (${by.join(", ")}); --retry-missing tries them again`
        ]),
    ...misreported(report),
    ...(unpriced === 0 ? [] : [`${Format.count(unpriced, "call")} of unknown price, in no cost`])
  ]
}

/** The whole of it. Costs, steps and times are of one answer; `±` are standard errors, clustered by question. */
export const text = (report: Report): string => {
  const { planned, samples, status } = report.extent
  return [
    scores(report),
    "",
    ...detectable(report),
    ...failures(report),
    ...(status === "complete"
      ? [`${Format.count(samples, "sample")}, ${paid(report)}`]
      : [
          `stopped: ${samples.toLocaleString("en-US")} of ${Format.count(planned, "sample")}, ${paid(report)}; run the same again to go on`
        ]),
    ...comparisons(report)
  ].join("\n")
}
