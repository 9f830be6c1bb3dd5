/** The loop of a run: propose, check, execute, grade, repeat; and the events of its beginning and end. */

import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { settle } from "../Callback.ts"
import { ticks } from "../Elapsed.ts"
import * as RunEvent from "../events/RunEvent.ts"
import { payments, type Transcript } from "../events/Transcript.ts"
import { defined } from "../Fields.ts"
import { isLimited, neededOf, refusalOf } from "../loop/accounts.ts"
import type { Answered, CallContext, CallRun } from "../loop/call.ts"
import { noteFailure } from "../loop/call.ts"
import { contextOf, stepOf } from "../loop/pipeline.ts"
import * as Plan from "../loop/plan.ts"
import { silenceOf } from "../loop/receive.ts"
import * as Scheduler from "../loop/scheduler.ts"
import * as Step from "../loop/step.ts"
import { settleRest } from "../middleware/replay/charges.ts"
import * as DefaultPolicy from "../policy/DefaultPolicy.ts"
import type * as Policy from "../policy/Policy.ts"
import * as Seed from "../Seed.ts"
import type * as Critic from "../task/Critic.ts"
import type { ShapeError } from "../task/compileShape.ts"
import type { GraderError } from "../task/Grader.ts"
import type * as Task from "../task/Task.ts"
import * as Usage from "../task/Usage.ts"
import { noUsage } from "../task/Usage.ts"
import type { Refusal, WorkerError } from "../task/Worker.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import { spansOf } from "../telemetry/ActiveSpans.ts"
import type { PastRound } from "../workflow/StepMessages.ts"
import * as Workflow from "../workflow/Workflow.ts"
import { answerOf, bestSoFar, failureOf, workersOf } from "./answers.ts"
import * as Budget from "./Budget.ts"
import { Caller } from "./Caller.ts"
import type { Options, Past, Round, RunOptions, RunResult } from "./Conductor.ts"
import { isCarrying, within } from "./carried.ts"
import { completing } from "./completing.ts"
import type { Equipment } from "./Equipment.ts"
import { equipmentOf, ready, recordedOf, toolNamesOf, type Unsupported } from "./Equipment.ts"
import { finished, isOver, withValue } from "./ending.ts"
import { hearing } from "./hearing.ts"
import * as Journaled from "./journaled.ts"
import {
  checksOf,
  objections,
  previousOf,
  propose,
  proposed,
  type Revised,
  type Revision,
  revise,
  textOf
} from "./planning.ts"
import * as Resilience from "./Resilience.ts"
import { ResponseCache } from "./ResponseCache.ts"
import type { RunSettings } from "./RunSettings.ts"
import { checkedGrade } from "./shapes.ts"
import * as Toolbox from "./Toolbox.ts"

/** What ends a run without an answer. */
export type RunError =
  | Policy.PolicyError
  | Scheduler.StepFailed
  | Refusal
  | Step.DelegateError
  | WorkerError
  | GraderError
  | Usage.BudgetExceeded
  | ShapeError
  | Unsupported

/** The run that a nested run belongs to. */
interface Nesting {
  readonly parent: RunEvent.Parent
  readonly depth: number
  readonly context: CallContext
  /** Where the nested run stands: before the ids of its waiting calls. */
  readonly path: string
  readonly toolNames: ReadonlyArray<string>
}

/** The state of a run. */
export interface State {
  readonly runId: string
  readonly options: Options
  readonly runOptions: RunOptions
  readonly task: Task.Task
  readonly pool: WorkerPool
  readonly policy: Policy.Policy
  readonly context: CallContext
  readonly seed: number
  readonly sendSeed: boolean
  readonly depth: number
  readonly rounds: Array<Round>
  /** What came of the steps of the rounds, those that were confirmed included. */
  readonly past: Array<PastRound>
  /** How many more rounds may follow the end of one, and how many may begin early. */
  recursion: number
  revisions: number
  /** What the policy wrote as it planned anew: the next round begins with it. */
  revised: Revised | undefined
  /** The tools that its policy sees: those with which it began. */
  readonly toolNames: ReadonlyArray<string>
  /** What its workers are offered; made ready before the first round. */
  equipment: Equipment
  /** The tool calls that it waits for. */
  waitingFor: ReadonlyArray<RunEvent.WaitingCall>
  /** The workflow that runs now. */
  current: { readonly workflow: Workflow.Workflow; readonly execution: Scheduler.Execution } | undefined
  /** The limit that stopped it. */
  stopped: Usage.BudgetExceeded | undefined
}

/** Runs a task to its end, however it ends. `onResult` gets the result of an interrupted run, too. */
export const conduct = <A = unknown>(
  options: Options,
  task: Task.Task,
  given: RunOptions<A>,
  nesting?: Nesting,
  onResult?: (result: RunResult<A>) => void
): Effect.Effect<RunResult<A>> =>
  // The value of a result is what the shape of the output decodes to, and so of its type.
  conductUntyped(options, task, given, nesting, onResult as ((result: RunResult) => void) | undefined) as Effect.Effect<
    RunResult<A>
  >

const conductUntyped = (
  options: Options,
  task: Task.Task,
  given: RunOptions,
  nesting?: Nesting,
  onResult?: (result: RunResult) => void
): Effect.Effect<RunResult> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const runOptions = nesting === undefined ? withTelemetry(given) : given
      const clock = nesting?.context.clock ?? (yield* Clock.Clock)
      const seed = runOptions.seed ?? options.seed
      const runId = runOptions.runId ?? crypto.randomUUID()
      const wrong = nesting === undefined ? Journaled.wrongId(runId) : undefined
      if (wrong !== undefined) {
        const result = Journaled.unusable(runId, wrong)
        onResult?.(result)
        return result
      }
      const pool = runOptions.pool ?? options.pool
      const heard = runOptions.listener && hearing(runId, runOptions.listener)
      const tools = nesting?.toolNames ?? toolNamesOf(options, runOptions)
      const journaled =
        nesting === undefined
          ? yield* Journaled.begin(runOptions, { runId, seed, tools, listener: heard?.listener, task })
          : undefined
      if (journaled?._tag === "Over") {
        const result = yield* valued(journaled.result, runOptions.output)
        onResult?.(result)
        return result
      }
      const recording = nesting === undefined ? journaled?.recording : nesting.context.recording
      const listener = journaled?.recording.listener ?? heard?.listener
      const resume = pastOf(runOptions, journaled?.before)
      const caller = nesting === undefined ? yield* Caller : nesting.context.caller
      const ledger = Budget.make(nesting === undefined ? options.budget : undefined, runOptions.ledger, caller)
      const gate = nesting?.context.gate ?? (yield* Resilience.Gate)
      const isShared = runOptions.ledger !== undefined || runOptions.payer !== undefined
      const chargesRun = runOptions.payer?.bearsLost !== true
      if (nesting === undefined && resume !== undefined && chargesRun) {
        Budget.hold(ledger, journaled?.before === undefined ? paidIn(resume.transcript) : journaled.recording.paid)
      }
      const payer = runOptions.payer && {
        ...runOptions.payer,
        account: Budget.guarded(runOptions.payer.account, "payer's account")
      }
      const callRun: CallRun = {
        runId,
        clock,
        emit: listener && RunEvent.emitter(runId, clock, listener),
        ledger,
        isLimited: () => isLimited({ ledger, payer }),
        isShared,
        counts: isShared && recording === undefined ? new Map() : undefined,
        spans: nesting?.context.spans ?? runOptions.telemetry ?? spansOf(runOptions.listener),
        caller,
        isCarried: isCarrying(isShared || caller !== undefined || gate?.givesPlaces === true)
      }
      const context = contextOf(callRun, {
        payer,
        cachedAnswers: runOptions.found ?? "free",
        retry: options.retry ?? Resilience.defaultRetry,
        salt: seed === undefined ? runId : "",
        gate,
        cache: nesting?.context.cache ?? (yield* ResponseCache),
        timeoutMillis: options.worker?.timeoutMillis,
        silence: silenceOf(options),
        failures: nesting?.context.failures ?? [],
        recorded: resume && recordedOf(resume.transcript, runId),
        recording,
        chargesRun,
        onDoubt: options.onDoubt
      })
      const state: State = {
        runId,
        options,
        runOptions: journaled === undefined ? runOptions : { ...runOptions, listener, resume },
        task,
        pool,
        policy: options.policy ?? DefaultPolicy.of(pool),
        context,
        seed: seed ?? 0,
        sendSeed: seed !== undefined,
        depth: nesting?.depth ?? 0,
        rounds: [],
        past: [],
        recursion: maxRounds(options) - 1,
        revisions: options.revisions ?? defaultRevisions,
        revised: undefined,
        toolNames: journaled?.recording.tools ?? tools,
        equipment: equipmentOf(runId, nesting?.path ?? "", options, { ...runOptions, resume }, context.recorded),
        waitingFor: [],
        current: undefined,
        stopped: undefined
      }
      // With `onResult` the run is forked, and nothing interrupts it before it has begun.
      const interruptible = onResult === undefined ? restore : Effect.interruptible
      const startedAt = ticks(clock)
      started(state, nesting?.parent)
      const spanned = within(context, { type: "run", runId }, runRounds(state))
      const rounds = recording === undefined ? spanned : Effect.andThen(Journaled.stopped(recording), spanned)
      const exit = yield* Effect.exit(interruptible(inTime(state, nesting, rounds)))
      if (journaled !== undefined && isOver(state, exit)) {
        yield* settleRest({ run: context, recording, chargesRun })
      }
      const ended = finished(state, startedAt, exit)
      const result = journaled === undefined ? ended : yield* journaled.end(ended)
      onResult?.(result)
      if (heard !== undefined) yield* heard.end
      return result
    })
  )

/** The result of a run that has ended before, with the value of its answer: a journal stores the text alone. */
const valued = (result: RunResult, output: RunOptions["output"]): Effect.Effect<RunResult> => {
  if (output === undefined || result.answer === undefined) return Effect.succeed(result)
  return Effect.match(Toolbox.answerShape(output), {
    onSuccess: (shape) => withValue(result, result.answer, shape),
    onFailure: (error) => ({ ...result, ending: "failed" as const, detail: error.message, error })
  })
}

/** Has the recorder of spans hear the run, before the listener of its own. */
const withTelemetry = (options: RunOptions): RunOptions => {
  const { listener, telemetry } = options
  if (telemetry === undefined) return options
  const both: RunEvent.Listener = (event) => {
    let told: unknown
    let heard: unknown
    // One that throws keeps no event from the other, and the promises of async ones are watched.
    try {
      told = telemetry.listener(event)
    } finally {
      heard = listener?.(event)
    }
    return (told instanceof Promise ? Promise.all([told, heard]) : heard) as undefined
  }
  return { ...options, listener: both }
}

/** What a run has paid by its transcript. */
const paidIn = (transcript: Transcript): ReadonlyArray<Usage.Paid> =>
  payments(transcript).flatMap(({ calls, paid }) => (calls === 0 ? [] : paid))

/** What the run has already got: what its journal tells of it comes before what was given. */
const pastOf = ({ resume }: RunOptions, before: Transcript | undefined): Past | undefined => {
  if (before === undefined) return resume
  return { transcript: before, results: resume?.results ?? {} }
}

/** Applies the time limit, which only the outermost run has: nested runs are stopped with it. */
const inTime = (
  state: State,
  nesting: Nesting | undefined,
  rounds: Effect.Effect<void, RunError>
): Effect.Effect<void, RunError> => {
  const allowed = nesting === undefined ? state.options.budget?.durationMillis : undefined
  if (allowed === undefined) return rounds
  return Effect.timeoutOrElse(rounds, {
    duration: allowed,
    orElse: () =>
      Effect.fail(new Usage.BudgetExceeded({ limit: "durationMillis", allowed, spent: allowed, needed: undefined }))
  })
}

/**
 * The most rounds of a run that follow the end of another, and the first: by default there is one, two more with a critic,
 * and as many as the policy needs. Those that begin early come on top of them.
 */
export const maxRounds = (options: RunSettings & Pick<Options, "policy">): number => {
  const { critic, policy, recursion = critic === undefined ? 0 : 2 } = options
  return Math.max(recursion, policy?.recursion ?? 0) + 1
}

/** So many rounds may begin early where nothing else is said. */
const defaultRevisions = 2

const runRounds = Effect.fnUntraced(function* (state: State): Effect.fn.Return<void, RunError> {
  state.equipment = yield* ready(
    state.equipment,
    state.toolNames,
    state.options,
    state.runOptions,
    state.task,
    state.pool
  )
  const unpriced = refusalOf(state.context, neededOf(state.pool.workers, state.options.critic))
  if (unpriced !== undefined) return yield* unpriced
  for (let round = 0; ; round++) {
    const { context, runId } = state
    context.emit?.({ type: "round-started", round })
    const end = yield* within(context, { type: "round", runId }, runRound(state, round))
    if (end === "over" || (end === "ended" && state.recursion === 0)) return
    if (end === "ended") state.recursion -= 1
    else state.revisions -= 1
  }
})

/** Runs one round; returns whether it was the last, has ended, or has made way for the next. */
const runRound = Effect.fnUntraced(function* (
  state: State,
  round: number
): Effect.fn.Return<"over" | "ended" | "revised", RunError> {
  const { context, rounds } = state
  const seed = Seed.derive(state.seed, round)

  const last = rounds.at(-1)
  const previous = last && previousOf(last, state)
  const completions = completing(context, round, seed)
  const { revised } = state
  const { author, workflow } =
    revised === undefined
      ? yield* propose(state, { round, seed, previous, completions })
      : yield* proposed(state, { ...revised, round, previous })
  state.revised = undefined

  if (Workflow.isEmpty(workflow)) {
    state.past.push({ workflow, answers: [], verdicts: [] })
    ended(state, round, { workflow, failed: [], answer: last?.answer, confirmed: true })
    return "over"
  }

  const plan: Plan.Plan = {
    task: state.task,
    pool: state.pool,
    workflow,
    round,
    previous,
    settings: {
      worker: state.options.worker ?? {},
      reassign: Journaled.reassignOf(state.options),
      onStepFailure: state.options.onStepFailure ?? "report",
      onAuthenticationFailure: state.options.onAuthenticationFailure ?? "report",
      skipUnseen: state.options.skipUnseen ?? true,
      toolAccess: state.options.toolAccess ?? "last-step"
    },
    equipment: state.equipment,
    seed,
    sendSeed: state.sendSeed,
    checks: checksOf(state, author),
    threshold: state.options.threshold ?? 1,
    mayRevise: state.revisions > 0,
    delegate: delegate(state, round)
  }
  const unpriced = refusalOf(context, Plan.workersOf(plan))
  if (unpriced !== undefined) return yield* unpriced
  const execution = Scheduler.schedule(context, plan, stepOf(context, plan))
  state.current = { workflow, execution }
  yield* execution.run
  let results = execution.results()
  let revision: Revision | undefined
  for (let index = 0; mayAsk(results) && revision?.type !== "stop" && revision?.type !== "re-plan"; index++) {
    revision = yield* revise(state, { round, seed, index, author, workflow, results, completions })
    if (revision === undefined) break
    if (revision.type === "go-on") yield* execution.goOn
    results = execution.results()
  }
  state.current = undefined
  const { stopped = state.stopped } = results
  const isSuspended = stopped === undefined && results.waitingFor.length > 0
  // Whether those are run that were held back is asked once nothing waits for tools.
  if (!isSuspended) execution.skipHeld(stopped === undefined ? "revised" : "budget")
  state.past.push({ workflow, answers: results.answers, verdicts: results.verdicts })
  const done = { workflow, failed: workersOf(workflow, results, "failed"), confirmed: false }

  if (stopped !== undefined) {
    state.stopped = stopped
    ended(state, round, { ...done, answer: bestSoFar(workflow, results) })
    return "over"
  }
  if (isSuspended) {
    state.waitingFor = results.waitingFor
    return "over"
  }
  const answer = answerOf(workflow, results)
  if (revision?.type === "stop") {
    ended(state, round, { ...done, answer: textOf(state, revision.answer), revision: "stop" })
    return "over"
  }
  if (revision?.type === "re-plan") {
    // Workers are not told what was wrong with what others said: that is for the policy.
    const failure = "it was ended early, as an answer failed its check"
    ended(state, round, { ...done, answer, failure, objections: objections(results), revision: "re-plan" })
    state.revised = revision
    return "revised"
  }
  if (answer !== undefined) return (yield* grade(state, round, { ...done, answer })) ? "over" : "ended"
  const failure = failureOf(workflow, results)
  if (state.recursion === 0) return yield* failure
  // The policy sees who failed or declined in the next round, and can ask another worker.
  const failed = [...done.failed, ...workersOf(workflow, results, "refused")]
  const why =
    failure._tag === "Refusal"
      ? { refusal: { worker: failure.worker, text: failure.text } }
      : { failure: failure.detail, cause: failure.cause }
  ended(state, round, { ...done, failed, answer: undefined, ...why })
  return "ended"
})

/** Whether the policy is asked now: answers have failed their checks, and nothing else of the round can run. */
const mayAsk = ({ held, stopped, waitingFor }: Scheduler.Results): boolean =>
  held.length > 0 && stopped === undefined && waitingFor.length === 0

/** Has the critic score the round; returns whether the run ends here. */
const grade = Effect.fnUntraced(function* (
  state: State,
  round: number,
  done: Round & { readonly answer: string }
): Effect.fn.Return<boolean, RunError> {
  const { context, options, task } = state
  const { critic, threshold = 1 } = options
  if (critic === undefined) {
    ended(state, round, done)
    return false
  }
  const seed = Seed.derive(state.seed, round, "critic")
  let asked = 0
  const ask: Critic.Context["ask"] = (worker, request) =>
    Effect.suspend(() => {
      let given: Answered | undefined
      const onAnswer = (answered: Answered) => {
        given = answered
        const { cached, costUsd, usage } = answered
        context.emit?.({
          type: "critic-answered",
          round,
          critic: critic.name,
          worker: worker.id,
          text: answered.text,
          cached,
          usage,
          costUsd
        })
      }
      const turn = asked++
      const sample = Seed.derive(seed, turn)
      const made = context.call({ worker, request, sample, round, by: "critic", turn, onAnswer })
      return Effect.map(noteFailure(context, { round, by: "critic" }, made), () => given!)
    })
  const scored = Effect.flatMap(
    settle(() => critic.score({ task, answer: done.answer, ask })),
    (grade) => checkedGrade(critic.name, task.id, grade)
  )
  // The answer stands, ungraded, when the critic fails or is interrupted.
  const grade = yield* Effect.onError(scored, () => Effect.sync(() => state.rounds.push(done)))
  context.emit?.({ type: "answer-graded", round, critic: critic.name, grade })
  ended(state, round, { ...done, grade })
  return grade.score >= threshold
})

/** Runs a step that the policy gave to the Conductor itself, as a nested run on the same account. */
const delegate = (state: State, round: number): Step.Delegate | undefined => {
  const { context, depth, equipment, options, pool, runId: parentId, runOptions, task } = state
  if (depth >= (options.self?.maxDepth ?? 0)) return undefined
  return (step, messages, { hasTools, isShaped }) => {
    const nested: Task.Task = {
      id: `${task.id}/${round}.${step}`,
      messages: Arr.isReadonlyArrayNonEmpty(messages) ? messages : task.messages
    }
    const nestedOptions: RunOptions = {
      ...runOptions,
      runId: `${parentId}/${round}.${step}`,
      pool,
      ledger: context.ledger,
      tools: hasTools ? (runOptions.tools ?? options.tools) : [],
      output: isShaped ? runOptions.output : undefined,
      ...(state.sendSeed ? { seed: Seed.derive(state.seed, round, step, "self") } : {})
    }
    const path = `${equipment.path}${round}.${step}/`
    const toolNames = hasTools ? state.toolNames : []
    const nesting = { parent: { runId: parentId, round, step }, depth: depth + 1, context, path, toolNames }
    return Effect.flatMap(conduct(options, nested, nestedOptions, nesting), (result): ReturnType<Step.Delegate> => {
      const { answer, detail, error, ending, waitingFor } = result
      if (ending === "suspended") return Effect.succeed(waitingFor)
      if (ending === "budget" && error instanceof Usage.BudgetExceeded) return Effect.fail(error)
      const isRefused = ending === "refused"
      const text = isRefused ? (detail ?? "") : answer
      return text === undefined
        ? Effect.fail(new Step.DelegateError({ detail: detail ?? "it was interrupted" }))
        : Effect.succeed({
            text,
            finishReason: isRefused ? ("refusal" as const) : ("stop" as const),
            usage: noUsage,
            costUsd: 0,
            cached: false,
            addedMillis: 0
          })
    })
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Beginning and end
// -------------------------------------------------------------------------------------------------------------------

const started = ({ context, policy, pool, seed, task }: State, parent: RunEvent.Parent | undefined) =>
  context.emit?.(
    defined({
      type: "run-started",
      version: RunEvent.version,
      task,
      pool: pool.workers.map(({ description, id, pricing }) =>
        defined({ id, description, isPlay: pricing?.isPlay === true ? (true as const) : undefined })
      ),
      policy: policy.name,
      reason: policy.reason,
      seed,
      parent
    })
  )

const ended = ({ context, rounds }: State, round: number, done: Round): void => {
  rounds.push(done)
  context.emit?.(defined({ type: "round-finished", round, answer: done.answer, confirmed: done.confirmed }))
}
