/** Estimates the price of a recording before it starts. */
import { Price } from "@divisi/core"
import type * as Task from "@divisi/core/Task"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import * as Format from "../view/Format.ts"
import { table } from "../view/Table.ts"

/** Calls, tokens and cost in USD, for one worker or in total. Costs are `undefined` if a price is unknown. */
export interface Estimate {
  readonly worker: string
  readonly calls: number
  /** Expected cost, assuming answers of 400 tokens or the token limit. */
  readonly likelyUsd: number | undefined
  /** Maximum cost, assuming answers of maximum length. */
  readonly mostUsd: number | undefined
}

/** The settings that determine the price. */
export interface Options {
  readonly pool: WorkerPool
  readonly tasks: ReadonlyArray<Task.Task>
  /** Number of answers per question. */
  readonly samples: number
  readonly maxOutputTokens?: number | undefined
}

const sum = (values: ReadonlyArray<number | undefined>): number | undefined =>
  values.includes(undefined) ? undefined : values.reduce<number>((all, value) => all + value!, 0)

/** Estimates the cost for each worker. */
export const of = ({ maxOutputTokens, pool, samples, tasks }: Options): ReadonlyArray<Estimate> =>
  pool.workers.map(({ id }, worker) => {
    const prices = tasks.map((task) =>
      Price.of(
        { steps: [{ worker, subtask: "", access: [] }] },
        {
          pool,
          task,
          retry: { maxAttempts: 1 },
          reassign: "never",
          ...(maxOutputTokens === undefined ? {} : { worker: { maxOutputTokens } })
        }
      )
    )
    const times = (usd: number | undefined) => (usd === undefined ? undefined : samples * usd)
    return {
      worker: id,
      calls: samples * tasks.length,
      likelyUsd: times(sum(prices.map(({ likely }) => likely.costUsd))),
      mostUsd: times(sum(prices.map(({ most }) => most.costUsd)))
    }
  })

/** Adds up the estimates of all workers. */
export const total = (all: ReadonlyArray<Estimate>): Estimate => ({
  worker: "all",
  calls: all.reduce((calls, one) => calls + one.calls, 0),
  likelyUsd: sum(all.map(({ likelyUsd }) => likelyUsd)),
  mostUsd: sum(all.map(({ mostUsd }) => mostUsd))
})

const usd = (value: number | undefined): string => (value === undefined ? "unknown" : Format.cost(value))

/** Formats the estimates as a table. */
export const text = (all: ReadonlyArray<Estimate>): string =>
  table([
    ["worker", "calls", "likely", "at most"],
    ...[...all, total(all)].map(({ calls, likelyUsd, mostUsd, worker }) => [
      worker,
      `${calls}`,
      usd(likelyUsd),
      usd(mostUsd)
    ])
  ])
