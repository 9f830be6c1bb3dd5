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
 * - `nested` before `shape` and `tools`: a nested run has a shape and tools of its own.
 * - `shape` before `tools`: an answer that is asked for again may use tools again (a choice: no promise depends on it).
 * - `tools` before `conversed`: each turn has the results of the turn before it.
 * - `conversed` before `capable`: content that a worker cannot take is left out of the whole conversation.
 *
 * Of a round, `revise` is around `play`, as it needs the results of steps, and `critic` around `close`, as it needs an answer.
 */

import type { StepFailure } from "../events/StepFailure.ts"
import { type CachedAnswers, cache } from "../middleware/cache/cache.ts"
import { check } from "../middleware/check/check.ts"
import { critic } from "../middleware/critic/critic.ts"
import { fit } from "../middleware/fit/fit.ts"
import { gate } from "../middleware/gate/gate.ts"
import { intent } from "../middleware/intent/intent.ts"
import { delegation, nested } from "../middleware/nested/nested.ts"
import { payerCharged, payerReported } from "../middleware/payer/payer.ts"
import { reassign } from "../middleware/reassign/reassign.ts"
import { type ReplaySettings, replay } from "../middleware/replay/replay.ts"
import { retry } from "../middleware/retry/retry.ts"
import { revise } from "../middleware/revise/revise.ts"
import { shape } from "../middleware/shape/shape.ts"
import { timeout } from "../middleware/timeout/timeout.ts"
import { capable, tools } from "../middleware/tools/tools.ts"
import type { Payer } from "../run/Budget.ts"
import type { Gate, Retry } from "../run/Resilience.ts"
import type { ResponseCache } from "../run/ResponseCache.ts"
import { type CallContext, type CallRun, calling, compose, meter, send } from "./call.ts"
import type { Plan } from "./plan.ts"
import type { Silence } from "./receive.ts"
import { close, play, type Round, roundOf, type State } from "./round.ts"
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

/** The way in which a run makes its calls. */
const callOf = (run: CallRun, settings: CallSettings): CallContext["call"] => {
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
      timeoutMillis === undefined ? undefined : timeout(timeoutMillis),
      recording && intent
    ],
    send(run, timeoutMillis, settings.silence)
  )
  return calling(run, sent)
}

/** Creates the context that a run passes to its rounds and steps. */
export const contextOf = (run: CallRun, settings: CallSettings): CallContext => {
  const { cache, failures, gate, payer, recorded, recording } = settings
  return { ...run, payer, call: callOf(run, settings), failures, recorded, recording, gate, cache }
}

/** The way in which the steps of a workflow are answered. */
export const stepOf = (context: CallContext, plan: Plan): Step => {
  const { delegate, equipment, settings, workflow } = plan
  const { recorded, recording } = context
  const isChecked = workflow.steps.some(({ check }) => check !== undefined)
  const isConversed = equipment.shape !== undefined || equipment.tools !== undefined
  return compose(
    [
      isChecked ? check(context, recorded, plan) : undefined,
      isChecked || settings.reassign !== "never" ? reassign(context, plan) : undefined,
      delegate && nested(plan, delegate),
      equipment.shape && shape(context, plan, equipment.shape),
      equipment.tools && tools(context, recording, plan, equipment.tools),
      isConversed ? conversed(context) : undefined,
      capable(context, plan)
    ],
    turn(context, plan)
  )
}

/** The way in which the rounds of a run go. */
export const rounding = (state: State): Round => {
  const { critic: judge } = state.options
  return roundOf(state, compose([revise(state)], play(state)), compose([judge && critic(state, judge)], close(state)))
}

export { settleRest } from "../middleware/replay/charges.ts"
export { delegation }
