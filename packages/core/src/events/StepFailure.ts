/**
 * Failures that are not visible in a run's answer: failed steps, reassigned steps, and failed calls of checks, critics
 * and planners.
 */
import { defined } from "../Fields.ts"
import type { WorkerErrorReason } from "../task/Worker.ts"
import { withItems } from "./items.ts"
import type { Item } from "./RunEvent.ts"
import type { LostCall, StepRecord, Transcript } from "./Transcript.ts"

/** A worker that failed a step or a plan after all retries. */
export interface StepFailure {
  /** The id of the run, or of the nested run that contains the step. */
  readonly runId: string
  readonly round: number
  /** Absent if the policy's own model or a critic failed. */
  readonly step?: number
  /** Present if an item of the step failed. */
  readonly item?: Item
  /** Present if a check of the step or the critic made the call, instead of the step or the policy. */
  readonly by?: "check" | "critic"
  readonly worker: string
  /** The class of the worker's error; absent if the step was a nested run that failed. */
  readonly reason?: WorkerErrorReason["_tag"]
  readonly message: string
  /** The worker that took over the step. Absent if the step failed. */
  readonly reassignedTo?: string
}

type Place = Pick<StepFailure, "runId" | "round">

/** Returns the failure of a planner's, check's or critic's call, if the call was not retried. */
const ofCall = (place: Place & Pick<StepFailure, "step" | "item">, lost: LostCall): ReadonlyArray<StepFailure> => {
  const { by, isRetired, message = "", reason, retryInMillis, worker } = lost
  if (reason === undefined || retryInMillis !== undefined || isRetired === true) return []
  return [{ ...place, ...(by && { by }), worker, reason: reason._tag, message }]
}

const ofStep = (place: Place, record: StepRecord): ReadonlyArray<StepFailure> => {
  const { detail = "", item, lost, reason, reassigned, state, step, worker } = record
  const taken = reassigned.flatMap(({ from, message, reason }, index) => {
    const reassignedTo = reassigned[index + 1]?.from ?? worker
    return message === undefined
      ? []
      : [defined({ ...place, step, item, worker: from, reason, message, reassignedTo }) as StepFailure]
  })
  const isOurs = reason !== undefined || (record.nested !== undefined && record.nested.ending !== "budget")
  const failed =
    state === "failed" && isOurs
      ? [defined({ ...place, step, item, worker, reason, message: detail }) as StepFailure]
      : []
  const checks = lost.flatMap((call) =>
    call.by === "check" ? ofCall({ ...place, step, ...(item === undefined ? undefined : { item }) }, call) : []
  )
  return [...(record.nested === undefined ? [] : failuresOf(record.nested)), ...taken, ...failed, ...checks]
}

/**
 * Returns a failure's position below a run as numbers: the rounds and steps that lead to it. A planner's failure comes
 * before all steps.
 */
const pathOf = (run: string, { item, round, runId, step = -1 }: StepFailure): ReadonlyArray<number> => [
  ...runId
    .slice(run.length)
    .split(/[/.[\]]/)
    .flatMap((part) => (part === "" ? [] : [Number(part)])),
  round,
  step,
  ...(item === undefined ? [] : item.split(".").map(Number))
]

const rankOf = ({ by }: StepFailure): number => (by === undefined ? 0 : 1)

const byPlace = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): number => {
  for (let at = 0; at < Math.min(one.length, other.length); at += 1) {
    if (one[at] !== other[at]) return one[at]! - other[at]!
  }
  // The failures of a run nested in a step come before the step's own.
  return other.length - one.length
}

/**
 * Sorts the failures of a run and its nested runs by round and step. Failures of one step stay in chronological order,
 * with those of its checks last, so the order does not depend on which of two steps failed first.
 */
export const inOrder = (run: string, failures: ReadonlyArray<StepFailure>): ReadonlyArray<StepFailure> =>
  failures.length < 2
    ? failures
    : failures
        .map((failure) => ({ failure, path: pathOf(run, failure) }))
        .sort((one, other) => byPlace(one.path, other.path) || rankOf(one.failure) - rankOf(other.failure))
        .map(({ failure }) => failure)

/**
 * Returns the failures recorded in a run's transcript, including nested runs, in the order of rounds and steps, as in
 * `RunResult.failures`.
 */
export const failuresOf = ({ rounds, runId }: Pick<Transcript, "rounds" | "runId">): ReadonlyArray<StepFailure> =>
  rounds.flatMap(({ lost, round, steps }) => {
    const place = { runId, round }
    return [...lost.flatMap((call) => ofCall(place, call)), ...withItems(steps).flatMap((step) => ofStep(place, step))]
  })

/** Reasons that can be a consequence of the plan or the question: the wrong worker, too much text, filtered content. */
const consequences: ReadonlySet<StepFailure["reason"]> = new Set(["ContextTooLong", "ContentFiltered", undefined])

/** Whether the worker was paid for an answer that was empty or unreadable. */
const isEmptyAnswer = ({ reason, usage }: LostCall): boolean => reason?._tag === "Malformed" && usage.outputTokens > 0

const isOutage = ({ reason, reassignedTo }: StepFailure): boolean =>
  reassignedTo === undefined && !consequences.has(reason)

/**
 * Returns the failures of a run that are unrelated to the quality of its plan or answer: an unavailable vendor, a
 * refused key, an exhausted quota, a rate limit, the network, a defect in a worker's code. A run with such a failure is
 * not evidence for or against its policy, and its answer should not be graded.
 *
 * **Details**
 *
 * Failures that the run recovered from are not included: another worker took over the step, the last check of the step
 * passed, or a later round has steps.
 *
 * **Example**
 *
 * ```ts
 * import { StepFailure } from "@divisi/core"
 * import { conduct, single, worker } from "@divisi/core/promise"
 *
 * const down = () => Promise.reject(new Error("503 Service Unavailable"))
 * const pool = [worker({ id: "a", answer: down })]
 * const { transcript } = await conduct({ question: "6 times 7?", pool, policy: single("a"), retry: { maxAttempts: 1 } })
 * StepFailure.outagesOf(transcript).map(({ worker, reason }) => `${worker}: ${reason}`) // => ["a: Overloaded"]
 * ```
 */
export const outagesOf = ({ rounds, runId }: Pick<Transcript, "rounds" | "runId">): ReadonlyArray<StepFailure> =>
  rounds
    .slice(
      Math.max(
        0,
        rounds.findLastIndex(({ steps }) => steps.length > 0)
      )
    )
    .flatMap(({ lost, round, steps }) => {
      const place = { runId, round }
      const ofPlans = lost.flatMap((call) => (isEmptyAnswer(call) ? [] : ofCall(place, call)))
      const ofSteps = withItems(steps).flatMap(({ nested, ...step }) => [
        ...(nested === undefined ? [] : outagesOf(nested)),
        ...(step.lost.some(isEmptyAnswer) ? [] : ofStep(place, step)).filter(
          ({ by }) => by === undefined || step.checks?.at(-1)?.passed === false
        )
      ])
      return [...ofPlans, ...ofSteps].filter(isOutage)
    })

const words: { readonly [Tag in WorkerErrorReason["_tag"]]: string } = {
  RateLimited: "rate limited",
  Overloaded: "overloaded",
  Timeout: "timed out",
  Network: "unreachable",
  Malformed: "unreadable answer",
  InvalidRequest: "request refused",
  Authentication: "credentials refused",
  Quota: "no quota",
  ContentFiltered: "content filtered",
  ContextTooLong: "context too long",
  Defect: "error in its code"
}

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`

type Kind = "failed" | "reassigned" | "planner" | "critic" | "check"

const kindOf = ({ by, reassignedTo, step }: Pick<StepFailure, "by" | "step" | "reassignedTo">): Kind =>
  by ?? (reassignedTo !== undefined ? "reassigned" : step === undefined ? "planner" : "failed")

const inWords: { readonly [K in Kind]: (number: number) => string } = {
  failed: (number) => `${count(number, "step")} failed`,
  reassigned: (number) => `${count(number, "step")} reassigned`,
  planner: (number) => `${count(number, "call")} of the planner failed`,
  critic: (number) => `${count(number, "call")} of the critic failed`,
  check: (number) => `${count(number, "call")} of checks failed`
}

/**
 * Summarizes how many steps, plans and checks failed, how many steps were reassigned, and why; `undefined` if there
 * were no failures.
 */
export const summaryOf = (
  failures: ReadonlyArray<Pick<StepFailure, "step" | "by" | "worker" | "reason" | "reassignedTo">>
): string | undefined => {
  if (failures.length === 0) return undefined
  const counts = (Object.keys(inWords) as Array<Kind>).flatMap((kind) => {
    const number = failures.filter((failure) => kindOf(failure) === kind).length
    return number === 0 ? [] : [inWords[kind](number)]
  })
  const whys = new Set(
    failures.map(({ reason, worker }) => `${worker}: ${reason === undefined ? "failed" : words[reason]}`)
  )
  return `${counts.join(", ")} (${[...whys].join("; ")})`
}
