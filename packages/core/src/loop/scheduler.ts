/**
 * The scheduler: runs the steps of a workflow, each as soon as its inputs are available.
 *
 * Its guarantees, referenced by number in the tests:
 *
 * 1. A step starts as soon as the last step in its access list has ended. Independent steps run concurrently.
 * 2. A worker sees only the user's question, the answers in its access list, and its own subtask.
 * 3. A step is skipped if its answer is not used, unless it is the last step. This can be disabled.
 * 4. A budget is never exceeded: each call's worst case is reserved before the call starts and settled after it ends.
 * 5. A failed call is retried as long as a retry can help, and then reassigned if the caller allows it. After that,
 *    depending on the settings, the failure either ends the run or is reported to the steps that depend on it (for the
 *    last step, to the next round).
 * 6. Interrupting a run stops its calls immediately and preserves the transcript up to that point.
 * 7. The same seeds and answers yield the same transcript, except for the order of events of concurrent steps.
 */
import * as Effect from "effect/Effect"
import type { WaitingCall } from "../events/RunEvent.ts"
import { onDemand } from "../OnDemand.ts"
import { within } from "../run/Caller.ts"
import type { BudgetExceeded } from "../task/Usage.ts"
import { hasCells } from "../workflow/program.ts"
import type { StepAnswer, Verdict } from "../workflow/StepMessages.ts"
import type { Workflow } from "../workflow/Workflow.ts"
import type { Answered, CallContext } from "./call.ts"
import type { Plan } from "./plan.ts"
import { fail, start, workerName } from "./reports.ts"
import { failedAnswer } from "./reserved.ts"
import { answering, isFatal, type Running, type Step, type StepFailure } from "./step.ts"

/** The current results of a workflow. */
export interface Results {
  /** Results by step. `undefined` for steps without a result. */
  readonly answers: ReadonlyArray<StepAnswer | undefined>
  /** Check verdicts by step. `undefined` for steps that have not been checked. */
  readonly verdicts: ReadonlyArray<Verdict | undefined>
  /** Steps that failed their checks. Their dependents are held back until the policy decides. */
  readonly held: ReadonlyArray<number>
  /** The limit that prevented a step from running. */
  readonly stopped: BudgetExceeded | undefined
  /** Tool calls that steps are waiting for. */
  readonly waitingFor: ReadonlyArray<WaitingCall>
}

/** A workflow in execution. */
export interface Execution {
  /**
   * Runs the workflow. Fails only if a step fails and the settings require the run to end. If a step exceeds the
   * budget, it is skipped along with its dependents; running steps continue, because they have been paid for. If a step
   * fails its check, its dependents wait and all other steps continue.
   */
  readonly run: Effect.Effect<void, StepFailure>
  /** Resumes the steps that were held back. */
  readonly goOn: Effect.Effect<void, StepFailure>
  /** Reports that the steps that were held back will not run. */
  readonly skipHeld: (reason: "budget" | "revised") => void
  /** Returns the current results, even if `run` has failed or was interrupted. */
  readonly results: () => Results
}

/** Prepares a workflow to run. */
export const schedule = (context: CallContext, plan: Plan, answer: Step): Effect.Effect<Execution> =>
  hasCells(plan.workflow)
    ? withPrograms(({ scheduleProgram }) => Effect.succeed(scheduleProgram(context, plan, answer)))
    : Effect.succeed(scheduleSteps(context, plan, answer))

const withPrograms = onDemand(() => import("./programScheduler.ts"))

/** The waiting steps, by the step that they wait for, and those that wait for all earlier steps. */
interface Waiting {
  readonly byStep: ReadonlyArray<ReadonlyArray<number> | undefined>
  readonly forAll: ReadonlyArray<number>
}

const waitingIn = ({ steps }: Workflow, isWanted: (step: number) => boolean): Waiting => {
  const byStep: Array<Array<number> | undefined> = []
  const forAll: Array<number> = []
  for (let later = 1; later < steps.length; later++) {
    if (!isWanted(later)) continue
    const { access } = steps[later]!
    if (access === "all") {
      forAll.push(later)
      continue
    }
    for (const step of access) {
      const known = byStep[step]
      if (known === undefined) byStep[step] = [later]
      else known.push(later)
    }
  }
  return { byStep, forAll }
}

/** Prepares a workflow whose steps run once and unconditionally. Counters determine the order of its steps. */
const scheduleSteps = (context: CallContext, plan: Plan, answer: Step): Execution => {
  const { emit } = context
  const { round, settings, wanted, workflow } = plan
  const { steps } = workflow
  const isWanted = (step: number) => wanted === undefined || wanted.has(step)
  const { byStep, forAll } = waitingIn(workflow, isWanted)
  /** Number of steps that each step is still waiting for. Only inputs that run are counted. */
  const waitsFor = steps.map(({ access }, step) => (access === "all" ? step : access.length))
  const answers: Array<StepAnswer | undefined> = steps.map(() => undefined)
  const view = { answers }
  const answerStep = answering(context, plan, answer)
  const waitingFor: Array<WaitingCall> = []
  const verdicts: Array<Verdict | undefined> = []
  let held: ReadonlyArray<number> = []
  let stopped: BudgetExceeded | undefined

  const skip = (step: number, reason: "unseen" | "budget" | "revised") =>
    emit?.({ type: "step-skipped", round, step, worker: workerName(plan, steps[step]!.worker), reason })

  const released = (step: number): Array<number> => {
    const ready: Array<number> = []
    const end = (later: number) => {
      waitsFor[later]! -= 1
      if (waitsFor[later] === 0) ready.push(later)
    }
    byStep[step]?.forEach(end)
    if (forAll.length === 0) return ready
    for (const later of forAll) if (later > step) end(later)
    return ready.sort((one, other) => one - other)
  }

  // A step runs in the fiber of its last dependency to end, so no barrier is needed, and a chain needs no additional
  // fibers.
  const drive = (ready: ReadonlyArray<number>): Effect.Effect<void, StepFailure> => {
    if (ready.length === 0) return Effect.void
    if (ready.length === 1) return one(ready[0]!)
    return Effect.forEach(ready, one, { concurrency: "unbounded", discard: true })
  }

  /** Handles the end of a step: runs the steps that were waiting only for it, unless it holds them back. */
  const settled = ({ holds, step }: Running): Effect.Effect<void, StepFailure> => {
    if (!holds || stopped !== undefined) return drive(released(step))
    held = [...held, step]
    return Effect.void
  }

  const one = (step: number): Effect.Effect<void, StepFailure> =>
    Effect.suspend(() => {
      const isKept = step === plan.kept?.step
      if (stopped !== undefined && !isKept) {
        skip(step, "budget")
        return drive(released(step))
      }
      if (isKept) plan.kept!.release()
      const running = start(context, plan, step)
      running.isLimited = stopped !== undefined
      const keep = ({ finishReason, text }: Answered) => {
        answers[step] =
          finishReason === "refusal" ? { type: "refused", text, worker: running.worker } : { type: "answered", text }
      }
      const judged = (verdict: Verdict | undefined, holds: boolean) => {
        verdicts[step] = verdict
        running.holds = holds
      }
      const answered = answerStep(view, running, { keep, judged })
      const asked = within(context, { type: "step", runId: context.runId, step }, answered)
      return Effect.matchEffect(asked, {
        onSuccess: (end) => {
          if (end.type === "answered") {
            stopped ??= end.stopped
            return settled(running)
          }
          // Steps that see it are suspended along with it; all others continue.
          waitingFor.push(...end.calls)
          emit?.({ type: "step-waiting", round, step, worker: running.worker, calls: end.calls })
          return Effect.void
        },
        onFailure: (error) => {
          answers[step] = failedAnswer(plan, error, answers[step])
          fail(context, plan, running, error)
          if (error._tag === "BudgetExceeded") stopped ??= error
          else if (settings.onStepFailure === "end" || isFatal(settings, error)) return Effect.fail(error)
          return settled(running)
        }
      })
    })

  return {
    run: Effect.suspend(() => {
      const ready: Array<number> = []
      for (let step = 0; step < steps.length; step++) {
        if (!isWanted(step)) skip(step, "unseen")
        else if (waitsFor[step] === 0) ready.push(step)
      }
      return drive(ready)
    }),
    goOn: Effect.suspend(() => {
      const ready = held.flatMap(released)
      held = []
      return drive(ready)
    }),
    skipHeld: (reason) => {
      let ready = held.flatMap(released)
      held = []
      for (; ready.length > 0; ready = ready.flatMap(released)) for (const step of ready) skip(step, reason)
    },
    results: () => ({ answers, verdicts, held, stopped, waitingFor })
  }
}
