/** Plans of evaluations: describes one for the report, validates it, and compares it with a stored plan. */

import { Workflow } from "@divisi/core"
import type { RunSettings } from "@divisi/core/RunSettings"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Report from "../report/Report.ts"
import type { Options } from "./Evaluation.ts"

/** The evaluation cannot run with the given options. */
export class EvaluationError extends Data.TaggedError("EvaluationError")<{
  readonly reason: "empty" | "duplicate" | "unpriced" | "grader" | "changed"
  readonly detail: string
}> {
  override get message(): string {
    switch (this.reason) {
      case "empty":
        return `There is nothing to evaluate: pass at least one ${this.detail}.`
      case "duplicate":
        return `${this.detail} occurs twice: remove one, or rename it.`
      case "unpriced":
        return `A cost limit needs a price for every worker. Unknown prices: ${this.detail}. Set them, or remove the limit.`
      case "grader":
        return this.detail
      case "changed":
        return `The evaluation in this folder has a different ${this.detail}. Use the original settings and tasks, or choose another folder.`
    }
  }
}

/** Returns the number of re-planning rounds. The default with a critic is two. */
const recursionOf = ({ critic, recursion }: RunSettings): number => recursion ?? (critic === undefined ? 0 : 2)

/** Converts further settings for the report. A critic is represented by its name. */
const recordOf = ({
  critic,
  onAuthenticationFailure,
  onStepFailure,
  self,
  skipUnseen,
  threshold,
  worker
}: RunSettings) => {
  const { reasoning, timeoutMillis } = worker ?? {}
  const given = {
    self,
    threshold,
    onAuthenticationFailure,
    onStepFailure,
    skipUnseen,
    reasoning,
    timeoutMillis,
    critic: critic?.name
  }
  return Object.values(given).every((value) => value === undefined) ? {} : { settings: given }
}

/** Returns the plan of an evaluation: everything about it that is known before it starts. */
export const planOf = (options: Options): Report.Plan => {
  const { policies, pool, run = {}, suites } = options
  return {
    config: {
      policies: policies.map(({ digest, isBaseline = false, policy }) => ({
        name: policy.name,
        isBaseline,
        ...(digest !== undefined && { digest })
      })),
      epochs: options.epochs ?? 1,
      seed: run.seed ?? 0,
      perQuestion: run.budget ?? {},
      maxSteps: run.maxSteps ?? Workflow.defaultMaxSteps,
      recursion: recursionOf(run),
      maxOutputTokens: run.worker?.maxOutputTokens,
      temperature: run.worker?.temperature,
      ...recordOf(run),
      confidence: options.confidence ?? 0.95
    },
    benchmarks: suites.map(({ record }) => record),
    pool: pool.workers.map(({ description, id, pricing, provider }) => ({
      id,
      description,
      provider,
      pricing
    })),
    versions: { ...options.versions, node: process.versions.node }
  }
}

const twice = (names: ReadonlyArray<string>): string | undefined =>
  names.find((name, index) => names.indexOf(name) !== index)

/** Validates the options. Fails with the first problem. */
export const check = ({ maxCostUsd, policies, pool, suites }: Options): Effect.Effect<void, EvaluationError> => {
  const fail = (reason: EvaluationError["reason"], detail: string) =>
    Effect.fail(new EvaluationError({ reason, detail }))
  if (suites.length === 0) return fail("empty", "benchmark")
  if (policies.length === 0) return fail("empty", "policy")
  const policy = twice(policies.map((entry) => entry.policy.name))
  if (policy !== undefined) return fail("duplicate", `The policy ${policy}`)
  const benchmark = twice(suites.map(({ record }) => record.benchmark))
  if (benchmark !== undefined) return fail("duplicate", `The benchmark ${benchmark}`)
  const unpriced = pool.workers.filter(({ pricing }) => pricing === undefined).map(({ id }) => id)
  if (maxCostUsd !== undefined && unpriced.length > 0) return fail("unpriced", unpriced.join(", "))
  return Effect.forEach(
    suites,
    ({ grader, record }) =>
      Effect.mapError(
        grader.ready ?? Effect.void,
        ({ message }) =>
          new EvaluationError({ reason: "grader", detail: `${record.benchmark} cannot be graded. ${message}` })
      ),
    { discard: true }
  )
}

/**
 * Returns the settings that must be equal for samples from both plans to be comparable, keyed by the name used in
 * errors. Policies, epochs and benchmarks may be added.
 */
const essentials = (
  { benchmarks, config, pool }: Report.Plan,
  other: Report.Plan
): Readonly<Record<string, unknown>> => {
  const { confidence: _, epochs: __, policies, ...terms } = config
  const policiesThere = new Set(other.config.policies.map(({ name }) => name))
  const poolThere = new Set(other.pool.map(({ id }) => id))
  const benchmarksThere = new Set(other.benchmarks.map(({ benchmark }) => benchmark))
  return {
    ...terms,
    ...Object.fromEntries(
      policies
        .filter(({ name }) => policiesThere.has(name))
        .map(({ digest, name }) => [`source of policy ${name}`, digest])
    ),
    pool: pool.map(({ id }) => id),
    ...Object.fromEntries(
      pool.filter(({ id }) => poolThere.has(id)).map(({ id, pricing }) => [`price of ${id}`, pricing])
    ),
    ...Object.fromEntries(
      benchmarks
        .filter(({ benchmark }) => benchmarksThere.has(benchmark))
        .flatMap(({ benchmark, grader, graderDigest, prompt }) => [
          [`prompt of ${benchmark}`, prompt],
          [`grader of ${benchmark}`, grader],
          [`source of the grader of ${benchmark}`, graderDigest]
        ])
    )
  }
}

/** Formats a setting for an error. */
const shown = (value: unknown): string =>
  value === undefined ? "none" : typeof value === "string" ? value : JSON.stringify(value)

/** Fails if existing samples were produced with different settings. */
export const checkSame =
  (plan: Report.Plan) =>
  (before: Report.Plan): Effect.Effect<void, EvaluationError> => {
    const [now, then] = [essentials(plan, before), essentials(before, plan)] as const
    const changed = [...new Set([...Object.keys(now), ...Object.keys(then)])].flatMap((name) => {
      const [value, before] = [shown(now[name]), shown(then[name])]
      if (value === before) return []
      return [name.startsWith("source of ") ? name : `${name} (${before} instead of ${value})`]
    })
    return changed.length === 0
      ? Effect.void
      : Effect.fail(new EvaluationError({ reason: "changed", detail: changed.join(", ") }))
  }
