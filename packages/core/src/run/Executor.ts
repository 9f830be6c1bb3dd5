/**
 * The executor: runs one workflow over a pool.
 *
 * Its promises, which the tests hold it to by number:
 *
 * 1. A step starts the moment the last step it can see has ended; steps that cannot see each other run at once.
 * 2. A worker sees the user's question, what its access list names, and its own subtask: nothing else.
 * 3. A step whose answer nobody can see and that is not the last is not paid for. This can be turned off.
 * 4. A budget is never exceeded: the worst case of a call is reserved before it starts and settled after it ends.
 * 5. A failed call is retried while a retry can help, then reassigned if the caller allows it. Then, as the caller chose,
 *    the failure ends the run, or is reported to the steps that see it (that of the last step to the next round).
 * 6. Interrupting a run stops its calls at once and still yields the transcript so far.
 * 7. The same seeds and the same answers give the same transcript, event order aside where steps run at once.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { millisSince, ticks } from "../Elapsed.ts"
import { refusalOf } from "../loop/accounts.ts"
import type { Answered, CallContext } from "../loop/call.ts"
import type { Previous } from "../policy/Policy.ts"
import type { WaitingCall } from "../events/RunEvent.ts"
import * as Seed from "../Seed.ts"
import type { Checks } from "../task/Check.ts"
import type { Message } from "../task/Message.ts"
import type { Task } from "../task/Task.ts"
import type { BudgetExceeded } from "../task/Usage.ts"
import type { Worker, WorkerError, WorkerRequest } from "../task/Worker.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import { type StepAnswer, type Verdict, workerMessages } from "../workflow/StepMessages.ts"
import { needed, type Step, type StepCheck, type Workflow } from "../workflow/Workflow.ts"
import { within } from "./carried.ts"
import { type Checking, verdictOf } from "./checking.ts"
import { next, type Reassign, reassign } from "./Resilience.ts"
import type { ToolAccess, WorkerSettings } from "./RunSettings.ts"
import { begin, converse, type Equipment, handOver, tellTurn } from "./StepTurns.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** How steps are run. */
export interface Settings {
  readonly worker: WorkerSettings
  readonly reassign: Reassign
  /** What happens when a step fails for good: the steps that see it are shown the failure, or the run ends. */
  readonly onStepFailure: "report" | "end"
  /** Whether refused credentials end the run, instead of what `reassign` and `onStepFailure` say. */
  readonly onAuthenticationFailure: "report" | "end"
  /** Whether steps whose answer nobody sees are skipped. */
  readonly skipUnseen: boolean
  /** Which steps are given the tools. */
  readonly toolAccess: ToolAccess
}

/** What a step that the Conductor gives to itself may use. */
export interface Offered {
  readonly hasTools: boolean
  readonly isShaped: boolean
}

/**
 * Runs a step that is assigned to the Conductor itself, from the messages that a worker would be sent; gives its answer,
 * or the calls that it waits for.
 */
export type Delegate = (
  step: number,
  messages: ReadonlyArray<Message>,
  offered: Offered
) => Effect.Effect<Answered | ReadonlyArray<WaitingCall>, DelegateError | BudgetExceeded>

/** One workflow about to be run. */
export interface Plan {
  readonly task: Task
  readonly pool: WorkerPool
  readonly workflow: Workflow
  readonly round: number
  readonly previous?: Previous | undefined
  readonly settings: Settings
  /** The seed of this round; it is sent to the workers only when `sendSeed` is set. */
  readonly seed: number
  readonly sendSeed: boolean
  /** Its tools, and the shape of its answer. */
  readonly equipment: Equipment
  /** What its steps are checked by, and the score at which a critic among them is content. */
  readonly checks: Checks
  readonly threshold: number
  /** Whether another round may begin early: otherwise a failed check keeps nothing waiting. */
  readonly mayRevise: boolean
  /** Present when the Conductor is a worker of its own pool. */
  readonly delegate?: Delegate | undefined
}

/** The results of a workflow so far. */
export interface Results {
  /** By step; `undefined` where there is no result yet. */
  readonly answers: ReadonlyArray<StepAnswer | undefined>
  /** By step; `undefined` for one that was not checked. */
  readonly verdicts: ReadonlyArray<Verdict | undefined>
  /** The steps that failed their checks and hold back those that see them, until it is known what becomes of them. */
  readonly held: ReadonlyArray<number>
  /** The limit that kept a step from being run. */
  readonly stopped: BudgetExceeded | undefined
  /** The tool calls that steps wait for. */
  readonly waitingFor: ReadonlyArray<WaitingCall>
}

/** A workflow that is being run. */
export interface Execution {
  /**
   * Runs it. It fails only when a step fails and the settings say that this ends the run. A step that does not fit the
   * budget is skipped with all that wait for it; steps already running go on, as they are paid for. A step that fails a
   * check keeps those that see it waiting; all others go on.
   */
  readonly run: Effect.Effect<void, StepFailure>
  /** Goes on with what was held back. */
  readonly goOn: Effect.Effect<void, StepFailure>
  /** Tells of the steps that were held back that they are not run. */
  readonly skipHeld: (reason: "budget" | "revised") => void
  /** The results so far, also after `run` has failed or was interrupted. */
  readonly results: () => Results
}

type StepFailure = WorkerError | DelegateError

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** The answering step gave no answer. */
export class StepFailed extends Data.TaggedError("StepFailed")<{
  readonly step: number
  readonly detail: string
  /** The error of its worker. */
  readonly cause?: unknown
}> {
  override get message(): string {
    return `Step ${this.step}, which answers, failed: ${this.detail}`
  }
}

/** The nested run of a step gave no answer. */
export class DelegateError extends Data.TaggedError("DelegateError")<{ readonly detail: string }> {
  override get message(): string {
    return `The nested run gave no answer: ${this.detail}`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Execute
// -------------------------------------------------------------------------------------------------------------------

/** The steps to run; `undefined` for all of them. */
const wantedOf = (workflow: Workflow, skipUnseen: boolean): ReadonlySet<number> | undefined => {
  if (!skipUnseen) return undefined
  const wanted = needed(workflow)
  return wanted.size === workflow.steps.length ? undefined : wanted
}

/** The workers of the steps to run, and those that check them. */
export const workersOf = ({
  checks,
  pool,
  workflow,
  settings
}: Pick<Plan, "checks" | "pool" | "workflow" | "settings">): ReadonlyArray<Worker> => {
  const wanted = wantedOf(workflow, settings.skipUnseen)
  return workflow.steps.flatMap(({ check, worker }, step) => {
    if (wanted !== undefined && !wanted.has(step)) return []
    const own = pool.workers[worker]
    return [...(own === undefined ? [] : [own]), ...(check === undefined ? [] : checkersOf(check, checks, pool))]
  })
}

/** The workers that a check asks. */
const checkersOf = ({ by }: StepCheck, checks: Checks, pool: WorkerPool): ReadonlyArray<Worker> => {
  const check = typeof by === "string" ? checks[by] : pool.workers[by]
  if (check === undefined || typeof check === "function") return []
  if ("generate" in check) return [check]
  return "score" in check ? (check.workers ?? []) : []
}

const sees = ({ access }: Step, step: number): boolean => access === "all" || access.includes(step)

/** The Conductor is called `self` as a worker of its own pool. */
const workerName = ({ pool }: Plan, ordinal: number): string => pool.workers[ordinal]?.id ?? "self"

/** Prepares to run a workflow; its steps emit events. */
export const make = (context: CallContext, plan: Plan): Execution => {
  const { emit } = context
  const { round, settings, workflow } = plan
  const { steps } = workflow
  const wanted = wantedOf(workflow, settings.skipUnseen)
  const isWanted = (step: number) => wanted === undefined || wanted.has(step)
  /** How many steps each still waits for. A wanted step sees only wanted ones. */
  const waitsFor = steps.map(({ access }, step) => (access === "all" ? step : access.length))
  const answers: Array<StepAnswer | undefined> = steps.map(() => undefined)
  const waitingFor: Array<WaitingCall> = []
  const verdicts: Array<Verdict | undefined> = []
  let held: ReadonlyArray<number> = []
  let stopped: BudgetExceeded | undefined

  const skip = (step: number, reason: "unseen" | "budget" | "revised") =>
    emit?.({ type: "step-skipped", round, step, worker: workerName(plan, steps[step]!.worker), reason })

  const released = (step: number): Array<number> => {
    const ready: Array<number> = []
    for (let later = step + 1; later < steps.length; later++) {
      if (!isWanted(later) || !sees(steps[later]!, step)) continue
      waitsFor[later]! -= 1
      if (waitsFor[later] === 0) ready.push(later)
    }
    return ready
  }

  // The last of a step's dependencies to end runs that step in its own fiber: no barrier, no new fiber for a chain.
  const drive = (ready: ReadonlyArray<number>): Effect.Effect<void, StepFailure> => {
    if (ready.length === 0) return Effect.void
    if (ready.length === 1) return one(ready[0]!)
    return Effect.forEach(ready, one, { concurrency: "unbounded", discard: true })
  }

  /** A step has ended: those that wait for it alone are run, unless it failed a check that calls for a revision. */
  const settled = (step: number): Effect.Effect<void, StepFailure> => {
    const { check } = steps[step]!
    if (check === undefined || stopped !== undefined) return drive(released(step))
    const isHeld = verdicts[step]?.passed === false && check.onFailure === "revise" && plan.mayRevise
    if (!isHeld) return drive(released(step))
    held = [...held, step]
    return Effect.void
  }

  const one = (step: number): Effect.Effect<void, StepFailure> =>
    Effect.suspend(() => {
      if (stopped !== undefined) {
        skip(step, "budget")
        return drive(released(step))
      }
      const running = start(context, plan, step)
      const { check } = steps[step]!
      const onAnswer = (answer: Answered) => {
        const { finishReason, text } = answer
        answers[step] =
          finishReason === "refusal" ? { type: "refused", text, worker: running.worker } : { type: "answered", text }
        if (check === undefined) finish(context, plan, running, answer)
        else running.given = answer
      }
      const part = { type: "step", runId: context.runId, step } as const
      const asked = within(context, part, ask(context, plan, answers, running, onAnswer))
      return Effect.matchEffect(asked, {
        onSuccess: (waiting) => {
          if (waiting.length === 0) {
            if (check !== undefined) verdicts[step] = running.verdict
            stopped ??= running.stopped
            return settled(step)
          }
          // Those that see it wait with it; the others go on.
          waitingFor.push(...waiting)
          emit?.({ type: "step-waiting", round, step, worker: running.worker, calls: waiting })
          return Effect.void
        },
        onFailure: (error) => {
          answers[step] = { type: "failed", message: error.message, cause: error }
          fail(context, plan, running, error)
          if (error._tag === "BudgetExceeded") stopped ??= error
          else if (settings.onStepFailure === "end" || isFatal(settings, error)) return Effect.fail(error)
          else if (check !== undefined) verdicts[step] = { passed: false, objection: "It gave no answer." }
          return settled(step)
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

const mayCall = (access: ToolAccess, isLast: boolean, { tools }: Step): boolean => {
  if (access === "policy") return tools === true
  return access === "every-step" || (access === "last-step" && isLast)
}

/** What a step is given: the answer's shape where its answer may be the run's, and the tools where it may call them. */
const offeredTo = ({ equipment, settings, workflow }: Plan, step: number): Offered => {
  const isLast = step === workflow.steps.length - 1
  return {
    hasTools: equipment.tools !== undefined && mayCall(settings.toolAccess, isLast, workflow.steps[step]!),
    isShaped: equipment.shape !== undefined && (isLast || workflow.answer === "majority")
  }
}

const isWaiting = (given: Answered | ReadonlyArray<WaitingCall>): given is ReadonlyArray<WaitingCall> =>
  Array.isArray(given)

/** The calls that a step waits for; none where it has answered. */
type Asked = Effect.Effect<ReadonlyArray<WaitingCall>, StepFailure | BudgetExceeded>

/** Asks a worker, after those that were tried. */
type From = (at: number, tried: ReadonlyArray<number>) => Asked

type StepAnswers = ReadonlyArray<StepAnswer | undefined>

/** A step that is being answered. One small object, as there are many at once. */
interface Running {
  readonly step: number
  /** By the monotonic clock. */
  readonly startedAt: number
  /** Who answers it: another once it was reassigned. */
  worker: string
  /** Of a step with a check: what its worker said, what the check found, and the limit that kept it from being run. */
  given?: Answered
  verdict?: Verdict | undefined
  stopped?: BudgetExceeded
}

const start = ({ clock, emit }: CallContext, plan: Plan, step: number): Running => {
  const worker = workerName(plan, plan.workflow.steps[step]!.worker)
  emit?.({ type: "step-started", round: plan.round, step, worker })
  return { step, startedAt: ticks(clock), worker }
}

const finish = (
  { clock, emit }: CallContext,
  { round }: Plan,
  { startedAt, step, worker }: Running,
  given: Answered,
  isUnchecked = false
) => {
  const { addedMillis, cached, costUsd, finishReason, model, text: answer, usage } = given
  const durationMillis = millisSince(clock, startedAt) + addedMillis
  const said = { answer, finishReason, ...(model === undefined ? undefined : { model }) }
  const unchecked = isUnchecked ? ({ isUnchecked } as const) : undefined
  emit?.({ type: "step-finished", round, step, worker, ...said, durationMillis, cached, ...unchecked, usage, costUsd })
}

/** Whether a failure ends the run whatever is done about others: wrong credentials stay wrong for every step. */
const isFatal = ({ onAuthenticationFailure }: Settings, error: StepFailure | BudgetExceeded): boolean =>
  onAuthenticationFailure === "end" && error._tag === "WorkerError" && error.reason._tag === "Authentication"

const fail = (
  { clock, emit, failures, runId }: CallContext,
  { round }: Plan,
  { startedAt, step, worker }: Running,
  error: StepFailure | BudgetExceeded
) => {
  const { message } = error
  const why = error._tag === "WorkerError" ? { reason: error.reason._tag, message } : { message }
  // A limit is no fault of the worker's.
  if (error._tag !== "BudgetExceeded") failures.push({ runId, round, step, worker, ...why })
  emit?.({ type: "step-failed", round, step, worker, ...why, durationMillis: millisSince(clock, startedAt) })
}

/** Asks the worker of a step, and those that take over from it. */
const ask = (
  context: CallContext,
  plan: Plan,
  answers: StepAnswers,
  running: Running,
  onAnswer: (answer: Answered) => void
): Asked => {
  const { delegate, equipment, pool, previous, round, seed, settings, task, workflow } = plan
  const { step } = running
  const { check, worker: ordinal } = workflow.steps[step]!
  const messages = workerMessages({ task, workflow, step, answers, previous })
  const offered = offeredTo(plan, step)
  const { hasTools, isShaped } = offered
  const sample = Seed.derive(seed, step)
  const { maxOutputTokens, preferences, reasoning, temperature } = settings.worker
  const request: WorkerRequest = {
    messages,
    maxOutputTokens,
    temperature,
    reasoning,
    preferences,
    seed: plan.sendSeed ? sample : undefined
  }
  const { emit } = context
  const onDelta =
    emit && ((kind: "text" | "reasoning", text: string) => emit({ type: "step-delta", round, step, kind, text }))

  const conversation = begin()
  const once = (at: number): Asked =>
    at === pool.workers.length && delegate !== undefined
      ? Effect.map(delegate(step, messages, offered), (given) => {
          if (isWaiting(given)) return given
          onAnswer(given)
          return []
        })
      : converse(context, {
          worker: pool.workers[at]!,
          request,
          sample,
          round,
          step,
          equipment,
          hasTools,
          isShaped,
          conversation,
          onDelta,
          onAnswer
        })
  if (check === undefined && settings.reassign === "never") return once(ordinal)
  const handTo = (ordinal: number, error?: WorkerError) => {
    const { id: to } = pool.workers[ordinal]!
    const { worker: from } = running
    const why = error && { reason: error.reason._tag, message: error.message }
    if (why !== undefined) {
      context.failures.push({ runId: context.runId, round, step, worker: from, ...why, reassignedTo: to })
    }
    emit?.({ type: "step-reassigned", round, step, from, to, ...why })
    running.worker = to
    handOver(conversation)
  }
  const isAllowed = (worker: Worker) => refusalOf(context, [worker]) === undefined
  // A step that goes to the next worker where its check fails goes there without an answer, too.
  const rule = check?.onFailure === "next" && settings.reassign === "never" ? "next" : settings.reassign
  const onError =
    (at: number, tried: ReadonlyArray<number>, from: From) =>
    (error: StepFailure | BudgetExceeded): Asked => {
      if (error._tag !== "WorkerError" || rule === "never" || isFatal(settings, error)) return Effect.fail(error)
      return Effect.flatMap(reassign(rule, { pool, failed: at, tried, error }, isAllowed), (other): Asked => {
        if (other === undefined) return Effect.fail(error)
        handTo(other, error)
        return from(other, [...tried, other])
      })
    }
  if (check === undefined) {
    const from: From = (at, tried) => Effect.catch(once(at), onError(at, tried, from))
    return from(ordinal, [ordinal])
  }

  const checking = checkingOf(plan, step, check)
  const since = ticks(context.clock)
  const tellGiven = (isUnchecked: boolean) => {
    if (running.given !== undefined) finish(context, plan, running, running.given, isUnchecked)
    delete running.given
  }
  const checked = (at: number, tried: ReadonlyArray<number>): Asked => {
    const given = running.given!
    const found = Effect.catch(verdictOf(context, checking, running.worker, given), (error) => {
      running.stopped = error
      return Effect.undefined
    })
    return Effect.flatMap(found, (verdict) => {
      running.verdict = verdict
      const other =
        verdict?.passed === false && check.onFailure === "next"
          ? next({ pool, failed: at, tried }, isAllowed)
          : undefined
      if (other === undefined) {
        tellGiven(false)
        return Effect.succeed([])
      }
      delete running.given
      const worker = pool.workers[at] ?? { id: running.worker }
      const durationMillis = millisSince(context.clock, since) + given.addedMillis
      // The answer of a nested run is paid in its own record.
      const told = at === pool.workers.length ? { ...given, cached: true } : given
      tellTurn(context, { conversation, round, step, worker }, told, durationMillis, verdict!.objection)
      conversation.turn += 1
      handTo(other)
      return from(other, [...tried, other])
    })
  }
  const from: From = (at, tried) =>
    Effect.matchEffect(once(at), {
      onSuccess: (waiting) => (waiting.length > 0 ? Effect.succeed(waiting) : checked(at, tried)),
      onFailure: onError(at, tried, (other, all) => from(other, all))
    })
  // What was paid for is told, wherever its check is interrupted.
  return Effect.onError(from(ordinal, [ordinal]), () => Effect.sync(() => tellGiven(true)))
}

const checkingOf = ({ checks, pool, round, seed, task, threshold, workflow }: Plan, step: number, check: StepCheck) => {
  const of = { ...workflow.steps[step]!, check }
  const checking: Checking = { task, pool, checks, threshold, seed, round, step, of, checked: 0, asked: 0 }
  return checking
}
