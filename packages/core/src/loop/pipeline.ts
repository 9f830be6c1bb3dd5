/**
 * The middleware of a run, in its order: the only file that names both the kernel and the features. Features that are not
 * configured are left out.
 *
 * The middleware of a call, from the outermost, with the reason for the order of each two neighbours:
 *
 * - `replay` before `fit`: a call is identified by what its caller asked for, so that a run in a journal can be resumed with
 *   another budget, which `fit` depends on.
 * - `fit` before `cache`: the key of a cached answer is taken from the request as it is sent, since the worker's
 *   instructions, the seed and the output limit all change the answer. With a payer the request always has an output limit,
 *   so that the key does not depend on the limits of accounts.
 * - `cache` before `payerReported`: a cached answer is not paid for by the payer.
 * - `payerReported` before `retry`: the payer is notified of each attempt, and of an answer with its failures and the
 *   total time.
 * - `retry` before `meter`: each attempt is charged by itself, and nothing is reserved during the wait between two.
 * - `meter` before `payerCharged`: the run refuses before the payer is asked, and both have reserved before the gate.
 * - `payerCharged` before `gate`: a refused call takes no queue position from others.
 * - `gate` before `timeout`: the time in the queue is not time of the call.
 * - `timeout` before `intent`: the time of a slow journal is time of the call (a choice: no promise depends on it).
 * - `intent` before `send`: an intent is durable before the worker is asked, and not written before the gate is passed.
 *
 * The middleware of a step, from the outermost:
 *
 * - `check` before `reassign`: the answer of a worker that took over is checked, too.
 * - `reassign` before `nested`: the Conductor can take over a step, and a worker can take over from it.
 * - `nested` before `settings`: the Conductor is not a worker: it passes the settings on to the steps of its nested run.
 * - `settings` before `shape` and `tools`: every turn of the step has them, and a notice is reported once.
 * - `nested` before `shape` and `tools`: a nested run has a shape and tools of its own.
 * - `reassign` before `context`: a step whose joined inputs do not fit its worker goes to a worker with a larger context.
 * - `shape` before `tools`: an answer that is asked for again may use tools again (a choice: no promise depends on it).
 * - `tools` before `conversed`: each turn has the results of the turn before it.
 * - `conversed` before `capable`: content that a worker cannot take is left out of the whole conversation.
 *
 * Of a round, `revise` is around `play`, as it needs the results of steps, and `critic` around `close`, as it needs an answer.
 * `approve` is around `carry`, between the plan and its first step.
 *
 * - `approve` before `admit`: the plan that runs must fit the budget when it runs, after it has waited or was edited.
 */

import * as Effect from "effect/Effect"
import type { StepFailure } from "../events/StepFailure.ts"
import type { Transcript } from "../events/Transcript.ts"
import { admit } from "../middleware/admit/admit.ts"
import type { CachedAnswers } from "../middleware/cache/cache.ts"
import { fit } from "../middleware/fit/fit.ts"
import { gate } from "../middleware/gate/gate.ts"
import { reassign } from "../middleware/reassign/reassign.ts"
import type { Before } from "../middleware/replay/charges.ts"
import type { ReplaySettings } from "../middleware/replay/replay.ts"
import { retry } from "../middleware/retry/retry.ts"
import { revise } from "../middleware/revise/revise.ts"
import { timeout } from "../middleware/timeout/timeout.ts"
import { capable } from "../middleware/tools/capable.ts"
import { onDemand } from "../OnDemand.ts"
import type { Payer } from "../run/Budget.ts"
import type { Gate, Retry } from "../run/Resilience.ts"
import type { ResponseCache } from "../run/ResponseCache.ts"
import { hasCells } from "../workflow/program.ts"
import { type CallContext, type CallRun, calling, compose, meter, send } from "./call.ts"
import type { Plan } from "./plan.ts"
import { admitsPlans } from "./price.ts"
import type { Silence } from "./receive.ts"
import { carry, close, play, type Round, roundOf, type State } from "./round.ts"
import type { Conduct } from "./run.ts"
import { conversed, type Step, turn } from "./step.ts"

/** The settings of a run that apply to its calls. */
export interface CallSettings extends ReplaySettings {
  readonly payer: Payer | undefined
  readonly cachedAnswers: CachedAnswers
  readonly retry: Retry
  /** Spreads the retries of runs that have no seed. */
  readonly salt: string
  readonly gate: Gate | undefined
  readonly cache: ResponseCache | undefined
  readonly timeoutMillis: number | undefined
  readonly silence: Silence
  readonly failures: Array<StepFailure>
}

/** Middleware of calls that only some runs have. */
type CallFeatures = typeof import("../middleware/calls.ts")

const withCallFeatures = onDemand(() => import("../middleware/calls.ts"))

/** The way in which a run makes its calls. */
const callOf = (
  run: CallRun,
  settings: CallSettings,
  { cache, intent, payerCharged, payerReported, replay }: CallFeatures
): CallContext["call"] => {
  const { payer, recorded, recording, timeoutMillis } = settings
  const isReplayed = recorded !== undefined || recording !== undefined
  const sent = compose(
    [
      isReplayed ? replay(run, settings) : undefined,
      fit(run.ledger.isLimited || payer !== undefined),
      isReplayed || settings.cache !== undefined ? cache(settings.cache, run, settings.cachedAnswers) : undefined,
      payer?.onPaid && payerReported(payer, run),
      retry(settings.retry, settings.salt),
      meter(run),
      payer && payerCharged(payer, run),
      settings.gate && gate(settings.gate, run),
      timeout(timeoutMillis),
      recording && intent
    ],
    send(run, timeoutMillis, settings.silence)
  )
  return calling(run, sent)
}

/** Creates the context that a run passes to its rounds and steps. */
export const contextOf = (run: CallRun, settings: CallSettings): Effect.Effect<CallContext> => {
  const { cache, failures, gate, payer, recorded, recording } = settings
  const context = (features: CallFeatures) =>
    Effect.sync(() => {
      const call = callOf(run, settings, features)
      return { ...run, payer, call, failures, recorded, recording, gate, cache }
    })
  const isPlain = [recorded, recording, cache, payer].every((feature) => feature === undefined)
  return isPlain ? context(noFeatures) : withCallFeatures(context)
}

/** For runs without such middleware: its use is a mistake of this file, and throws. */
const noFeatures = {} as CallFeatures & StepFeatures

/** Middleware of steps that only some workflows need. */
type StepFeatures = typeof import("../middleware/steps.ts")

const withStepFeatures = onDemand(() => import("../middleware/steps.ts"))

/** The way in which the steps of a workflow are answered. */
export const stepOf = (context: CallContext, plan: Plan): Effect.Effect<Step> => {
  const { delegate, equipment, settings, workflow } = plan
  const { recorded, recording } = context
  const isChecked = workflow.steps.some(({ check }) => check !== undefined)
  const isShaped = equipment.shape !== undefined || workflow.steps.some(({ gives }) => gives !== undefined)
  const isRepeated = isChecked && workflow.steps.some(({ check }) => check?.onFailure === "again")
  const isConversed = isShaped || isRepeated || equipment.tools !== undefined
  const isSet = workflow.steps.some((step) => step.settings !== undefined)
  const step = ({ check, context: fitsContext, nested, settings: settingsOf, shape, tools }: StepFeatures) =>
    Effect.sync(() =>
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

/** Whether a person was asked about a plan of a run. */
const asksForPlans = (transcript: Transcript | undefined): boolean =>
  transcript?.rounds.some(({ decision, waitingFor }) => decision !== undefined || waitingFor !== undefined) === true

/** The way in which the rounds of a run go. */
export const rounding = (state: State): Effect.Effect<Round> => {
  const { approvePlans, critic: judge } = state.options
  // A plan that waited for approval still does when its run is resumed.
  const needsApproval = approvePlans ?? asksForPlans(state.runOptions.resume?.transcript)
  const rounds = ({ approve, critic }: StepFeatures) =>
    Effect.sync(() => {
      const carried = compose(
        [needsApproval ? approve(state) : undefined, admitsPlans(state) ? admit(state) : undefined],
        carry(state)
      )
      return roundOf(
        state,
        compose([revise(state)], play(state, carried)),
        compose([judge && critic(state, judge)], close(state))
      )
    })
  return needsApproval || judge !== undefined ? withStepFeatures(rounds) : rounds(noFeatures)
}

/** Settles what a run whose journal has ended leaves unconfirmed. */
export const settleRest = (before: Before): Effect.Effect<void> =>
  withCallFeatures(({ settleRest }) => settleRest(before))

/** The way in which a run carries out the steps that its policy assigned to the Conductor itself. */
export const delegation = (conduct: Conduct): Effect.Effect<State["delegateOf"]> =>
  withStepFeatures(({ delegation }) => Effect.sync(() => delegation(conduct)))
