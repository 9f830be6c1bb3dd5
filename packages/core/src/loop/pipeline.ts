/**
 * Defines the middleware of a run and its order. This is the only file that imports both the core and the features.
 * Features that are not configured are left out.
 *
 * The middleware of a call, outermost first, with the reason for the order of each pair:
 *
 * - `replay` before `fit`: a call is identified by the caller's original request, so that a journaled run can be
 *   resumed with a different budget. `fit` depends on the budget.
 * - `fit` before `cache`: the cache key is derived from the request as sent, because the worker's instructions, the
 *   seed and the output limit all affect the answer. With a payer, a request always has an output limit, so that the
 *   key does not depend on account limits.
 * - `cache` before `payerReported`: the payer does not pay for cache hits.
 * - `payerReported` before `retry`: the payer is notified of each attempt, and of the answer with its failures and its
 *   total time.
 * - `retry` before `meter`: each attempt is charged separately, and nothing is reserved during the delay between
 *   attempts.
 * - `meter` before `payerCharged`: the run's budget is checked before the payer's, and both amounts are reserved before
 *   the gate.
 * - `payerCharged` before `gate`: a rejected call does not occupy a queue position.
 * - `gate` before `timeout`: time spent in the queue does not count toward the call's time limit.
 * - `timeout` before `intent`: time spent writing to a slow journal counts toward the call's time limit. This is a
 *   choice; no guarantee depends on it.
 * - `intent` before `send`: an intent is durable before the worker is called, and is written only once the gate has
 *   admitted the call.
 *
 * The middleware of a step, outermost first:
 *
 * - `check` before `reassign`: the answer of a worker that took over the step is checked as well.
 * - `reassign` before `nested`: only workers take over steps, and only from workers, so this is a choice; no guarantee
 *   depends on it.
 * - `nested` before `settings`: the Conductor is not a worker. It passes the settings on to the steps of the nested
 *   run.
 * - `settings` before `shape` and `tools`: the settings apply to each turn of the step, and a notice is reported only
 *   once.
 * - `nested` before `shape` and `tools`: a nested run handles its own output format and tools.
 * - `reassign` before `context`: if the joined inputs of a step exceed the worker's context window, the step is
 *   reassigned to a worker with a larger one.
 * - `settings` before `context`, and `context` before `shape`: `context` compares only messages, which the other two
 *   leave unchanged in the first turn. These are choices.
 * - `shape` before `tools`: a repeated answer may use tools again. This is a choice; no guarantee depends on it.
 * - `tools` before `conversed`: each turn includes the tool results of the previous one.
 * - `conversed` before `capable`: content that a worker does not support is removed from the entire conversation.
 *
 * In a round, `revise` wraps `play` because it needs the results of steps, and `critic` wraps `close` because it needs
 * an answer. `approve` wraps `carry`, between the plan and its first step.
 *
 * - `approve` before `admit`: the plan must fit the budget when it starts, after it has been approved or edited.
 */

import * as Effect from "effect/Effect"
import type { StepFailure } from "../events/StepFailure.ts"
import type { Transcript } from "../events/Transcript.ts"
import type { CachedAnswers } from "../middleware/cache/cache.ts"
import { capable, fit } from "../middleware/fit/fit.ts"
import { gate } from "../middleware/gate/gate.ts"
import { reassign } from "../middleware/reassign/reassign.ts"
import type { Before } from "../middleware/replay/charges.ts"
import type { ReplaySettings } from "../middleware/replay/replay.ts"
import { retry } from "../middleware/retry/retry.ts"
import { revise } from "../middleware/revise/revise.ts"
import { timeout } from "../middleware/timeout/timeout.ts"
import { onDemand } from "../OnDemand.ts"
import type { Payer } from "../run/Budget.ts"
import { defaultRetry, type Gate } from "../run/Resilience.ts"
import type { ResponseCache } from "../run/ResponseCache.ts"
import type { RunSettings } from "../run/RunSettings.ts"
import { hasCells } from "../workflow/program.ts"
import { type CallContext, type CallRun, calling, compose, meter, send } from "./call.ts"
import { admitsPlans, type Plan } from "./plan.ts"
import { silenceOf } from "./receive.ts"
import { carry, close, play, type Round, roundOf, type State } from "./round.ts"
import type { Conduct } from "./run.ts"
import { type Step, turn } from "./step.ts"

/** Settings and state of a run that apply to its calls. */
export interface CallSettings extends ReplaySettings {
  readonly options: RunSettings
  readonly payer: Payer | undefined
  readonly cachedAnswers: CachedAnswers
  /** Randomizes the retry delays of runs without a seed. */
  readonly salt: string
  readonly gate: Gate | undefined
  readonly cache: ResponseCache | undefined
  readonly failures: Array<StepFailure>
}

/** Call middleware that only some runs need. */
type CallFeatures = typeof import("../middleware/calls.ts")

const withCallFeatures = onDemand(() => import("../middleware/calls.ts"))

/** Composes the call middleware for a run. */
const callOf = (
  run: CallRun,
  settings: CallSettings,
  { cache, intent, payerCharged, payerReported, replay }: CallFeatures
): CallContext["call"] => {
  const { options, payer, recorded, recording } = settings
  const timeoutMillis = options.worker?.timeoutMillis
  const isReplayed = (recorded ?? recording) !== undefined
  const sent = compose(
    [
      isReplayed ? replay(run, settings) : undefined,
      fit(run.ledger.isLimited || payer !== undefined),
      isReplayed || settings.cache !== undefined ? cache(settings.cache, run, settings.cachedAnswers) : undefined,
      payer?.onPaid && payerReported(payer, run),
      retry(options.retry ?? defaultRetry, settings.salt, run),
      meter(run),
      payer && payerCharged(payer, run),
      settings.gate && gate(settings.gate, run),
      timeout(run, timeoutMillis),
      recording && intent(run)
    ],
    send(run, timeoutMillis, silenceOf(options))
  )
  return calling(run, sent)
}

/** Creates the context that a run passes to its rounds and steps. */
export const contextOf = (run: CallRun, settings: CallSettings): Effect.Effect<CallContext> => {
  const { cache, failures, gate, payer, recorded, recording } = settings
  const context = (features: CallFeatures) => {
    const call = callOf(run, settings, features)
    const isReplayed = (recorded ?? recording) !== undefined
    const recalled = isReplayed ? features.recalling(run, settings) : undefined
    return Effect.succeed({ ...run, payer, call, failures, recorded, recording, recalled, gate, cache })
  }
  return (recorded ?? recording ?? cache ?? payer) === undefined ? context(noFeatures) : withCallFeatures(context)
}

/** Placeholder for runs that need no such middleware. Accessing a feature on it is a bug in this file and throws. */
const noFeatures = {} as CallFeatures & StepFeatures

/** Step middleware that only some workflows need. */
type StepFeatures = typeof import("../middleware/steps.ts")

const withStepFeatures = onDemand(() => import("../middleware/steps.ts"))

/** Composes the step middleware for a workflow. */
export const stepOf = (context: CallContext, plan: Plan): Effect.Effect<Step> => {
  const { delegate, equipment, settings, workflow } = plan
  const { recorded, recording } = context
  const isChecked = workflow.steps.some(({ check }) => check !== undefined)
  const isShaped = equipment.shape !== undefined || workflow.steps.some(({ gives }) => gives !== undefined)
  const isRepeated = isChecked && workflow.steps.some(({ check }) => check?.onFailure === "again")
  const isConversed = isShaped || isRepeated || equipment.tools !== undefined
  const isSet = workflow.steps.some((step) => step.settings !== undefined)
  const step = ({ check, context: fitsContext, conversed, nested, settings: settingsOf, shape, tools }: StepFeatures) =>
    Effect.succeed(
      compose(
        [
          isChecked ? check(context, recorded, plan) : undefined,
          isChecked || settings.reassign !== "never" ? reassign(context, plan) : undefined,
          delegate && nested(plan, delegate),
          isSet ? settingsOf(plan) : undefined,
          hasCells(workflow) ? fitsContext(plan) : undefined,
          isShaped ? shape(context, plan) : undefined,
          equipment.tools && tools(context, recording, plan, equipment.tools),
          isConversed ? conversed(context) : undefined,
          capable(plan)
        ],
        turn(context, plan)
      )
    )
  const isPlain = !isChecked && delegate === undefined && !isSet && !hasCells(workflow) && !isConversed
  return isPlain ? step(noFeatures) : withStepFeatures(step)
}

/** Whether any plan of the run was submitted for approval. */
const asksForPlans = (transcript: Transcript | undefined): boolean =>
  transcript?.rounds.some(({ decision, waitingFor }) => decision !== undefined || waitingFor !== undefined) === true

/** Composes the round middleware for a run. */
export const rounding = (state: State): Effect.Effect<Round> => {
  const { approvePlans, critic: judge } = state.options
  // A plan that was pending approval remains so when its run is resumed.
  const needsApproval = approvePlans ?? asksForPlans(state.runOptions.resume?.transcript)
  const isAdmitted = admitsPlans(state)
  const rounds = ({ admit, approve, critic }: StepFeatures) => {
    const carried = compose(
      [needsApproval ? approve(state) : undefined, isAdmitted ? admit(state) : undefined],
      carry(state)
    )
    const played = revise((asked) => withStepFeatures(({ decide }) => decide(state, asked)))(play(state, carried))
    return Effect.succeed(roundOf(state, played, compose([judge && critic(state, judge)], close(state))))
  }
  return needsApproval || isAdmitted || judge !== undefined ? withStepFeatures(rounds) : rounds(noFeatures)
}

/** Settles the calls that are still unconfirmed when the end of the journal's record is reached. */
export const settleRest = (before: Before): Effect.Effect<void> =>
  withCallFeatures(({ settleRest }) => settleRest(before))

/** Returns the function that runs steps assigned to the Conductor itself. */
export const delegation = (conduct: Conduct): Effect.Effect<State["delegateOf"]> =>
  withStepFeatures(({ delegation }) => Effect.succeed(delegation(conduct)))
