/** @jsxImportSource preact */
/** Sections below the charts of an evaluation: means, all figures, the composition of plans, workers, and the setup. */
import * as EvaluationTables from "@divisi/report/EvaluationTables"
import type { Cell, Profile, Rate, Report } from "../../evaluation/Listing.ts"
import * as Format from "../../run/Format.ts"
import { Bars, Card, type Figure, Figures, known, namesOf, type Share } from "../Sheet.tsx"

const withError = (mean: number | null | undefined, error: number | null | undefined): string =>
  known(mean, (value) => `${Format.share(value)}${typeof error === "number" ? ` ± ${(100 * error).toFixed(1)}` : ""}`)

const moneyOf = (usd: number | null | undefined, isPlay: boolean): string => Format.money(usd ?? undefined, isPlay)

const rounded = (value: number | null | undefined): string => known(value, (known) => Format.whole(Math.round(known)))

/** Results of each policy across all benchmarks. */
export const Overall = ({ isPlay, report }: { readonly report: Report; readonly isPlay: boolean }) => (
  <Card title="All benchmarks" note="accuracy ± standard error; the mean gives each benchmark the same weight">
    <Figures
      caption="Accuracy of each policy on all benchmarks"
      items={EvaluationTables.rows(report)}
      columns={[
        ["Policy", ({ policy }) => Format.oneLine(policy, 60)],
        ...report.benchmarks.map(
          ({ title }, index): Figure<EvaluationTables.Row> => [
            Format.oneLine(title, 40),
            ({ cells }) =>
              `${withError(cells[index]?.score.mean, cells[index]?.score.standardError)}${EvaluationTables.coverage(report, [cells[index]])}`
          ]
        ),
        [
          "Mean",
          ({ cells, overall }) =>
            `${withError(overall?.mean, overall?.standardError)}${EvaluationTables.coverage(report, cells)}`
        ],
        ["Tokens", ({ overall }) => rounded(overall?.tokens)],
        ["Cost a question", ({ overall }) => moneyOf(overall?.costUsd, isPlay)],
        ["Missing", ({ overall }) => rounded(overall?.missing)]
      ]}
    />
  </Card>
)

/** Figures for each policy on a benchmark that are not in the accuracy chart. */
export const AllFigures = ({ cells }: { readonly cells: ReadonlyArray<Cell> }) => {
  const most = Math.max(0, ...cells.flatMap(({ passAt }) => passAt.map(({ k }) => k)))
  const passOf = (cell: Cell) => cell.passAt.find(({ k }) => k === most)
  const score = (cell: Cell) => cell.score
  return (
    <Card title="All figures" note="per question; ± is the standard error, clustered by question">
      <Figures
        caption="All figures of each policy"
        items={cells}
        columns={[
          ["Policy", ({ policy }) => Format.oneLine(policy, 60)],
          ["Accuracy", (cell) => withError(score(cell).mean, score(cell).standardError)],
          ["Interval", (cell) => `${known(score(cell).low, Format.share)} to ${known(score(cell).high, Format.share)}`],
          ["Questions", (cell) => Format.whole(score(cell).questions)],
          ["Answers", (cell) => Format.whole(score(cell).samples)],
          ["Unreadable", (cell) => Format.whole(score(cell).unparsed)],
          ["Missing", (cell) => Format.whole(score(cell).missing)],
          ["Detectable", (cell) => known(score(cell).minimumDetectable, (one) => `${(100 * one).toFixed(1)} points`)],
          ...(most < 2
            ? []
            : ([
                [`Any of ${most}`, (cell) => known(passOf(cell)?.any, Format.share)],
                [`All of ${most}`, (cell) => known(passOf(cell)?.all, Format.share)]
              ] satisfies ReadonlyArray<Figure<Cell>>)),
          ["Steps", ({ steps }) => known(steps.mean, (one) => one.toFixed(2))],
          ["Calls", ({ calls }) => known(calls.mean, (one) => one.toFixed(2))],
          ["Failed calls", ({ failedCalls }) => Format.whole(failedCalls)],
          ["Time, 99th percentile", ({ millis }) => known(millis.p99, Format.duration)]
        ]}
      />
    </Card>
  )
}

const isSingle = ({ stepCounts }: Cell): boolean => stepCounts.every(({ name }) => name === "1" || name === "0")

const Composition = ({
  cells,
  note,
  sharesOf,
  title,
  figureOf
}: {
  readonly title: string
  readonly note: string
  readonly cells: ReadonlyArray<Cell>
  readonly sharesOf: (cell: Cell) => ReadonlyArray<Share>
  readonly figureOf?: (cell: Cell) => string
}) => {
  const rows = cells.flatMap((cell) => {
    const shares = sharesOf(cell)
    return shares.length === 0
      ? []
      : [{ name: cell.policy, shares, ...(figureOf !== undefined && { value: figureOf(cell) }) }]
  })
  const names = namesOf(rows)
  return rows.length === 0 ? null : (
    <Card title={title} note={note}>
      <Bars caption={`${title} of each policy`} rows={rows} names={names} />
    </Card>
  )
}

/** Composition of the plans: number of steps, workers and shapes. */
export const Compositions = ({ cells }: { readonly cells: ReadonlyArray<Cell> }) => {
  const planned = cells.filter((cell) => !isSingle(cell))
  return (
    <div class="columns">
      <Composition
        title="Steps of a plan"
        note="without policies of one step"
        cells={planned}
        sharesOf={({ stepCounts }) =>
          stepCounts.map(({ name, share }) => ({ name: name === "1" ? "1 step" : `${name} steps`, share }))
        }
        figureOf={({ steps }) => `mean ${known(steps.mean, (mean) => mean.toFixed(2))}`}
      />
      <Composition
        title="Workers"
        note="share of the steps; without policies of one worker"
        cells={cells.filter(({ workers }) => workers.length > 1)}
        sharesOf={({ workers }) => workers}
      />
      <Composition
        title="Shapes of plans"
        note="without policies of one step"
        cells={planned}
        sharesOf={({ shapes }) => shapes}
      />
    </div>
  )
}

const rateText = ({ high, low, mean, samples }: Rate): string =>
  known(
    mean,
    (value) =>
      `${Format.share(value)} (${known(low, Format.share)} to ${known(high, Format.share)}, of ${Format.whole(samples)})`
  )

/** Lists the kinds at which a worker is notably good. Kinds with fewer than three samples are not considered. */
const goodAt = ({ alone, kinds }: Profile): string =>
  kinds
    .filter(({ rate }) => rate.samples >= 3 && rate.estimate >= alone.estimate + 0.1)
    .slice(0, 4)
    .map(({ kind, rate }) => `${Format.oneLine(kind, 40)} ${Format.share(rate.estimate)}`)
    .join(", ")

/** Strengths of the workers across all policies and benchmarks. */
export const Strengths = ({
  isPlay,
  profiles
}: {
  readonly profiles: ReadonlyArray<Profile>
  readonly isPlay: boolean
}) =>
  profiles.length === 0 ? null : (
    <Card title="What workers are good at" note="on the questions that policies gave them, over all benchmarks">
      <Figures
        caption="What workers are good at"
        items={profiles}
        columns={[
          ["Worker", ({ worker }) => Format.oneLine(worker, 60)],
          ["Correct alone", ({ alone }) => rateText(alone)],
          ["Good at", goodAt, "wide"],
          ["Correct in teams", ({ inTeams }) => rateText(inTeams)],
          ["Calls", ({ calls }) => Format.whole(calls)],
          ["Failed", ({ failed }) => Format.whole(failed)],
          ["Median time", ({ medianMillis }) => known(medianMillis, Format.duration)],
          ["Cost a call", ({ costUsd }) => moneyOf(costUsd, isPlay)]
        ]}
      />
      <p class="dim">
        Alone: runs with a single call of the worker. In teams: runs with several calls, at least one of them to it. The
        figures of kinds are estimates, shrunk toward the worker's own mean.
      </p>
    </Card>
  )

const limitsText = ({ calls, costUsd, durationMillis, tokens }: Report["config"]["perQuestion"]): string =>
  [
    costUsd === undefined ? [] : Format.money(costUsd),
    tokens === undefined ? [] : `${Format.whole(tokens)} tokens`,
    calls === undefined ? [] : `${Format.whole(calls)} calls`,
    durationMillis === undefined ? [] : Format.duration(durationMillis)
  ]
    .flat()
    .join(", ") || "none"

/** Configuration, benchmarks with their licenses, pool and versions: everything needed to repeat the evaluation. */
export const Setting = ({ isPlay, report }: { readonly report: Report; readonly isPlay: boolean }) => {
  const { benchmarks, config, pool, versions } = report
  const play = EvaluationTables.playMoney(report)
  const choices: ReadonlyArray<readonly [string, string | number]> = [
    ["Answers to each question", config.epochs],
    ["Seed", config.seed],
    ["Limits of a question", limitsText(config.perQuestion)],
    ["Maximum steps", config.maxSteps],
    ["Recursive rounds", config.recursion],
    ["Output tokens of a call", config.maxOutputTokens ?? "each worker's own"],
    ["Temperature", config.temperature ?? "each worker's own"],
    ...Object.entries(versions)
  ]
  return (
    <Card title="Setting">
      {play !== undefined && <p>{play}</p>}
      <dl class="facts">
        {choices.map(([name, value]) => (
          <div key={name}>
            <dt>{Format.oneLine(name, 60)}</dt>
            <dd>{typeof value === "number" ? value : Format.oneLine(value, 60)}</dd>
          </div>
        ))}
      </dl>
      <Figures
        caption="Benchmarks"
        items={benchmarks}
        columns={[
          ["Benchmark", ({ title }) => Format.oneLine(title, 80)],
          ["Questions", ({ available, selected }) => `${Format.whole(selected)} of ${Format.whole(available)}`],
          ["Grader", ({ grader }) => Format.oneLine(grader, 40)],
          ["Prompt", ({ prompt }) => Format.oneLine(prompt, 40)],
          ["Licence", ({ licence }) => Format.oneLine(licence, 60)],
          ["Ids (SHA-256)", ({ idsSha256 }) => idsSha256.slice(0, 12)]
        ]}
      />
      {benchmarks.flatMap(({ benchmark, terms, title }) =>
        terms === undefined ? [] : [<p key={benchmark}>{Format.oneLine(`${title}: ${terms}`, 600)}</p>]
      )}
      <Figures
        caption="Workers"
        items={pool}
        columns={[
          ["Worker", ({ id }) => Format.oneLine(id, 60)],
          ["Million input tokens", ({ pricing }) => moneyOf(pricing?.inputPerMillion, isPlay)],
          ["Million output tokens", ({ pricing }) => moneyOf(pricing?.outputPerMillion, isPlay)]
        ]}
      />
    </Card>
  )
}
