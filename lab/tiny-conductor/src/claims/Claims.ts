/**
 * Published figures for the reading Conductor. Each is a mean over seeds that were fixed before the measurement, with
 * the standard error over the seeds, so that users can compare the result for their own seed.
 */
import * as Statistics from "@divisi/evals/Statistics"
import * as Markdown from "../tiny/Markdown.ts"
import * as Sample from "../tiny/Sample.ts"

/** The accuracies of one seed's questions, from 0 to 1. */
export interface Measured {
  readonly seed: number
  readonly reading: number
  readonly lexical: number
  readonly single: number
}

/** Where the questions of a row come from: the gym's fixed teams, or a different team for each question. */
export type World = "gym" | "drawn"

/** A row of the table. */
export interface Row {
  readonly world: World
  readonly name: string
  readonly seeds: ReadonlyArray<Measured>
}

/** The stored results. */
export interface Claims {
  readonly version: 1
  /** When the last seed was measured, as `2026-11-28`. */
  readonly date: string
  /** The SHA-256 of the measured file. */
  readonly model: string
  /** Questions of each seed. */
  readonly tasks: Readonly<Record<World, number>>
  readonly rows: ReadonlyArray<Row>
}

/** The policy that the reading Conductor is compared with. */
export type Rival = "lexical" | "single"

/** The lead of the reading Conductor, one value for each seed. */
const ahead = ({ seeds }: Row, rival: Rival): ReadonlyArray<number> => seeds.map((one) => one.reading - one[rival])

/** The two-sided 95 % quantile of Student's distribution, by degrees of freedom; 1.96 above 30. */
const quantiles = [
  12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131
]

const quantile = (count: number): number => quantiles[count - 2] ?? (count < 32 ? 2.09 : 1.96)

/** Whether the 95 % interval of the mean over seeds is above 0, below it, or holds it. */
export const verdict = (row: Row, rival: Rival): "ahead" | "tie" | "behind" => {
  const { mean, standardError } = Sample.estimate(ahead(row, rival))
  const margin = quantile(row.seeds.length) * standardError
  if (mean - margin > 0) return "ahead"
  return mean + margin < 0 ? "behind" : "tie"
}

/**
 * The interval in which the value of another seed is expected with 95 %: the spread of single seeds, and the error of
 * the mean. Fewer questions than the claim's spread more.
 */
export const interval = (row: Row, rival: Rival, tasks: { readonly claimed: number; readonly measured: number }) => {
  const values = ahead(row, rival)
  const mean = Statistics.mean(values)
  const count = values.length
  const deviation = Statistics.standardError(values) * Math.sqrt(count)
  const spread = deviation * Math.sqrt(1 / count + Math.max(1, tasks.claimed / tasks.measured))
  return { low: mean - quantile(count) * spread, high: mean + quantile(count) * spread }
}

/** The claims that new seeds contradict: none of a row's values is in its interval. */
export const contradictions = (
  { rows, tasks }: Claims,
  measured: ReadonlyArray<Row>,
  questions: number
): ReadonlyArray<string> =>
  measured.flatMap((row) => {
    const claimed = rows.find(({ name, world }) => world === row.world && name === row.name)
    if (claimed === undefined) return [`${row.world}, ${row.name}: there is no such row.`]
    return (["lexical", "single"] as const).flatMap((rival) => {
      const { high, low } = interval(claimed, rival, { claimed: tasks[row.world], measured: questions })
      const values = ahead(row, rival)
      if (values.some((value) => value >= low && value <= high)) return []
      const points = (value: number) => (100 * value).toFixed(1)
      const seeds = row.seeds.map(({ seed }, at) => `${points(values[at]!)} (seed ${seed})`).join(", ")
      return [
        `${row.world}, ${row.name}: ahead of ${rival} by ${seeds} points; the claim allows ${points(low)} to ${points(high)}.`
      ]
    })
  })

/** The rows of a world as a table in Markdown. */
export const table = ({ rows }: Claims, world: World): string =>
  Markdown.table(
    [
      "teams",
      "reading Conductor, %",
      "lexical rule, %",
      "best single worker, %",
      "ahead of the rule, points",
      "",
      "ahead of the best single, points",
      ""
    ],
    rows
      .filter((row) => row.world === world)
      .map((row) => [
        row.name,
        ...(["reading", "lexical", "single"] as const).map((name) =>
          Markdown.percent(Sample.estimate(row.seeds.map((one) => one[name])))
        ),
        ...(["lexical", "single"] as const).flatMap((rival) => [
          Markdown.percent(Sample.estimate(ahead(row, rival)), true),
          verdict(row, rival)
        ])
      ])
  )
