/**
 * The Conductor answers questions: it runs the workflows that a policy proposes, round by round.
 *
 * Training rollouts, evaluation samples, server requests and command-line runs all go through `Conductor.run`; there is
 * no other execution loop. A run never fails: `ending` in its result states how it ended, and no paid work is lost.
 * Progress is reported only through events (`RunEvent`).
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
   * Writes the plans. Default: `DefaultPolicy.of`. With one worker, that worker answers. If all workers are language
   * models (`Worker.isLanguageModel`), the strongest answers. If only some are, the strongest language model is
   * prompted to write the plan. A pool of several workers without a language model needs a policy; otherwise its runs
   * fail.
   */
  readonly policy?: Policy | undefined
  readonly pool: WorkerPool
}

/** Options of a single run. `A` is the type of the requested `output`. */
export interface RunOptions<A = unknown> {
  /** Overrides the seed of the Conductor for this run. */
  readonly seed?: number | undefined
  /** The id of the run. Default: a random UUID. */
  readonly runId?: string | undefined
  /** An account that this run shares with other runs. Its limits apply in addition to the run's own budget. */
  readonly ledger?: Budget.Ledger | undefined
  /** An account that pays for the calls, in addition to the run's own budget. */
  readonly payer?: Budget.Payer | undefined
  /**
   * The cost of an answer from the response cache: nothing (`"free"`, the default), or its original cost (`"charged"`).
   * With `"charged"`, the answer, its failed attempts and its original duration count against the run's own budget; the
   * payer is not charged.
   */
  readonly cachedAnswers?: "free" | "charged" | undefined
  /**
   * The journal that stores the run, so that it survives a crash of the process. Default: the `Journal` of the context.
   * If the journal already contains `runId`, that run is resumed, or its stored result is returned; it is never
   * restarted.
   */
  readonly journal?: Journal.Journal | undefined
  /** Overrides the pool of the Conductor for this run. */
  readonly pool?: WorkerPool | undefined
  /**
   * Whether and which tools must be called. By default, the model decides. If a tool is required, each step must call
   * it once.
   */
  readonly toolChoice?: ToolChoice | undefined
  /** Whether a worker may call several tools in one turn. Default: the vendor's. */
  readonly parallelToolCalls?: boolean | undefined
  /** Overrides the tools of the Conductor for this run. */
  readonly tools?: ReadonlyArray<Tool> | undefined
  /**
   * The shape of the answer: a schema (Effect, zod, valibot, arktype, or JSON Schema), a named schema, or `{ type:
   * "json" }`. If an answer does not match, it is requested again, at most twice.
   */
  readonly output?: Output<A> | undefined
  /** Called before a tool that needs approval runs. Without `approve`, the run is suspended at that point. */
  readonly approve?: Approve | undefined
  /**
   * Called with a plan that needs approval (`RunSettings.approvePlans`), and returns the decision. The arguments of the
   * call are the plan as text and its price. Without `approvePlan`, the run is suspended at that point.
   */
  readonly approvePlan?: ApprovePlan | undefined
  /** The recorded state of the run, and the results of its pending calls. See `Conductor.resume`. */
  readonly resume?: Past | undefined
  /** Called with every event. An exception does not stop the run: a warning is logged at its end. */
  readonly listener?: RunEvent.Listener | undefined
  /**
   * Creates telemetry spans for the run (`Telemetry.recorder`). While code of a worker, tool, policy or check runs, its
   * span is the active one. Passing a listener made by `Telemetry` as `listener` has the same effect.
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
 * context). `results` maps the ids of pending calls (`RunResult.waitingFor`) to their results. Calls without a result
 * remain pending.
 */
export type Resumption = { readonly results?: Readonly<Record<string, Given>> | undefined } & (
  | { readonly transcript: Transcript; readonly runId?: string | undefined }
  | { readonly runId: string; readonly transcript?: undefined }
)

/**
 * Identifies a run to fork (by its transcript, or by its id in `RunOptions.journal` or the journal of the context), and
 * the first step that differs.
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
  /** The indices of workers that failed a step after all retries. */
  readonly failed: ReadonlyArray<number>
  /** The policy's action after answers failed their checks; absent if the round ended normally. */
  readonly revision?: "stop" | "re-plan" | undefined
  /** The problems of the answers that failed their checks, if the policy re-planned. */
  readonly objections?: string | undefined
  /** Why the round has no answer, or what was wrong with it. Present only if it caused another round. */
  readonly failure?: string | undefined
  /** The error that caused `failure`, if any. */
  readonly cause?: unknown
  /** The worker that declined to answer, and its text. Present only if another round follows. */
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

/** An error that ends a run; each has a `_tag`. `RunDefect` is a bug in code that a run calls, or in this library. */
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
   * The best available answer, even if the run was cut short. Answers to subtasks and refusals do not count as answers;
   * they are in the transcript.
   */
  readonly answer: string | undefined
  /**
   * The most complete intermediate text, if the run ended without an answer: the text of the step at the end of the
   * longest chain of answered steps, or a draft. It is not an answer to the question.
   */
  readonly partial: PartialAnswer | undefined
  /** Present if a limit of the budget ended the run, so that its answer may be incomplete. */
  readonly isPartial?: true | undefined
  /** The reason why the run stopped, for display. */
  readonly detail: string | undefined
  /** The error behind `refused`, `failed` and `budget`. It is absent if the result comes from a journal. */
  readonly error: RunFailure | undefined
  /**
   * The workers that failed a step or plan after all retries, even if another worker took over and the run has an
   * answer. Includes nested runs, in the order of rounds and steps. Empty if no worker failed.
   */
  readonly failures: ReadonlyArray<StepFailure>
  readonly spend: Usage.Spend
  readonly durationMillis: number
  readonly rounds: ReadonlyArray<Round>
  /** The tool calls, or the plan, that a suspended run waits for. Empty if the run is not suspended. */
  readonly waitingFor: ReadonlyArray<RunEvent.WaitingCall>
  /** The answer decoded by the schema of `output`; `undefined` without a schema. */
  readonly value: A | undefined
}

/** A run in progress; its listener receives its events. */
export interface Run<A = unknown> {
  /** Waits until the run ends, and returns its result. */
  readonly result: Effect.Effect<RunResult<A>>
  /** Stops all calls immediately. The result contains the work and spend so far. */
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
     * The maximum number of rounds, including the first. If another round may follow, the answer of a round is a draft.
     * Rounds caused by failed checks (`revisions`) are not counted.
     */
    readonly maxRounds: number
    /**
     * Runs a question to its end. Never fails; if it is interrupted, the listener still receives `run-finished`. If the
     * fiber is already interrupted, no worker is called. `Effect.runPromise` checks its `signal` only when the effect
     * first suspends. If the signal may already be aborted, put `Effect.yieldNow` before the run.
     */
    readonly run: <A = unknown>(task: Task.Input, options?: RunOptions<A>) => Effect.Effect<RunResult<A>>
    /**
     * Resumes a run that was suspended, stopped or killed. The run is replayed from its transcript or journal, so
     * nothing is requested or paid for twice. Pass the options of the original run. The task, and with a journal also
     * the seed, is taken from the record. Passing the same results again is idempotent. If the run has ended according
     * to its journal, the stored result is returned.
     */
    readonly resume: <A = unknown>(resumption: Resumption, options?: RunOptions<A>) => Effect.Effect<RunResult<A>>
    /**
     * Continues another run from one of its steps, as a new run: with another answer to the step, with changed fields
     * of the step, or with the policy of this Conductor. Everything that does not depend on the step is taken from the
     * record and costs nothing. Plans up to and including the step's round are also taken from the record; later rounds
     * are planned by the policy. Never fails.
     */
    readonly fork: <A = unknown>(fork: Fork, options?: RunOptions<A>) => Effect.Effect<RunResult<A>>
    /**
     * Starts a run that can be stopped. The run is interrupted when the scope closes. To get a stream of events, use
     * `RunStream`.
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

/** Makes a Conductor, without starting a run. Throws an `OptionsError` if the options are invalid. */
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
      // It is uninterruptible until it has started, so that even a run that is stopped immediately has a result.
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
