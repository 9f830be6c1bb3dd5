/** Reads the reinforcement learning iterations from the folders of training runs. */
import * as Statistics from "@divisi/evals/Statistics"
import { type Metrics, RunFolder } from "@divisi/trainer"
import * as Effect from "effect/Effect"
import * as Sample from "./Sample.ts"

/** A name and its value, as in the command line: `name=value`. */
export interface Named {
  readonly name: string
  readonly value: string
}

/** The data of a run. Runs whose names differ only after a `#` are one setting with several seeds. */
export interface Run {
  readonly name: string
  readonly setting: string
  readonly iterations: ReadonlyArray<Metrics.GrpoMetrics>
}

/** Reads `name=value,name=value`. */
export const named = (text: string | undefined): ReadonlyArray<Named> =>
  (text ?? "")
    .split(",")
    .filter((item) => item !== "")
    .map((item) => {
      const equals = item.indexOf("=")
      if (equals < 1) throw new Error(`"${item}" has to be written name=value.`)
      return { name: item.slice(0, equals).trim(), value: item.slice(equals + 1) }
    })

/** The setting of a name: the part before the `#` of its seed. */
export const settingOf = (name: string): string => name.split("#")[0]!.trim()

/** Reads the runs in folders. */
export const read = (folders: ReadonlyArray<Named>): Effect.Effect<ReadonlyArray<Run>, RunFolder.RunFolderError> =>
  Effect.forEach(folders, ({ name, value }) =>
    Effect.map(Effect.andThen(RunFolder.readConfig(value), RunFolder.readMetrics(value)), (metrics) => ({
      name,
      setting: settingOf(name),
      iterations: metrics.filter((one) => one.type === "grpo")
    }))
  )

/** Groups values by setting, in the order of first occurrence. */
export const bySetting = <A extends { readonly setting: string }>(
  items: ReadonlyArray<A>
): ReadonlyArray<readonly [string, ReadonlyArray<A>]> => [...Map.groupBy(items, ({ setting }) => setting)]

/** The mean of a value over iterations from one to before another; `undefined` where the run has none of them. */
export const meanOf = (
  { iterations }: Run,
  from: number,
  to: number,
  value: (metrics: Metrics.GrpoMetrics) => number
): number | undefined => {
  const some = iterations.slice(from, to)
  return some.length === 0 ? undefined : Statistics.mean(some.map(value))
}

/** The mean over seeds. With one seed there is no standard error. */
export const overSeeds = (values: ReadonlyArray<number | undefined>): Sample.Estimate | undefined => {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : Sample.estimate(known)
}
