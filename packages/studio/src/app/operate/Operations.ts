/** Prepares a server's state for display to operators: metrics by name, and cost by day, worker and key. */
import type { Transcript } from "@divisi/core"
import * as Format from "../../run/Format.ts"
import type { Summary } from "../../run/Summary.ts"

/** A single metric value with its labels. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const unescaped: Readonly<Record<string, string>> = { n: "\n", '"': '"', "\\": "\\" }

/** Parses Prometheus metrics in text format. Other lines are skipped. */
export const parseMetrics = (text: string): ReadonlyArray<Sample> =>
  text.split("\n").flatMap((line) => {
    const [, name, labels = "", value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line) ?? []
    if (name === undefined) return []
    const pairs = [...labels.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(
      ([, key, text]) => [key!, text!.replace(/\\(.)/g, (_, escaped: string) => unescaped[escaped] ?? escaped)] as const
    )
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }]
  })

/** Adds up the values of a metric for each value of a label. */
export const sumBy = (samples: ReadonlyArray<Sample>, name: string, label: string): ReadonlyMap<string, number> => {
  const sums = new Map<string, number>()
  for (const sample of samples) {
    if (sample.name !== name) continue
    const key = sample.labels[label] ?? ""
    sums.set(key, (sums.get(key) ?? 0) + sample.value)
  }
  return sums
}

/** Returns the sum of all values of a metric. */
export const sumOf = (samples: ReadonlyArray<Sample>, name: string): number =>
  samples.reduce((sum, sample) => (sample.name === name ? sum + sample.value : sum), 0)

/** A group of runs with its total cost. */
export interface Cost {
  readonly name: string
  readonly runs: number
  readonly costUsd: number
}

const costsBy = (runs: ReadonlyArray<Summary>, names: (run: Summary) => ReadonlyArray<string>): ReadonlyArray<Cost> => {
  const costs = new Map<string, Cost>()
  const isPlay = runs.every(({ is_play }) => is_play === true)
  for (const run of runs) {
    // Play money is not added to dollars.
    const costUsd = run.is_play === true && !isPlay ? 0 : run.cost_usd
    for (const name of names(run)) {
      const before = costs.get(name) ?? { name, runs: 0, costUsd: 0 }
      costs.set(name, { name, runs: before.runs + 1, costUsd: before.costUsd + costUsd })
    }
  }
  return [...costs.values()]
}

const byCost = (costs: ReadonlyArray<Cost>): ReadonlyArray<Cost> =>
  [...costs].sort((one, other) => other.costUsd - one.costUsd || other.runs - one.runs)

/** Returns the cost by key. Runs without a key were started from the command line. */
export const byKey = (runs: ReadonlyArray<Summary>): ReadonlyArray<Cost> =>
  byCost(costsBy(runs, ({ owner }) => [owner ?? "command line"]))

/** A call to a worker, with its price if known. */
interface Call {
  readonly worker: string
  readonly costUsd?: number | undefined
}

const callsOf = (step: Transcript.StepRecord): ReadonlyArray<Call> => {
  const { checkAnswers = [], items = [], lost, nested, paid, turns = [], worker } = step
  if (nested !== undefined) return nested.rounds.flatMap(({ steps }) => steps.flatMap(callsOf))
  return [
    ...(paid === undefined ? [] : [{ worker, costUsd: paid.costUsd }]),
    ...turns.map((turn) => ({ worker: turn.worker, costUsd: turn.paid.costUsd })),
    ...lost,
    ...checkAnswers,
    ...items.flatMap(callsOf)
  ]
}

/** Returns the cost by worker, with the number of runs in which each worker was called. */
export const byWorker = (transcripts: ReadonlyArray<Transcript.Transcript>): ReadonlyArray<Cost> => {
  const costs = new Map<string, Cost>()
  for (const { rounds } of transcripts) {
    const seen = new Set<string>()
    for (const { costUsd = 0, worker } of rounds.flatMap(({ steps }) => steps.flatMap(callsOf))) {
      const before = costs.get(worker) ?? { name: worker, runs: 0, costUsd: 0 }
      costs.set(worker, {
        ...before,
        runs: before.runs + (seen.has(worker) ? 0 : 1),
        costUsd: before.costUsd + costUsd
      })
      seen.add(worker)
    }
  }
  return byCost([...costs.values()])
}

const dayMillis = 86_400_000

/** Returns the cost for each of the last days (UTC), oldest first, including days without runs. */
export const byDay = (runs: ReadonlyArray<Summary>, now: number, days = 30): ReadonlyArray<Cost> => {
  const nameOf = (at: number) => Format.iso(at).slice(0, 10)
  const costs = new Map(costsBy(runs, ({ started_at }) => [nameOf(started_at)]).map((cost) => [cost.name, cost]))
  return Array.from({ length: days }, (_, index) => {
    const name = nameOf(now - (days - 1 - index) * dayMillis)
    return costs.get(name) ?? { name, runs: 0, costUsd: 0 }
  })
}
