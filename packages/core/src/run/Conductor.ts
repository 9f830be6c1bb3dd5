/**
 * The Conductor answers questions by running the workflows that a policy proposes, one round at a time.
 *
 * `Conductor.run` is the only execution loop: training rollouts, evaluation samples, server requests and command-line
 * runs all use it. A run never fails. The `ending` of its result describes how it ended, and completed work is never
 * lost. Progress is reported only through events (`RunEvent`).
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { CallbackError } from "../Callback.ts"
import type * as RunEvent from "../events/RunEvent.ts"
import type { StepFailure } from "../events/StepFailure.ts"
import type { PartialAnswer, Transcript } from "../events/Transcript.ts"
import type * as Journal from "../journal/Journal.ts"
import type { JournalError, JournalMismatch } from "../journal/JournalErrors.ts"
import type { RunDefect, UnfittingAnswer } from "../loop/result.ts"
import type { RunError } from "../loop/round.ts"
import { conduct, maxRounds } from "../loop/run.ts"
import { loadAll } from "../OnDemand.ts"
import * as Tables from "../Options.ts"
import type { Policy } from "../policy/Policy.ts"
import type { Grade } from "../task/Grader.ts"
import * as Task from "../task/Task.ts"
import type { Given, Output, Tool, ToolChoice } from "../task/Tool.ts"
import type * as Usage from "../task/Usage.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import type { SpanRecorder } from "../telemetry/Telemetry.ts"
import type { Workflow } from "../workflow/Workflow.ts"
import type * as Budget from "./Budget.ts"
import { type Approve, type ApprovePlan, toolNamesOf } from "./Equipment.ts"
import type { Cut } from "./Fork.ts"
import { withJournaledRun } from "./journaled.ts"
import type { RunSettings } from "./RunSettings.ts"
import { settingsRules, settingsTable } from "./tables.ts"
import { unusable } from "./UnusableRun.ts"

export { limitsTable, settingsRules, settingsTable, workerTable } from "./tables.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Options for {@link make}. */
export interface Options extends RunSettings {
  /**
   * The policy that plans each run. Defaults to `DefaultPolicy.of`, which depends on the pool: a single worker answers
   * directly; of several workers, the strongest language model (`Worker.isLanguageModel`) is prompted to write a plan
   * or, if the question is easy, the answer. A pool of several workers without any language model requires an explicit
   * policy; otherwise its runs fail.
   */
  readonly policy?: Policy | undefined
  readonly pool: WorkerPool
}

/** Options for a single run. `A` is the type of the structured `output`. */
export interface RunOptions<A = unknown> {
  /** Seed for this run. Defaults to the Conductor's seed. */
  readonly seed?: number | undefined
  /** Id of the run. Default: a random UUID. Without a `journal`, the run is not stored under it. */
  readonly runId?: string | undefined
  /** A ledger shared with other runs. Its limits apply in addition to the run's own budget. */
  readonly ledger?: Budget.Ledger | undefined
  /** An account that pays for the calls actually sent, in addition to the run's own budget. */
  readonly payer?: Budget.Payer | undefined
  /**
   * How response cache hits are charged to the run's own budget: not at all (`"free"`, the default), or as if the call
   * were made again (`"charged"`), including its failed attempts and its original duration. The payer is never charged
   * for cache hits.
   */
  readonly cachedAnswers?: "free" | "charged" | undefined
  /**
   * Journal that stores the run, so that it survives a process crash. Defaults to the `Journal` in the context. If the
   * journal already contains `runId`, the run is resumed, or its stored result returned; it is never restarted.
   */
  readonly journal?: Journal.Journal | undefined
  /** Pool for this run. Defaults to the Conductor's pool. */
  readonly pool?: WorkerPool | undefined
  /**
   * Whether workers must call a tool, and which one. By default, the model decides. If a tool is required, each step
   * must call it once.
   */
  readonly toolChoice?: ToolChoice | undefined
  /** Whether a worker may call several tools in the same turn. Defaults to the vendor's setting. */
  readonly parallelToolCalls?: boolean | undefined
  /** Tools for this run. Defaults to the Conductor's tools. */
  readonly tools?: ReadonlyArray<Tool> | undefined
  /**
   * Required format of the answer: a schema (Effect, zod, valibot, arktype, or JSON Schema), a named schema, or
   * `{ type: "json" }`. If an answer does not match, the worker is asked again, up to two times.
   */
  readonly output?: Output<A> | undefined
  /**
   * Called before a tool that requires approval is executed. If omitted, the run is suspended until the decision is
   * provided.
   */
  readonly approve?: Approve | undefined
  /**
   * Called with a plan that requires approval (see `RunSettings.approvePlans`). The call's arguments contain the plan
   * as text and its price. If omitted, the run is suspended until the decision is provided.
   */
  readonly approvePlan?: ApprovePlan | undefined
  /** Recorded state to resume from, with results for pending calls. See `Conductor.resume`. */
  readonly resume?: Past | undefined
  /**
   * Called with every event of the run. If the listener throws, the run continues and a warning is logged when it
   * finishes.
   */
  readonly listener?: RunEvent.Listener | undefined
  /**
   * Records the run as telemetry spans (`Telemetry.recorder`). While worker, tool, policy or check code is running, the
   * corresponding span is active. Passing a listener created by `Telemetry` as `listener` has the same effect.
   */
  readonly telemetry?: SpanRecorder | undefined
}

/** Recorded state that a run resumes from. See {@link Resumption}. */
export interface Past {
  readonly transcript: Transcript
  readonly results: Readonly<Record<string, Given>>
  /**
   * Whether the transcript is that of a fork that has not run yet, whose pool, policy and seed may differ from the
   * original run's.
   */
  readonly isFork?: true | undefined
}

/**
 * Identifies the run to resume, by transcript (or its JSON text), or by its id in `RunOptions.journal` or the journal in
 * the context. `results` contains results for pending calls, keyed by call id (see `RunResult.waitingFor`). Calls without a result
 * remain pending.
 */
export type Resumption = { readonly results?: Readonly<Record<string, Given>> | undefined } & (
  | { readonly transcript: Transcript | string; readonly runId?: string | undefined }
  | { readonly runId: string; readonly transcript?: undefined }
)

/**
 * Identifies the run to fork, by transcript (or its JSON text), or by its id in `RunOptions.journal` or the journal in the context, and
 * the step at which the fork diverges.
 */
export type Fork = Cut &
  (
    | { readonly transcript: Transcript | string; readonly runId?: undefined }
    | { readonly runId: string; readonly transcript?: undefined }
  )

/** A finished round. */
export interface Round {
  readonly workflow: Workflow
  readonly answer: string | undefined
  /** Indices of the workers that failed a step after all retries. */
  readonly failed: ReadonlyArray<number>
  /**
   * The policy's response to answers that failed their checks: stopping the run, or writing a new plan. Undefined if it
   * did neither.
   */
  readonly revision?: "stop" | "re-plan" | undefined
  /** The objections raised by the checks, if the policy wrote a new plan because of them. */
  readonly objections?: string | undefined
  /** Why the round has no answer, or what was wrong with its answer. Set only if this caused another round. */
  readonly failure?: string | undefined
  /** The underlying error of `failure`, if any. */
  readonly cause?: unknown
  /** The worker that refused to answer, with the text of its refusal. Set only if another round follows. */
  readonly refusal?: { readonly worker: string; readonly text: string } | undefined
  /** Whether the policy confirmed the previous round's answer. */
  readonly confirmed: boolean
  /** Whether the policy answered the question itself, without calling a worker. */
  readonly isOwn?: boolean | undefined
  /**
   * Whether the answer is a draft. A draft does not become the run's answer if the run is cut short by a limit or a
   * failure.
   */
  readonly isDraft?: boolean | undefined
  /** The critic's score for the answer. */
  readonly grade?: Grade | undefined
}

/**
 * Union of the errors that can end a run, discriminated by `_tag`. `RunDefect` indicates a bug in user-supplied code or
 * in this library.
 */
export type RunFailure =
  | RunError
  | CallbackError
  | JournalError
  | JournalMismatch
  | Tables.OptionsError
  | UnfittingAnswer
  | RunDefect

/** The result of a run. */
export interface RunResult<A = unknown> {
  readonly runId: string
  readonly ending: RunEvent.Ending
  /**
   * The best available answer. May be set even if the run was cut short. Intermediate answers and refusals are not
   * included; they are available in the transcript.
   */
  readonly answer: string | undefined
  /**
   * The most advanced intermediate text, if the run ended without an answer: a draft, or the text of the step that
   * concludes the longest chain of answered steps. It does not answer the question.
   */
  readonly partial: PartialAnswer | undefined
  /** Set if a budget limit ended the run, in which case the answer may be incomplete. */
  readonly isPartial?: true | undefined
  /** Human-readable reason why the run stopped. */
  readonly detail: string | undefined
  /**
   * The error that caused the ending `refused`, `failed` or `budget`. Not available if the result was read from a
   * journal.
   */
  readonly error: RunFailure | undefined
  /**
   * All steps and plans whose worker failed after all retries, including those of nested runs, ordered by round and
   * step. Also lists failures that another worker recovered from. Empty if no worker failed.
   */
  readonly failures: ReadonlyArray<StepFailure>
  readonly spend: Usage.Spend
  readonly durationMillis: number
  readonly rounds: ReadonlyArray<Round>
  /** The tool calls or the plan that a suspended run is waiting for. Empty for all other endings. */
  readonly waitingFor: ReadonlyArray<RunEvent.WaitingCall>
  /** The answer decoded with the `output` schema, or `undefined` if there is no schema. */
  readonly value: A | undefined
}

/** A handle for a running run. Events are passed to its listener. */
export interface Run<A = unknown> {
  /** Waits for the run to finish and returns its result. */
  readonly result: Effect.Effect<RunResult<A>>
  /** Stops all calls immediately. The result contains the completed work and its cost. */
  readonly interrupt: Effect.Effect<RunResult<A>>
}

// -------------------------------------------------------------------------------------------------------------------
// Service
// -------------------------------------------------------------------------------------------------------------------

/**
 * Service that runs questions to completion.
 *
 * **Example**
 *
 * ```ts
 * import * as Conductor from "@divisi/core/Conductor"
 * import * as Policy from "@divisi/core/Policy"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import * as Effect from "effect/Effect"
 *
 * const pool = WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: ["42"] })])
 * const policy = Policy.fixed("ask the first", () => ({
 *   steps: [{ worker: 0, subtask: "", access: [] }]
 * }))
 * const conductor = Conductor.make({ policy, pool })
 * const result = await Effect.runPromise(conductor.run("What is 6 times 7?"))
 * result.answer // => "42"
 * ```
 */
export class Conductor extends Context.Service<
  Conductor,
  {
    /**
     * Maximum number of rounds, including the first. While another round may follow, a round's answer is a draft. Extra
     * rounds caused by failed checks (`revisions`) are not included.
     */
    readonly maxRounds: number
    /**
     * Runs a question to completion. Never fails; on interruption, the listener still receives `run-finished`. If the
     * fiber is already interrupted, no worker is called. `Effect.runPromise` checks its `signal` only when the effect
     * first suspends, so if the signal may already be aborted, run `Effect.yieldNow` first.
     */
    readonly run: <A = unknown>(task: Task.Input, options?: RunOptions<A>) => Effect.Effect<RunResult<A>>
    /**
     * Resumes a run that was suspended, stopped or killed. The run is replayed from its transcript or journal, so no
     * completed call is repeated or charged again. Pass the same options as for the original run. The task and the seed
     * are read from the record. If the pool, the policy or a pending tool differs from the record, the result has a
     * `JournalMismatch` as its `error`. Passing the same results twice is safe. If the journal shows that the run has
     * finished, its stored result is returned.
     */
    readonly resume: <A = unknown>(resumption: Resumption, options?: RunOptions<A>) => Effect.Effect<RunResult<A>>
    /**
     * Forks a run at one of its steps: starts a new run with a different answer for that step, modified step fields, or
     * this Conductor's policy. Results that do not depend on the step are reused at no cost. Plans are reused up to and
     * including the step's round; the policy plans all later rounds. Never fails.
     */
    readonly fork: <A = unknown>(fork: Fork, options?: RunOptions<A>) => Effect.Effect<RunResult<A>>
    /**
     * Starts a run in the background and returns a handle to await or interrupt it. The run is interrupted when the
     * scope closes. To consume the events as a stream, use `RunStream`.
     */
    readonly start: <A = unknown>(
      task: Task.Input,
      options?: RunOptions<A>
    ) => Effect.Effect<Run<A>, never, Scope.Scope>
  }
>()("@divisi/core/Conductor") {}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

const table = Tables.table(
  {
    ...settingsTable,
    policy: Tables.madeBy("a policy, such as Baselines.single(0)", "propose"),
    pool: Tables.expects("a WorkerPool", (value) => typeof value === "object" && value !== null && "workers" in value)
  } satisfies Tables.ShapeOf<Options>,
  { required: ["pool"], rules: settingsRules }
)

/** Creates a Conductor. Throws an `OptionsError` if the options are invalid. */
export const make = (options: Options): Conductor["Service"] => {
  Tables.check("Conductor.make", options, table)
  return ofChecked(options)
}

/**
 * Creates a Conductor from options that were checked before, such as those of a server with the settings of a request.
 *
 * @internal
 */
export const ofChecked = (options: Options): Conductor["Service"] => {
  const run = <A>(input: Task.Input, runOptions: RunOptions<A> = {}) => conduct(options, Task.make(input), runOptions)

  const start = <A>(input: Task.Input, runOptions: RunOptions<A> = {}) =>
    Effect.gen(function* () {
      const done = yield* Deferred.make<RunResult<A>>()
      const running = conduct(options, Task.make(input), runOptions, undefined, (result) =>
        Deferred.doneUnsafe(done, Exit.succeed(result))
      )
      // Completes the deferred even if an internal bug crashes the run, so that callers do not wait forever.
      const ended = Effect.onExit(running, (exit) => Effect.sync(() => Deferred.doneUnsafe(done, exit)))
      // The fiber starts uninterruptible, so that a run stopped immediately still produces a result.
      const fiber = yield* Effect.forkScoped(ended, { startImmediately: true, uninterruptible: true })
      const result = Deferred.await(done)
      return { result, interrupt: Effect.andThen(Fiber.interrupt(fiber), result) }
    })

  const resume = <A>(resumption: Resumption, runOptions: RunOptions<A> = {}): Effect.Effect<RunResult<A>> =>
    Effect.matchEffect(
      withJournaledRun(({ resumed }) => resumed(resumption, runOptions.journal)),
      {
        onSuccess: ({ begun, past, runId }) => {
          const withSeed = begun === undefined ? options : { ...options, seed: begun.seed }
          return conduct(withSeed, past.transcript.task, { ...runOptions, runId, resume: past })
        },
        onFailure: (error) => Effect.succeed<RunResult<A>>(unusable(resumption.runId ?? "unknown", error))
      }
    )

  const fork = <A>(of: Fork, runOptions: RunOptions<A> = {}): Effect.Effect<RunResult<A>> => {
    const runId = runOptions.runId ?? crypto.randomUUID()
    const ids = (runOptions.pool ?? options.pool).workers.map(({ id }) => id)
    const cut = withJournaledRun(({ forked, forkingOf }) =>
      forked(of, forkingOf(ids, options, toolNamesOf(options, runOptions)), runId, runOptions.journal)
    )
    return Effect.matchEffect(cut, {
      onSuccess: ({ seed, transcript }) => {
        const withSeed = seed === undefined || options.seed !== undefined ? options : { ...options, seed }
        const resume = { transcript, results: {}, isFork: true } as const
        return conduct(withSeed, transcript.task, { ...runOptions, runId, resume })
      },
      onFailure: (error) => Effect.succeed<RunResult<A>>(unusable(runId, error))
    })
  }

  return Conductor.of({
    maxRounds: maxRounds(options),
    run,
    resume,
    fork,
    start
  })
}

/** A layer that provides a Conductor with the given options. */
export const layer = (options: Options): Layer.Layer<Conductor> => Layer.succeed(Conductor, make(options))

/**
 * Loads the modules that runs otherwise import on first use. Call it before tests with a virtual clock, which does not
 * wait for imports. A server that calls it at startup answers its first request sooner.
 *
 * ```ts
 * import * as Conductor from "@divisi/core/Conductor"
 * import * as Effect from "effect/Effect"
 *
 * await Effect.runPromise(Conductor.preload)
 * ```
 */
export const preload: Effect.Effect<void> = Effect.promise(loadAll)
