/**
 * The Conductor answers a question by running a policy's proposals, round by round.
 *
 * A training rollout, an evaluation sample, a server request and a command-line run are all one `run` of a Conductor;
 * there is no second loop. A run never fails: `ending` in its result says how it ended, and no paid work is lost. It
 * reports its progress only through its events (`RunEvent`).
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
import type { Approve, ApprovePlan } from "./Equipment.ts"
import type { Cut } from "./Fork.ts"
import { withJournaledRun } from "./journaled.ts"
import type { RunSettings } from "./RunSettings.ts"
import { settingsRules, settingsTable } from "./tables.ts"
import { unusable } from "./UnusableRun.ts"

export { limitsTable, retryTable, settingsRules, settingsTable, workerTable } from "./tables.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Options for creating a Conductor. */
export interface Options extends RunSettings {
  /**
   * The author of the plans. By default (`DefaultPolicy.of`) a pool's only worker answers alone, and of several
   * language models (`Worker.isLanguageModel`) the strongest does. If the pool has one language model and other
   * workers, the model is prompted to write the plan. A larger pool without a language model needs a policy: its runs
   * fail with an error that states the remedy.
   */
  readonly policy?: Policy | undefined
  readonly pool: WorkerPool
}

/** Options of a single run. `A` is the type of the value that `output` requests. */
export interface RunOptions<A = unknown> {
  /** Instead of the Conductor's. */
  readonly seed?: number | undefined
  /** A random UUID by default. */
  readonly runId?: string | undefined
  /** An account that this run shares with other runs. The run must also stay within this account's limits. */
  readonly ledger?: Budget.Ledger | undefined
  /** The account that pays for the calls, if it is not the run's own budget. */
  readonly payer?: Budget.Payer | undefined
  /**
   * The cost of an answer from the response cache: nothing (`"free"`, the default), or its original cost (`"charged"`).
   * If charged, the run's own budget pays for the answer and for the attempts that failed before it, its original
   * duration counts, and the payer pays nothing.
   */
  readonly cachedAnswers?: "free" | "charged" | undefined
  /**
   * The journal that stores the run, so that it survives its process. Default: the `Journal` of the context. A run
   * whose `runId` the journal contains is resumed, or its result is returned; it is never started again.
   */
  readonly journal?: Journal.Journal | undefined
  /** Instead of the Conductor's. */
  readonly pool?: WorkerPool | undefined
  /** The tools to use. By default, workers decide. A required tool is required once per step. */
  readonly toolChoice?: ToolChoice | undefined
  /** Whether a worker may ask for several tools at once; its vendor's default when absent. */
  readonly parallelToolCalls?: boolean | undefined
  /** Instead of the Conductor's. */
  readonly tools?: ReadonlyArray<Tool> | undefined
  /**
   * The shape of the answer: a schema (Effect, zod, valibot, arktype, or JSON Schema), a named schema, or
   * `{ type: "json" }`. An answer of another shape is requested again, at most twice.
   */
  readonly output?: Output<A> | undefined
  /** Called before a tool that needs approval runs. Without it the run is suspended at that point. */
  readonly approve?: Approve | undefined
  /**
   * Called with a plan that needs approval (`RunSettings.approvePlans`): its arguments have the plan as text, and its
   * price. Returns the decision. Without it the run is suspended at that point.
   */
  readonly approvePlan?: ApprovePlan | undefined
  /** The recorded state of the run, and the results of the calls that it waited for. See `Conductor.resume`. */
  readonly resume?: Past | undefined
  /** Called with every event. An exception does not stop the run: a warning is logged at its end. */
  readonly listener?: RunEvent.Listener | undefined
  /**
   * Makes spans of the run (`Telemetry.recorder`), each of which is the current one while the code of a worker, a tool,
   * a policy or a check runs. A listener of `Telemetry` that is given as `listener` does the same.
   */
  readonly telemetry?: SpanRecorder | undefined
}

/** The recorded state that a run resumes from. See {@link Resumption}. */
export interface Past {
  readonly transcript: Transcript
  readonly results: Readonly<Record<string, Given>>
}

/**
 * Identifies a run to resume: by its transcript, or by its id in a journal (`RunOptions.journal`, or the journal of the
 * context). `results` has the results of its waiting calls by their ids (`RunResult.waitingFor`). Calls without a
 * result continue to wait.
 */
export type Resumption = { readonly results?: Readonly<Record<string, Given>> | undefined } & (
  | { readonly transcript: Transcript; readonly runId?: string | undefined }
  | { readonly runId: string; readonly transcript?: undefined }
)

/**
 * Identifies a run to fork, by its transcript, or by its id in a journal (`RunOptions.journal`, or the journal of the
 * context), and the step from which the fork differs.
 */
export type Fork = Cut &
  (
    | { readonly transcript: Transcript; readonly runId?: undefined }
    | { readonly runId: string; readonly transcript?: undefined }
  )

/** A round that has ended. */
export interface Round {
  readonly workflow: Workflow
  readonly answer: string | undefined
  /** The indices of workers that failed a step permanently. */
  readonly failed: ReadonlyArray<number>
  /** The policy's action after answers failed their checks; absent if the round ended normally. */
  readonly revision?: "stop" | "re-plan" | undefined
  /** The problems of the answers that failed their checks, if the policy re-planned. */
  readonly objections?: string | undefined
  /**
   * The reason why there is no answer, or the problem of the answer; present if another round follows because of it.
   */
  readonly failure?: string | undefined
  /** The error behind that failure, if there is one. */
  readonly cause?: unknown
  /** The worker that declined to answer, and its text; present if a worker declined and another round follows. */
  readonly refusal?: { readonly worker: string; readonly text: string } | undefined
  /** Whether the policy confirmed the previous answer. */
  readonly confirmed: boolean
  /** Whether the policy answered directly, without workers. */
  readonly isOwn?: boolean | undefined
  /** Whether the answer is a draft, which is not the run's answer if a limit or a failure ends the run. */
  readonly isDraft?: boolean | undefined
  /** The critic's score of the answer. */
  readonly grade?: Grade | undefined
}

/** An error that ends a run; each has a `_tag`. `RunDefect` is a mistake in code that a run calls, or in this library. */
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
   * The best available answer, even if the run was cut short. Answers to subtasks and texts of refusals are not
   * included; they are in the transcript.
   */
  readonly answer: string | undefined
  /**
   * The text that was furthest when the run ended without an answer: of the step at the end of the longest chain of
   * answered steps, or a draft. It is not an answer to the question.
   */
  readonly partial: PartialAnswer | undefined
  /** Present if a limit of the budget ended the run, so that its answer may be incomplete. */
  readonly isPartial?: true | undefined
  /** The reason why the run stopped, for display. */
  readonly detail: string | undefined
  /** The error behind `refused`, `failed` and `budget`. It is absent if the result comes from a journal. */
  readonly error: RunFailure | undefined
  /**
   * The workers that failed a step or a plan for good, even if another took over and the run was answered. Nested runs
   * are included, in the order of rounds and steps. Empty if none failed.
   */
  readonly failures: ReadonlyArray<StepFailure>
  readonly spend: Usage.Spend
  readonly durationMillis: number
  readonly rounds: ReadonlyArray<Round>
  /** The tool calls, or the plan, that a suspended run waits for; none otherwise. */
  readonly waitingFor: ReadonlyArray<RunEvent.WaitingCall>
  /** The answer decoded by the schema of `output`; `undefined` without a schema. */
  readonly value: A | undefined
}

/** A run in progress; its listener receives its events. */
export interface Run<A = unknown> {
  /** Waits until the run ends, and returns its result. */
  readonly result: Effect.Effect<RunResult<A>>
  /** Stops its calls at once; the result has the work and payments so far. */
  readonly interrupt: Effect.Effect<RunResult<A>>
}

// -------------------------------------------------------------------------------------------------------------------
// Service
// -------------------------------------------------------------------------------------------------------------------

/**
 * Answers questions.
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
     * The maximum number of rounds: the first, and those that follow the end of another. While another may follow, an
     * answer is a draft. Rounds that begin early because checks failed (`revisions`) are extra.
     */
    readonly maxRounds: number
    /**
     * Runs a question to its end. Never fails; if it is interrupted, the listener still receives `run-finished`. If the
     * fiber is already interrupted, no worker is called. `Effect.runPromise` interrupts for its `signal` only once the
     * effect first waits: for a signal that may be aborted already, begin with `Effect.yieldNow`.
     */
    readonly run: <A = unknown>(task: Task.Input, options?: RunOptions<A>) => Effect.Effect<RunResult<A>>
    /**
     * Resumes a run that was suspended, stopped or killed. It runs again with its transcript or journal as the first
     * source of answers, so that nothing is requested or paid for twice. Pass the options of the original run. The task
     * comes from the record, and with a journal the seed does, too. Passing the same results again is idempotent. If
     * the run has ended according to its journal, the stored result is returned.
     */
    readonly resume: <A = unknown>(resumption: Resumption, options?: RunOptions<A>) => Effect.Effect<RunResult<A>>
    /**
     * Continues another run from one of its steps, as a new run: with another answer of the step, with changed fields
     * of it, or with the policy of this Conductor. Everything before the step, and everything that does not follow from
     * it, is taken from the record and costs nothing. The plans up to its round are those of the record; later rounds
     * are planned by the policy. Never fails.
     */
    readonly fork: <A = unknown>(fork: Fork, options?: RunOptions<A>) => Effect.Effect<RunResult<A>>
    /** Starts a run that can be stopped. It is interrupted when the scope closes. `RunStream` makes a stream of it. */
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
    policy: Tables.madeBy("a policy, as Baselines.single(0)", "propose"),
    pool: Tables.expects("a WorkerPool", (value) => typeof value === "object" && value !== null && "workers" in value)
  } satisfies Tables.ShapeOf<Options>,
  { required: ["pool"], rules: settingsRules }
)

/** Makes a Conductor. Nothing runs yet. Options that cannot be used throw an `OptionsError`. */
export const make = (options: Options): Conductor["Service"] => {
  Tables.check("Conductor.make", options, table)
  const run = <A>(input: Task.Input, runOptions: RunOptions<A> = {}) => conduct(options, Task.make(input), runOptions)

  const start = <A>(input: Task.Input, runOptions: RunOptions<A> = {}) =>
    Effect.gen(function* () {
      const done = yield* Deferred.make<RunResult<A>>()
      const running = conduct(options, Task.make(input), runOptions, undefined, (result) =>
        Deferred.doneUnsafe(done, Exit.succeed(result))
      )
      // If a run dies from an internal bug, callers that wait for it still get an exit.
      const ended = Effect.onExit(running, (exit) => Effect.sync(() => Deferred.doneUnsafe(done, exit)))
      // It cannot be interrupted before it has begun, so that a run stopped then also has a result.
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
        onFailure: (error) =>
          Effect.succeed<RunResult<A>>(unusable(resumption.runId ?? resumption.transcript!.runId, error))
      }
    )

  const fork = <A>(of: Fork, runOptions: RunOptions<A> = {}): Effect.Effect<RunResult<A>> => {
    const runId = runOptions.runId ?? crypto.randomUUID()
    const ids = (runOptions.pool ?? options.pool).workers.map(({ id }) => id)
    const cut = withJournaledRun(({ forked }) => forked(of, ids, runId, runOptions.journal))
    return Effect.matchEffect(cut, {
      onSuccess: ({ seed, transcript }) => {
        const withSeed = seed === undefined || options.seed !== undefined ? options : { ...options, seed }
        const resume = { transcript, results: {} }
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

/** A Conductor as a service. */
export const layer = (options: Options): Layer.Layer<Conductor> => Layer.succeed(Conductor, make(options))
