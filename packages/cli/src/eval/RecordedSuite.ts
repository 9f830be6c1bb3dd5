/** Reloads the tasks of an earlier evaluation, based on its report. */

import type { BenchmarkRecord } from "@divisi/evals/Report"
import type { Sandbox } from "@divisi/graders"
import * as Effect from "effect/Effect"
import * as Suites from "./Suites.ts"

/** Options for reloading a benchmark. */
export interface Options {
  /** Task files by benchmark, separated by commas: `math500=rows.jsonl`. */
  readonly places?: string | undefined
  readonly revision?: string | undefined
  /** A grader that replaces the graders of all benchmarks. */
  readonly grader?: string | undefined
  readonly sandbox?: Sandbox.Sandbox | undefined
}

/** Loads the benchmark described in a report, with its current tasks. */
export const load = (record: BenchmarkRecord, { grader, places = "", revision, sandbox }: Options = {}) => {
  const requested = record.requested ?? record.benchmark
  const name = Suites.listOf(places).find((one) => one.split("=")[0] === requested.split("=")[0]) ?? requested
  return Effect.map(
    Suites.one(name, {
      seed: record.seed,
      shots: record.shots?.count,
      shotsFrom: record.shots?.from,
      split: record.split,
      revision: revision ?? record.commit,
      grader: grader ?? record.requestedGrader,
      isGraderForAll: grader !== undefined,
      sandbox,
      limit: record.benchmark === "gym" ? record.available : undefined
    }),
    (suite) => ({ ...suite, record: { ...record, graderDigest: suite.record.graderDigest } })
  )
}
