/** Measures policies on generated teams, by setting and paired by question, and formats the results as tables. */
import type * as Policy from "@divisi/core/Policy"
import type * as Gym from "@divisi/gym/Gym"
import type { EstimatePicture } from "@divisi/report"
import * as Effect from "effect/Effect"
import * as Markdown from "../tiny/Markdown.ts"
import * as Sample from "../tiny/Sample.ts"
import * as Teams from "../world/Teams.ts"
import type { Guess } from "./Kinds.ts"
import * as Rules from "./Rules.ts"
import type { Setting } from "./Settings.ts"
import * as TeamRuns from "./TeamRuns.ts"

/** The options of a measurement. */
export interface Options {
  readonly settings: ReadonlyArray<Setting>
  readonly split: Gym.Split
  readonly seeds: ReadonlyArray<number>
  /** Questions for each seed. */
  readonly count: number
  readonly guess: Guess
  /** These are measured before the rules. */
  readonly models: ReadonlyArray<Policy.Policy>
  /** Returns whether a policy is measured. */
  readonly isWanted: (name: string) => boolean
  readonly say: (setting: string) => void
}

/** The result of a policy in a setting. */
export interface Row {
  readonly setting: string
  readonly policy: string
  readonly runs: ReadonlyArray<TeamRuns.Run>
}

const measureSetting = Effect.fnUntraced(function* (setting: Setting, options: Options) {
  const { count, guess, isWanted, models, seeds, split } = options
  options.say(setting.name)
  const rows = new Map<string, Array<TeamRuns.Run>>()
  for (const seed of seeds) {
    const teams = Teams.draw({ ...setting.options, split, count, seed })
    const policies = [...models, ...Rules.policies(teams, guess)].filter(({ name }) => isWanted(name))
    for (const policy of policies) {
      const runs = yield* TeamRuns.measure(policy, teams)
      rows.set(policy.name, [...(rows.get(policy.name) ?? []), ...runs])
    }
  }
  return [...rows].map(([policy, runs]): Row => ({ setting: setting.name, policy, runs }))
})

/** Measures every policy in every setting, on the same questions. */
export const measure = (options: Options): Effect.Effect<ReadonlyArray<ReadonlyArray<Row>>> =>
  Effect.forEach(options.settings, (setting) => measureSetting(setting, options))

const mean = (runs: ReadonlyArray<TeamRuns.Run>, value: (run: TeamRuns.Run) => number) =>
  Sample.estimate(runs.map(value))

/** A row as a line of figures. */
export const figures = ({ policy, runs, setting }: Row) => {
  const independent = runs.filter(({ hasIndependent }) => hasIndependent)
  return {
    setting,
    policy,
    tasks: runs.length,
    right: mean(runs, ({ right }) => right),
    usdPerThousand: mean(runs, ({ costUsd }) => 1000 * costUsd),
    calls: mean(runs, ({ calls }) => calls),
    parallelOfIndependent: mean(independent, ({ isParallel }) => (isParallel ? 1 : 0))
  }
}

/** The right answers of every policy. */
export const table = (measured: ReadonlyArray<ReadonlyArray<Row>>): string => {
  const columns = ["teams", ...(measured[0] ?? []).map(({ policy }) => `${policy}, right, %`)]
  const rows = measured.map((row) => [row[0]!.setting, ...row.map((one) => Markdown.percent(figures(one).right))])
  return Markdown.table(columns, rows)
}

/** The right answers of some policies, for a picture. */
export const estimates = (
  measured: ReadonlyArray<ReadonlyArray<Row>>,
  policies: ReadonlyArray<string>
): ReadonlyArray<EstimatePicture.Row> =>
  measured.map((all) => {
    const rightOf = (name: string) => {
      const found = all.find(({ policy }) => policy === name)
      return found && figures(found).right
    }
    return { name: all[0]!.setting, estimates: policies.map(rightOf) }
  })

/** The share of the oracle's lead over another policy that this policy reaches, with its error from residuals. */
const shareOfGain = (own: Row, from: Row, oracle: Row) =>
  Sample.ratio(
    own.runs.map(({ right }, at) => [right - from.runs[at]!.right, oracle.runs[at]!.right - from.runs[at]!.right])
  )

const ahead = (own: Row, other: Row) =>
  Markdown.percent(Sample.estimate(own.runs.map(({ right }, at) => right - other.runs[at]!.right)), true)

/** The gain of checks per question and their cost, from two models that differ only in them. */
export const checks = (measured: ReadonlyArray<ReadonlyArray<Row>>): string => {
  const rows = measured.map(([own, other]) => {
    const [left, right] = [figures(own!), figures(other!)]
    return [
      left.setting,
      Markdown.percent(left.right),
      Markdown.percent(right.right),
      ahead(own!, other!),
      Markdown.plain(left.calls),
      Markdown.plain(right.calls),
      (left.calls.mean / right.calls.mean).toFixed(2)
    ]
  })
  const columns = [
    "teams",
    "right, %",
    "without checks, %",
    "checks gain, points",
    "calls",
    "without",
    "times the calls"
  ]
  return Markdown.table(columns, rows)
}

/** The mean over trainings, with its error over trainings. */
const overTrainings = (rows: ReadonlyArray<Row>): string =>
  Markdown.percent(Sample.estimate(rows.map((row) => figures(row).right.mean)))

/** A model compared with all other policies per question, with its cost; then trainings with other seeds. */
export const comparison = (measured: ReadonlyArray<ReadonlyArray<Row>>, name: string): string => {
  const trainings = (all: ReadonlyArray<Row>) =>
    all.filter(({ policy }) => policy === name || policy.startsWith(`${name} (`))
  const rows = measured.map((all) => {
    const of = (policy: string) => all.find((one) => one.policy === policy)!
    const [own, lexical, single] = [of(name), of("lexical"), of("best single")]
    const [cues, router, oracle] = [of("lexicon and cues"), of("router"), of("teams-oracle")]
    const found = figures(own)
    return [
      own.setting,
      ...[own, single, lexical, cues, router, oracle].map((one) => Markdown.percent(figures(one).right)),
      ...(trainings(all).length > 1 ? [overTrainings(trainings(all))] : []),
      ...[single, lexical, cues].map((one) => ahead(own, one)),
      oracle.runs.every(({ right }, at) => right === single.runs[at]!.right)
        ? "–"
        : Markdown.percent(shareOfGain(own, single, oracle)),
      Markdown.plain(found.usdPerThousand, 3),
      Markdown.plain(figures(lexical).usdPerThousand, 3),
      Markdown.plain(found.calls),
      Markdown.percent(found.parallelOfIndependent)
    ]
  })
  const columns = [
    "teams",
    `${name}, right, %`,
    "best single, %",
    "lexical, %",
    "lexicon and cues, %",
    "router, %",
    "oracle, %",
    ...(trainings(measured[0] ?? []).length > 1 ? [`${name}, over all trainings, %`] : []),
    "ahead of the best single, points",
    "of lexical",
    "of lexicon and cues",
    "of what the oracle has over the best single, %",
    "USD per 1,000 questions",
    "lexical, USD",
    "calls",
    "of plans that could, run steps at once, %"
  ]
  return Markdown.table(columns, rows)
}
