/**
 * Failures that a run's answer does not reveal: failed steps, reassigned steps, and failed calls made by checks,
 * critics and planners.
 */
import { defined } from "../Fields.ts"
import type { WorkerErrorReason } from "../task/Worker.ts"
import { withItems } from "./items.ts"
import type { Item } from "./RunEvent.ts"
import type { LostCall, StepRecord, Transcript } from "./Transcript.ts"

/** A step or plan whose worker failed after all retries. */
export interface StepFailure {
  /** Id of the run, or of the nested run that contains the step. */
  readonly runId: string
  readonly round: number
  /** Undefined if the failure concerns the policy's model or the critic. */
  readonly step?: number
  /** The item, if an item of the step failed. */
  readonly item?: Item
  /** Set if the call was made by a check of the step or by the critic, rather than by the step or the policy. */
  readonly by?: "check" | "critic"
  readonly worker: string
  /** Class of the worker's error. Undefined if the step was a nested run that failed. */
  readonly reason?: WorkerErrorReason["_tag"]
  readonly message: string
  /** The worker that took over the step. Undefined if the step failed. */
  readonly reassignedTo?: string
}

type Place = Pick<StepFailure, "runId" | "round">

/** Returns the failure of a call made by a planner, check or critic, unless the call was retried. */
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
 * Returns the failures recorded in a transcript, including those of nested runs, ordered by round and step, as in
 * `RunResult.failures`.
 */
export const failuresOf = ({ rounds, runId }: Pick<Transcript, "rounds" | "runId">): ReadonlyArray<StepFailure> =>
  rounds.flatMap(({ lost, round, steps }) => {
    const place = { runId, round }
    return [...lost.flatMap((call) => ofCall(place, call)), ...withItems(steps).flatMap((step) => ofStep(place, step))]
  })

/** Reasons that may be caused by the plan or the question: an unsuitable worker, too much text, or filtered content. */
const consequences: ReadonlySet<StepFailure["reason"]> = new Set(["ContextTooLong", "ContentFiltered", undefined])

/** Whether the worker was paid for an answer that was empty or malformed. */
const isEmptyAnswer = ({ reason, usage }: LostCall): boolean => reason?._tag === "Malformed" && usage.outputTokens > 0

const isOutage = ({ reason, reassignedTo }: StepFailure): boolean =>
  reassignedTo === undefined && !consequences.has(reason)

/**
 * Returns the failures of a run that are unrelated to the quality of its plan or answer: unavailable vendors, rejected
 * API keys, exhausted quotas, rate limits, network problems, and bugs in worker code. A run with such a failure
 * provides no evidence about its policy, and its answer should not be graded.
 *
 * **Details**
 *
 * Failures that the run recovered from are excluded: another worker took over the step, the step's last check passed,
 * or a later round has steps.
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
  Malformed: "unusable answer",
  InvalidRequest: "cannot handle the request",
  Authentication: "credentials refused",
  Quota: "no quota",
  ContentFiltered: "content filtered",
  ContextTooLong: "context too long",
  Defect: "bug"
}

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`

type Kind = "failed" | "reassigned" | "planner" | "critic" | "check"

const kindOf = ({ by, reassignedTo, step }: Pick<StepFailure, "by" | "step" | "reassignedTo">): Kind =>
  by ?? (reassignedTo !== undefined ? "reassigned" : step === undefined ? "planner" : "failed")

const inWords: { readonly [K in Kind]: (number: number) => string } = {
  failed: (number) => `${count(number, "step")} failed`,
  reassigned: (number) => `${count(number, "step")} reassigned`,
  planner: (number) => `${count(number, "planner call")} failed`,
  critic: (number) => `${count(number, "critic call")} failed`,
  check: (number) => `${count(number, "check call")} failed`
}

/**
 * Summarizes the number of failed steps, plans and checks and of reassigned steps, with the reasons. Returns
 * `undefined` if there were no failures.
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
    failures.map(({ reason, reassignedTo, worker }) => {
      const why = `${worker}: ${reason === undefined ? "failed" : words[reason]}`
      return reassignedTo === undefined ? why : `${why}, taken over by ${reassignedTo}`
    })
  )
  return `${counts.join(", ")} (${[...whys].join("; ")})`
}
