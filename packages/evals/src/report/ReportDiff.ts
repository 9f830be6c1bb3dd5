/**
 * Compares two reports: the same policies before and after a change, or policies from two evaluations.
 *
 * If both have samples of the same tasks, the comparison is paired, question by question. Two tasks are the same if
 * their id and prompt are equal.
 */
import { Options as Tables } from "@divisi/core"
import { compared, corrected } from "./compared.ts"
import type { Cell, Comparison, Figure, Report, Sample } from "./Report.ts"

/** A report with its samples. */
export interface Side {
  readonly report: Report
  readonly samples: ReadonlyArray<Sample>
}

/** The pairs of policies to compare, if their names differ. */
export interface Options {
  readonly policies?: ReadonlyArray<readonly [first: string, second: string]> | undefined
  /** Default: 0.95. */
  readonly confidence?: number | undefined
}

/** One policy of each report on one benchmark. */
export interface Row {
  readonly benchmark: string
  readonly first: string
  readonly second: string
  readonly firstMean: Figure
  readonly secondMean: Figure
  /** Mean cost per sample in each report, in USD. */
  readonly firstCostUsd: Figure
  readonly secondCostUsd: Figure
  /** Second minus first on the shared tasks. Omitted if the reports share no tasks. */
  readonly paired?: Comparison | undefined
}

/** The differences between two reports. */
export interface Diff {
  readonly rows: ReadonlyArray<Row>
  /** The number of tasks in both reports, and the numbers of tasks in only one of them. */
  readonly tasks: { readonly both: number; readonly onlyFirst: number; readonly onlySecond: number }
  /** Settings that differ between the reports. If there are any, the comparison is not fair. */
  readonly terms: ReadonlyArray<{ readonly name: string; readonly first: unknown; readonly second: unknown }>
}

const taskKey = ({ benchmark, promptSha256, task }: Sample): string => JSON.stringify([benchmark, task, promptSha256])

const pairsOf = ({ report: first }: Side, { report: second }: Side, options: Options) => {
  if (options.policies !== undefined) return options.policies
  const others = new Set(second.config.policies.map(({ name }) => name))
  return first.config.policies.filter(({ name }) => others.has(name)).map(({ name }) => [name, name] as const)
}

const cellOf = ({ cells }: Report, benchmark: string, policy: string): Cell | undefined =>
  cells.find((cell) => cell.benchmark === benchmark && cell.policy === policy)

const rowOf = (
  sides: readonly [Side, Side],
  benchmark: string,
  names: readonly [string, string],
  shared: ReadonlySet<string>,
  confidence: number
): Row => {
  const [first, second] = sides.map(({ report }, side) => cellOf(report, benchmark, names[side]!))
  const [before, after] = sides.map(({ samples }, side) =>
    samples.filter(
      (sample) => sample.benchmark === benchmark && sample.policy === names[side] && shared.has(taskKey(sample))
    )
  )
  const comparison = compared({ benchmark, policy: names[1], against: names[0] }, after!, before!, {
    confidence,
    seed: 0
  })
  return {
    benchmark,
    first: names[0],
    second: names[1],
    firstMean: first?.score.mean ?? null,
    secondMean: second?.score.mean ?? null,
    firstCostUsd: first?.costUsd.mean ?? null,
    secondCostUsd: second?.costUsd.mean ?? null,
    paired: comparison.questions === 0 ? undefined : comparison
  }
}

/** Corrects the p-values for the number of rows. */
const correctedRows = (rows: ReadonlyArray<Row>): ReadonlyArray<Row> => {
  const paired = corrected(rows.flatMap((row) => (row.paired === undefined ? [] : [row.paired])))
  let next = 0
  return rows.map((row) => (row.paired === undefined ? row : { ...row, paired: paired[next++]! }))
}

/**
 * Returns the settings that differ between the reports. Differences in benchmarks and policies are visible in the rows.
 */
const termsOf = ({ report: first }: Side, { report: second }: Side): Diff["terms"] => {
  const flat = ({ benchmarks, config, pool }: Report): Readonly<Record<string, unknown>> => {
    const { policies: _, ...terms } = config
    return {
      ...terms,
      pool: pool.map(({ id }) => id),
      ...Object.fromEntries(benchmarks.map(({ benchmark, grader }) => [`grader of ${benchmark}`, grader])),
      ...Object.fromEntries(benchmarks.map(({ benchmark, prompt }) => [`prompt of ${benchmark}`, prompt]))
    }
  }
  const [a, b] = [flat(first), flat(second)]
  return Object.keys(a)
    .filter((name) => name in b && JSON.stringify(a[name]) !== JSON.stringify(b[name]))
    .map((name) => ({ name, first: a[name], second: b[name] }))
}

const table = {
  policies: Tables.listOf(Tables.expects("two policy names", (value) => Array.isArray(value) && value.length === 2)),
  confidence: Tables.number(0.5, 1 - Number.EPSILON)
} satisfies Tables.ShapeOf<Options>

/** Compares two reports. By default, policies with the same name are compared. */
export const make = (first: Side, second: Side, options: Options = {}): Diff => {
  Tables.check("ReportDiff.make", options, table)
  const [a, b] = [first, second].map(({ samples }) => new Set(samples.map(taskKey)))
  const shared = a!.intersection(b!)
  const names = new Set(second.report.benchmarks.map(({ benchmark }) => benchmark))
  const benchmarks = first.report.benchmarks.map(({ benchmark }) => benchmark).filter((name) => names.has(name))
  const rows = benchmarks.flatMap((benchmark) =>
    pairsOf(first, second, options).map((pair) =>
      rowOf([first, second], benchmark, pair, shared, options.confidence ?? 0.95)
    )
  )
  return {
    rows: correctedRows(rows),
    tasks: { both: shared.size, onlyFirst: a!.size - shared.size, onlySecond: b!.size - shared.size },
    terms: termsOf(first, second)
  }
}
