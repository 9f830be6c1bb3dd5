/** The core of a run: its context, rounds, time limit and result. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { ticks } from "../Elapsed.ts"
import { payments } from "../events/Payments.ts"
import * as RunEvent from "../events/RunEvent.ts"
import type { Transcript } from "../events/Transcript.ts"
import { defined } from "../Fields.ts"
import { AmbientJournal } from "../journal/AmbientJournal.ts"
import { onDemand } from "../OnDemand.ts"
import { Caller, isCarrying, within } from "../run/Caller.ts"
import type { Options, Past, RunOptions, RunResult } from "../run/Conductor.ts"
import { equipmentOf, ready, toolNamesOf } from "../run/Equipment.ts"
import { withJournaledRun } from "../run/journaled.ts"
import * as Budget from "../run/MemoryLedger.ts"
import type { PlanLimits } from "../run/Recording.ts"
import { Gate } from "../run/Resilience.ts"
import { ResponseCache } from "../run/ResponseCache.ts"
import type { RunSettings } from "../run/RunSettings.ts"
import { unusable, wrongId } from "../run/UnusableRun.ts"
import type * as Task from "../task/Task.ts"
import * as Usage from "../task/Usage.ts"
import type { Worker } from "../task/Worker.ts"
import { spansOf } from "../telemetry/ActiveSpans.ts"
import { isLimited, neededOf, refusalOf } from "./accounts.ts"
import type { CallContext, CallRun } from "./call.ts"
import { contextOf, delegation, rounding, settleRest, stepOf } from "./pipeline.ts"
import { emitter, guardedListener, withTelemetry } from "./reports.ts"
import { finished, isOver, valued } from "./result.ts"
import type { RunError, State } from "./round.ts"

/** Describes where a nested run belongs within its outer run. */
export interface Nesting {
  readonly parent: RunEvent.Parent
  readonly depth: number
  readonly context: CallContext
  /** Path of the nested run. Prefix for the ids of its pending calls. */
  readonly path: string
  readonly toolNames: ReadonlyArray<string>
  /** Whether the nested run is only replayed from its record. */
  readonly isReplayed: boolean
}

/** Runs a task, as an independent run or nested in another one. */
export type Conduct = (
  options: Options,
  task: Task.Task,
  given: RunOptions,
  nesting?: Nesting,
  onResult?: (result: RunResult) => void
) => Effect.Effect<RunResult>

/** Runs a task to completion. `onResult` receives the result even if the run is interrupted. */
export const conduct = <A = unknown>(
  options: Options,
  task: Task.Task,
  given: RunOptions<A>,
  nesting?: Nesting,
  onResult?: (result: RunResult<A>) => void
): Effect.Effect<RunResult<A>> =>
  // The value has the right type, because it was decoded with the output schema.
  conductUntyped(options, task, given, nesting, onResult as ((result: RunResult) => void) | undefined) as Effect.Effect<
    RunResult<A>
  >

/** Applies the recorded limits on plans unless the resumed run is given others. */
const withLimits = (options: Options, { maxItems, maxSteps }: PlanLimits): Options => ({
  ...options,
  maxItems: options.maxItems ?? maxItems,
  maxSteps: options.maxSteps ?? maxSteps
})

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
      const fiber = yield* currentFiber
      const clock = nesting?.context.clock ?? fiber.getRef(Clock.Clock)
      const seed = runOptions.seed ?? options.seed
      const runId = runOptions.runId ?? crypto.randomUUID()
      const wrong = nesting === undefined && runOptions.runId !== undefined ? wrongId(runId) : undefined
      if (wrong !== undefined) {
        const result = unusable(runId, wrong)
        onResult?.(result)
        return result
      }
      const pool = runOptions.pool ?? options.pool
      const heard = runOptions.listener && guardedListener(runId, runOptions.listener)
      const tools = nesting?.toolNames ?? toolNamesOf(options, runOptions)
      const journal = nesting === undefined ? (runOptions.journal ?? fiber.getRef(AmbientJournal)) : undefined
      const results = runOptions.resume?.results ?? {}
      const { maxItems, maxSteps } = options
      const about = { runId, seed, tools, limits: { maxItems, maxSteps }, listener: heard?.listener, task, results }
      const journaled = journal && (yield* withJournaledRun(({ begin }) => begin(journal, about)))
      if (journaled?._tag === "Over") {
        const result = yield* valued(journaled.result, runOptions.output)
        onResult?.(result)
        return result
      }
      const recording = nesting === undefined ? journaled?.recording : nesting.context.recording
      const listener = journaled?.recording.listener ?? heard?.listener
      const resume = pastOf(runOptions, journaled?.before)
      const caller = nesting === undefined ? fiber.getRef(Caller) : nesting.context.caller
      const ledger = Budget.make(nesting === undefined ? options.budget : undefined, runOptions.ledger, caller)
      const gate = nesting?.context.gate ?? fiber.getRef(Gate)
      const startedAt = ticks(clock)
      const isShared = runOptions.ledger !== undefined || runOptions.payer !== undefined
      const chargesRun = runOptions.payer?.chargesUnconfirmedCalls !== true
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
        emit: listener && emitter(runId, clock, listener),
        ledger,
        isLimited: () => isLimited({ ledger, payer }),
        isShared,
        counts: isShared && recording === undefined ? new Map() : undefined,
        spans: nesting?.context.spans ?? runOptions.telemetry ?? spansOf(runOptions.listener),
        caller,
        isCarried: isCarrying(isShared || caller !== undefined || gate?.givesPlaces === true),
        isReplayed: nesting?.isReplayed === true,
        deadline: nesting?.context.deadline ?? startedAt + (options.budget?.durationMillis ?? Number.POSITIVE_INFINITY)
      }
      // Loaded only if the run has a record.
      const past = resume && (yield* withJournaledRun(Effect.succeed))
      const context = yield* contextOf(callRun, {
        options,
        payer,
        cachedAnswers: runOptions.cachedAnswers ?? "free",
        salt: seed === undefined ? runId : "",
        gate,
        cache: nesting?.context.cache ?? fiber.getRef(ResponseCache),
        failures: nesting?.context.failures ?? [],
        recorded: resume && past?.recordedOf(resume.transcript, runId),
        recording,
        chargesRun
      })
      const own = options.policy ?? (yield* withDefaultPolicy(({ of }) => Effect.succeed(of(pool))))
      const plans = resume && past?.forkedPlans(resume.transcript, runId)
      const policy = plans === undefined || past === undefined ? own : past.forkPolicyOf(own, plans)
      // The limits and tools of nested runs are those of the outermost run.
      const record = nesting === undefined ? resume : undefined
      const calledTools = (record && past?.toolNamesIn(record.transcript)) ?? []
      const toolNames = journaled?.recording.tools ?? [...new Set([...tools, ...calledTools])]
      const state: State = {
        runId,
        options: journaled === undefined ? options : withLimits(options, journaled.recording.limits),
        runOptions: journaled === undefined ? runOptions : { ...runOptions, listener, resume },
        task,
        pool,
        policy,
        context,
        seed: seed ?? 0,
        sendSeed: seed !== undefined,
        depth: nesting?.depth ?? 0,
        rounds: [],
        past: [],
        recursion: maxRounds(plans === undefined ? options : { ...options, policy }) - 1,
        revisions: options.revisions ?? defaultRevisions,
        revised: undefined,
        toolNames,
        equipment: equipmentOf(
          runId,
          nesting?.path ?? "",
          toolNames,
          options,
          { ...runOptions, resume },
          context.recorded
        ),
        waitingFor: [],
        stepOf,
        delegateOf: options.self === undefined ? noDelegate : yield* delegation(conductUntyped),
        current: undefined,
        stopped: undefined
      }
      const mismatch = record?.isFork === true ? undefined : record && past?.mismatchOf(record.transcript, state)
      // With `onResult`, the run is forked, so it cannot be interrupted before it starts.
      const interruptible = onResult === undefined ? restore : Effect.interruptible
      started(state, nesting?.parent, nesting === undefined ? resume?.transcript.forkOf : undefined)
      const spanned = within(context, { type: "run", runId }, runRounds(state))
      const rounds = mismatch ?? spanned
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

/** Five services are read from the fiber, because an effect for each of them costs more. */
const currentFiber = Effect.withFiberSucceed((fiber) => fiber)

const withDefaultPolicy = onDemand(() => import("../policy/DefaultPolicy.ts"))

/** Returns the payments recorded in a run's transcript. */
const paidIn = (transcript: Transcript): ReadonlyArray<Usage.Paid> =>
  payments(transcript).flatMap(({ calls, paid }) => (calls === 0 ? [] : paid))

/** Returns the recorded state of the run. The journal takes precedence over state passed in by the caller. */
const pastOf = ({ resume }: RunOptions, before: Transcript | undefined): Past | undefined => {
  if (before === undefined) return resume
  return { transcript: before, results: resume?.results ?? {} }
}

/** Enforces the time limit of the outermost run. Nested runs are stopped along with it. */
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
 * Returns the maximum number of regular rounds: 1 by default, two more with a critic, or as many as the policy needs.
 * Rounds that start early are not included.
 */
export const maxRounds = (options: RunSettings & Pick<Options, "policy">): number => {
  const { critic, policy, recursion = critic === undefined ? 0 : 2 } = options
  // A policy of the Effect API may have any number.
  const needed = policy?.recursion ?? 0
  return Math.min(Math.max(recursion, needed > 0 ? Math.floor(needed) : 0) + 1, mostRounds)
}

/** Limits the time and memory used by a run that costs nothing and would otherwise never end. */
const mostRounds = 10_000

const noDelegate: State["delegateOf"] = () => undefined

/** Default number of rounds that may start early. */
const defaultRevisions = 2

const runRounds = Effect.fnUntraced(function* (state: State): Effect.fn.Return<void, RunError> {
  state.equipment = yield* ready(state.equipment, state.options, state.runOptions, state.task, state.pool)
  const unpriced = refusalOf(state.context, neededOf(state.pool.workers, state.options.critic))
  if (unpriced !== undefined) return yield* unpriced
  const run = yield* rounding(state)
  for (let round = 0; ; round++) {
    const end = yield* run(round)
    if (end === "over" || (end === "ended" && state.recursion <= 0)) return
    if (end === "ended") state.recursion -= 1
    else state.revisions -= 1
  }
})

// -------------------------------------------------------------------------------------------------------------------
// Beginning and end
// -------------------------------------------------------------------------------------------------------------------

const memberOf = ({ description, id, pricing }: Worker): RunEvent.Of<"run-started">["pool"][number] => {
  const member = description === undefined ? { id } : { id, description }
  return pricing?.isPlay === true ? { ...member, isPlay: true } : member
}

const started = (
  { context, policy, pool, seed, task }: State,
  parent: RunEvent.Parent | undefined,
  forkOf: RunEvent.ForkOf | undefined
) =>
  context.emit?.(
    defined({
      type: "run-started",
      version: RunEvent.version,
      task,
      pool: pool.workers.map(memberOf),
      policy: policy.name,
      reason: policy.reason,
      seed,
      parent,
      forkOf
    })
  )
