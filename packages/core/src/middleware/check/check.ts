/**
 * Checks a step's answer. If the answer fails, it is requested again, the step is reassigned to the next worker, or the
 * step's dependents are held back.
 */
import * as Effect from "effect/Effect"
import { millisSince, ticks } from "../../Elapsed.ts"
import type { Emit, Item } from "../../events/RunEvent.ts"
import { defined } from "../../Fields.ts"
import type { Recorded } from "../../journal/RecordedRun.ts"
import { refusalOf } from "../../loop/accounts.ts"
import type { Answered, CallContext } from "../../loop/call.ts"
import { handTo, noteFailure, reportTurn } from "../../loop/laterReports.ts"
import { type Numbering, numbering } from "../../loop/numbering.ts"
import type { Plan } from "../../loop/plan.ts"
import { finish } from "../../loop/reports.ts"
import type { StepAsk, StepAt, StepEnd, StepError, StepMiddleware } from "../../loop/step.ts"
import { next as nextWorker } from "../../run/Resilience.ts"
import * as Seed from "../../Seed.ts"
import { type Check, type Checks, isAsking } from "../../task/Check.ts"
import type { Context as CriticContext } from "../../task/Critic.ts"
import { type Objection, objectionTo } from "../../task/objection.ts"
import type { Task } from "../../task/Task.ts"
import type { BudgetExceeded } from "../../task/Usage.ts"
import type { Worker } from "../../task/Worker.ts"
import type { WorkerPool } from "../../task/WorkerPool.ts"
import { defaultTimes } from "../../workflow/program.ts"
import type { Verdict } from "../../workflow/StepMessages.ts"
import type { Step, StepCheck } from "../../workflow/Workflow.ts"

/** State for checking a step. If another worker takes over, its answer is checked as well. */
interface Checking {
  readonly task: Task
  readonly pool: WorkerPool
  readonly checks: Checks
  readonly threshold: number
  readonly round: number
  readonly step: number
  readonly item: Item | undefined
  readonly emit: Emit | undefined
  readonly isReplayed: boolean
  readonly of: Step & { readonly check: StepCheck }
  checked: number
  readonly numbers: Numbering
}

/** Returns the step's check. Workflow validation guarantees that it exists. */
const checkOf = ({ checks, of, pool }: Checking): Check =>
  typeof of.check.by === "string" ? checks[of.check.by]! : pool.workers[of.check.by]!

/** Returns the check's name for the run's record. */
const nameOf = ({ of, pool }: Checking): string =>
  typeof of.check.by === "string" ? of.check.by : pool.workers[of.check.by]!.id

/** Calls a worker on behalf of a check. The call is charged and reported like any other. */
const asking = (context: CallContext, checking: Checking): CriticContext["ask"] => {
  const { emit, isReplayed, item, round, step } = checking
  return (worker, request) =>
    checking.numbers.call({ worker, request }, ({ digest, isNew, sample, turn }) => {
      let given: Answered | undefined
      const onAnswer = (answered: Answered) => {
        given = answered
        const { cached, costUsd, origin, text, usage } = answered
        const place = { round, step, turn, check: nameOf(checking), worker: worker.id }
        emit?.({
          ...defined({ type: "check-answered", ...place, text, cached, origin, request: digest() }),
          usage,
          costUsd
        })
      }
      const at = { round, step, item, by: "check", turn } as const
      const made = context.call({ worker, request, sample, ...at, isNew, isReplayed, onAnswer })
      return Effect.map(noteFailure(context, { round, step, item, by: "check" }, made), () => given!)
    })
}

/** Runs the step's check on its worker's answer and returns the verdict. Recorded verdicts are reused. */
const verdictOf = (
  context: CallContext,
  recorded: Recorded | undefined,
  checking: Checking,
  worker: string,
  { finishReason, text: answer }: Answered
): Effect.Effect<Verdict, BudgetExceeded> =>
  Effect.suspend(() => {
    const { emit, isReplayed, item, of, round, step, task, threshold } = checking
    const check = checkOf(checking)
    const turn = checking.checked++
    const startedAt = ticks(context.clock)
    const known = recorded?.verdict(round, step, turn, item)
    if (known === undefined && isReplayed) return Effect.interrupt
    const checked = { task, subtask: of.subtask, answer, threshold, ask: asking(context, checking) }
    const found =
      finishReason === "refusal"
        ? Effect.succeed<Objection>({ objection: "Its worker declined to answer." })
        : known !== undefined && !isAsking(check)
          ? Effect.succeed(known)
          : objectionTo(check, checked)
    return Effect.map(found, (now) => {
      const { couldNotRun, objection } = known ?? now
      const verdict = defined({ passed: objection === undefined, objection, couldNotRun })
      const durationMillis = millisSince(context.clock, startedAt)
      const told = { type: "step-checked", round, step, turn, check: nameOf(checking), worker } as const
      emit?.({ ...told, ...verdict, durationMillis })
      return verdict
    })
  })

/** Adds the answer and the objection to the conversation, so that the worker can answer again. */
const repeat = (conversation: StepAsk["conversation"], { echo, text }: Answered, objection: string): void => {
  const answer = { role: "assistant" as const, content: text }
  const complaint = `Your answer did not pass its check: ${objection}\nAnswer again, with the whole corrected answer.`
  conversation.turn += 1
  conversation.messages.push(echo === undefined ? answer : { ...answer, echo }, { role: "user", content: complaint })
}

/**
 * Middleware that checks answers. An answer is stored when it is charged, and reported as finished once its check is
 * done.
 */
export const check =
  (context: CallContext, recorded: Recorded | undefined, plan: Plan): StepMiddleware =>
  (next) =>
  (ask, first) => {
    const { checks, mayRevise, pool, round, seed, settings, task, threshold, workflow } = plan
    const { conversation, running, step } = ask
    const { check } = workflow.steps[step]!
    if (check === undefined) return next(ask, first)
    const of = { ...workflow.steps[step]!, check }
    const { emit, isReplayed, item } = running
    const place = { round, step, item, emit, isReplayed, of }
    const sampleOf = (turn: number) => Seed.derive(seed, "check", step, turn, ...(item === undefined ? [] : [item]))
    const numbers = numbering(context, { by: "check", round, step, item }, sampleOf)
    const checking: Checking = { task, pool, checks, threshold, ...place, checked: 0, numbers }
    const since = ticks(context.clock)
    const isAllowed = (worker: Worker) => refusalOf(context, [worker]) === undefined
    const holds = check.onFailure === "revise" && mayRevise
    let given: Answered | undefined

    let again = 0
    const reportGiven = (isUnchecked: boolean) => {
      if (given !== undefined) finish(context, plan, running, given, isUnchecked)
      given = undefined
    }
    const judge = (at: StepAt, end: Extract<StepEnd, { readonly type: "answered" }>): ReturnType<typeof from> => {
      const { ordinal, tried } = end
      const answer = given!
      let stopped: BudgetExceeded | undefined
      const found = Effect.catch(verdictOf(context, recorded, checking, running.worker, answer), (error) => {
        stopped = error
        return Effect.undefined
      })
      return Effect.flatMap(found, (verdict) => {
        const isFailed = verdict?.passed === false
        const other =
          isFailed && check.onFailure === "next" ? nextWorker({ pool, failed: ordinal, tried }, isAllowed) : undefined
        // A nested run is not repeated, because it would only be resumed.
        const isWorker = ordinal < pool.workers.length
        const mayRepeat = isWorker && check.onFailure === "again" && again < (check.times ?? defaultTimes)
        // The verdict remains if a limit stops the step before it has another answer.
        if (isFailed && mayRepeat) {
          ask.judged(verdict, false)
          again += 1
          given = undefined
          const durationMillis = millisSince(context.clock, since) + answer.addedMillis
          reportTurn(plan, ask, running.worker, answer, durationMillis, verdict.objection)
          repeat(conversation, answer, verdict.objection!)
          return from({ ...at, ordinal, tried })
        }
        if (other === undefined) {
          ask.judged(verdict, isFailed && holds)
          reportGiven(false)
          return Effect.succeed({ ...end, stopped })
        }
        ask.judged(verdict, false)
        given = undefined
        const durationMillis = millisSince(context.clock, since) + answer.addedMillis
        // A nested run's answer has been paid for in its own record.
        const reported = ordinal === pool.workers.length ? { ...answer, origin: "nested-run" as const } : answer
        const worker = pool.workers[ordinal]?.id ?? running.worker
        reportTurn(plan, ask, worker, reported, durationMillis, verdict!.objection)
        conversation.turn += 1
        handTo(context, plan, ask, other)
        return from({ ...at, ordinal: other, tried: [...tried, other] })
      })
    }
    const from = (at: StepAt): Effect.Effect<StepEnd, StepError> =>
      Effect.flatMap(next(ask, at), (end) => (end.type === "waiting" ? Effect.succeed(end) : judge(at, end)))

    const onAnswer = (answer: Answered) => {
      given = answer
      ask.keep(answer)
    }
    // If a failed check sends the step to the next worker, so does a missing answer.
    const rule = check.onFailure === "next" && settings.reassign === "never" ? ({ rule: "next" } as const) : undefined
    const failed = Effect.tapError(from({ ...first, ...rule, onAnswer }), (error) =>
      Effect.sync(() => {
        if (error._tag !== "BudgetExceeded") ask.judged({ passed: false, objection: "It has no answer." }, holds)
      })
    )
    // A paid answer is reported even if its check is interrupted.
    return Effect.onError(failed, () => Effect.sync(() => reportGiven(true)))
  }
