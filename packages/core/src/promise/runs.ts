/** Functions that start a run and return its result, its events, or its answer as a stream. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { toErrorOutput } from "../Callback.ts"
import * as AnswerText from "../events/AnswerText.ts"
import { recorder as recorderOf } from "../events/Recorder.ts"
import type { Ending, RunEvent, WaitingCall } from "../events/RunEvent.ts"
import type * as Transcript from "../events/Transcript.ts"
import { maxRounds, conduct as run } from "../loop/run.ts"
import { anything, type Shape } from "../Options.ts"
import type { Policy } from "../policy/Policy.ts"
import { Caller, carriedCaller } from "../run/Caller.ts"
import type * as Conductor from "../run/Conductor.ts"
import { Gate } from "../run/Resilience.ts"
import { ResponseCache } from "../run/ResponseCache.ts"
import type { RunSettings } from "../run/RunSettings.ts"
import * as Task from "../task/Task.ts"
import type { Given, ToolContext } from "../task/Tool.ts"
import type { Worker } from "../task/Worker.ts"
import * as WorkerPool from "../task/WorkerPool.ts"
import type { SpanRecorder } from "../telemetry/Telemetry.ts"
import { refusalOf } from "./options.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/**
 * Options for {@link conduct}: the question, the pool, and all options from `Conductor.Options` and
 * `Conductor.RunOptions`. `A` is the type of the structured `output`.
 */
export interface ConductOptions<A = unknown>
  extends RunSettings,
    Omit<Conductor.RunOptions<A>, "pool" | "listener" | "seed" | "tools" | "approve" | "approvePlan"> {
  /** The question: text, content parts such as images and files, or a complete task. */
  readonly question: Task.Input
  /** The available workers. At least one is required, and ids must be unique. */
  readonly pool: ReadonlyArray<Worker>
  /**
   * The policy that plans the run. The default depends on the pool, as in `divisi run` and `divisi serve`: a single
   * worker answers directly. With several workers, the strongest language model plans, or answers an easy question
   * itself.
   */
  readonly policy?: Policy | undefined
  /**
   * Called before a tool that requires approval is executed. If omitted, the run is suspended until `resume` provides
   * the decision.
   */
  readonly approve?: ((request: ToolContext) => boolean | Promise<boolean>) | undefined
  /**
   * Called with a plan that requires approval (see `approvePlans`). Returns the decision, or the text of a replacement
   * plan. If omitted, the run is suspended until `resume` provides the decision.
   */
  readonly approvePlan?: ((plan: WaitingCall) => Given | Promise<Given>) | undefined
  /** Aborts the run. Calls in flight are interrupted, and the run resolves normally with `ending: "interrupted"`. */
  readonly signal?: AbortSignal | undefined
  /**
   * Called with every event of the run. If the listener throws, the run continues and a warning is logged when it
   * finishes.
   */
  readonly onEvent?: ((event: RunEvent) => void) | undefined
  /** Records the run as telemetry spans. Create it with `openTelemetry(api)`. */
  readonly telemetry?: SpanRecorder | undefined
  /** A response cache to share across runs: `memoryCache`, or `openCache` from `@divisi/files/promise`. */
  readonly cache?: ResponseCache | undefined
  /**
   * Enforces the providers' rate limits across all runs that share it. Create it with `openGate` from
   * `@divisi/provider-kit/promise`.
   */
  readonly gate?: Gate | undefined
}

/**
 * The result of a run. If `ending` is `answered`, `answer` is set, and `value` contains the parsed `output` if one was
 * requested.
 */
export type ConductResult<A = unknown> = Omit<Conductor.RunResult<A>, "ending" | "answer" | "value"> & {
  /** The transcript of the run, computed on first access. */
  readonly transcript: Transcript.Transcript
} & (
    | { readonly ending: "answered"; readonly answer: string; readonly value: A }
    | {
        readonly ending: "suspended"
        readonly answer: undefined
        readonly value: undefined
        /**
         * Resumes the run with results for its pending calls, keyed by call id (see `waitingFor`). Calls without a
         * result remain pending. Completed calls are neither repeated nor charged again, and passing the same results
         * twice returns the same run.
         */
        readonly resume: (results: Conductor.Past["results"]) => Promise<ConductResult<A>>
      }
    | {
        readonly ending: Exclude<Ending, "answered" | "suspended">
        readonly answer: string | undefined
        readonly value: A | undefined
      }
  )

/** An async iterable of the answer text, together with the result of the run. */
export interface AnswerStream<A = unknown> extends AsyncIterable<string> {
  /** Resolves when the run has finished, with the same result as `conduct`. */
  readonly result: Promise<ConductResult<A>>
}

// -------------------------------------------------------------------------------------------------------------------
// Start
// -------------------------------------------------------------------------------------------------------------------

/** Handle for a run that has been started. */
interface Started<A> {
  readonly result: Promise<Conductor.RunResult<A>>
  readonly stop: () => void
}

type Listener = (event: RunEvent) => void

/** Calls both listeners and returns the second one's result, so that the promise of an async listener is observed. */
const both =
  (first: Listener, second: Listener): Listener =>
  (event) => {
    first(event)
    return second(event)
  }

const start = <A>(what: string, options: ConductOptions<A>, own: Listener, ownOptions?: Shape): Started<A> => {
  const refusal = refusalOf(what, options, ownOptions)
  if (refusal !== undefined) return { result: refusal, stop: () => {} }
  const { cache, gate, onEvent, policy, pool, question, signal, telemetry, ...rest } = options
  const {
    approve,
    approvePlan,
    cachedAnswers,
    journal,
    ledger,
    output,
    parallelToolCalls,
    payer,
    resume,
    runId,
    toolChoice,
    ...settings
  } = rest
  const listener = onEvent === undefined ? own : both(own, onEvent)
  const task = Task.make(question)
  const members = WorkerPool.makeUnsafe(pool)
  const { promise, reject, resolve } = Promise.withResolvers<Conductor.RunResult<A>>()
  const running = run(
    { ...settings, policy, pool: members },
    task,
    {
      runId,
      ledger,
      payer,
      cachedAnswers,
      journal,
      listener,
      telemetry,
      output,
      parallelToolCalls,
      toolChoice,
      resume,
      approve: approve && ((request) => Effect.promise(async () => approve(request))),
      approvePlan: approvePlan && ((plan) => Effect.promise(async () => approvePlan(plan)))
    },
    undefined,
    resolve
  )
  const cached = cache === undefined ? running : Effect.provideService(running, ResponseCache, cache)
  const gated = gate === undefined ? cached : Effect.provideService(cached, Gate, gate)
  // The fiber starts uninterruptible, so that a run aborted immediately still produces a result. If the signal is
  // already aborted, the run is interrupted before its first call.
  const begun = signal?.aborted === true ? Effect.andThen(Effect.yieldNow, gated) : gated
  const caller = carriedCaller()
  const placed = caller === undefined ? begun : Effect.provideService(begun, Caller, caller)
  const fiber = Effect.runFork(toErrorOutput(placed), { uninterruptible: true, signal })
  // Rejects the promise if an internal bug crashes the run, so that callers do not wait forever.
  fiber.addObserver((exit) => {
    if (Exit.isFailure(exit)) reject(Cause.squash(exit.cause))
  })
  return { result: promise, stop: () => fiber.interruptUnsafe() }
}

// -------------------------------------------------------------------------------------------------------------------
// Runs
// -------------------------------------------------------------------------------------------------------------------

/** Maximum number of buffered events before they are folded into the transcript. */
const mostWaiting = 64

/** Buffers a run's events and folds them into a transcript on demand. */
const record = () => {
  const recorder = recorderOf()
  let waiting: Array<RunEvent> = []
  const fold = () => {
    for (const event of waiting) recorder.listener(event)
    waiting = []
  }
  const listener = (event: RunEvent) => {
    if (waiting.push(event) >= mostWaiting) fold()
  }
  const transcript = () => {
    fold()
    return recorder.transcript()!
  }
  return { listener, transcript }
}

const withTranscript = <A>(
  options: ConductOptions<A>,
  result: Conductor.RunResult<A>,
  transcript: () => Transcript.Transcript
): ConductResult<A> => {
  const whole = {
    ...result,
    get transcript() {
      return transcript()
    },
    ...(result.ending === "suspended" ? { resume: resuming(options, transcript) } : {})
  }
  // Every run satisfies the union by `ending` and `answer`, which the compiler cannot verify.
  return whole as ConductResult<A>
}

/**
 * Returns the `resume` function for a suspended run. Calls with equal results share one resumed run, even when they are
 * concurrent.
 */
const resuming = <A>(options: ConductOptions<A>, transcript: () => Transcript.Transcript) => {
  const known = new Map<string, Promise<ConductResult<A>>>()
  return async (results: Conductor.Past["results"]): Promise<ConductResult<A>> => {
    const key = JSON.stringify(Object.entries(results ?? {}).toSorted(([left], [right]) => (left < right ? -1 : 1)))
    const same = known.get(key)
    if (same !== undefined) return same
    const next = resume({ ...options, transcript: transcript(), results })
    known.set(key, next)
    return next
  }
}

/**
 * Options for {@link resume}: the run's transcript or its JSON text, or its `runId` and the `journal` that stores it,
 * together with the options of the original run. The seed is read from the record.
 */
export type ResumeOptions<A = unknown> = Omit<ConductOptions<A>, "question" | "runId" | "resume"> & Conductor.Resumption

/**
 * Resumes a run that was suspended, stopped or killed, from its transcript or from a journal, in this process or
 * another one. Answers received earlier are reused at no cost. If the journal shows that the run has finished, its
 * stored result is returned.
 *
 * **Details**
 *
 * Pass the same pool, policy, tools and settings as for the original run. The ending is `failed`, with a
 * `JournalMismatch` as the `error`, if the pool, the policy or a pending tool differs from the record, or if a journaled
 * run would send a different request than before. The promise is rejected with a `JournalError` if the journal does not
 * contain the run, or if another process is executing it.
 *
 * **Example**
 *
 * ```ts
 * import { conduct, encodeTranscript, resume, single, tool, worker } from "@divisi/core/promise"
 *
 * const clerk = worker({
 *   id: "clerk",
 *   capabilities: { tools: true },
 *   answer: ({ messages }) => {
 *     const last = messages.at(-1)
 *     return last?.role === "tool" ? `It is ${last.content}.` : { toolCalls: [{ name: "total", arguments: {} }] }
 *   }
 * })
 * const total = tool({ name: "total", input: { type: "object", properties: {} } })
 * const options = { pool: [clerk], policy: single(0), tools: [total] }
 * const suspended = await conduct({ ...options, question: "What is the total?" })
 * suspended.ending // => "suspended"
 * const saved = encodeTranscript(suspended.transcript)
 *
 * const [call] = suspended.waitingFor
 * const result = await resume({ ...options, transcript: saved, results: { [call!.id]: "12 EUR" } })
 * result.answer // => "It is 12 EUR."
 * result.spend.calls // => 2
 * ```
 *
 * **Example** (from a journal)
 *
 * ```ts
 * import { conduct, memoryJournal, resume, single, worker } from "@divisi/core/promise"
 *
 * let calls = 0
 * const pool = [worker({ id: "calculator", answer: () => `${(calls += 1) * 42}` })]
 * const options = { pool, policy: single(0), journal: memoryJournal() }
 * await conduct({ ...options, question: "What is 6 times 7?", runId: "run-1" })
 * const again = await resume({ ...options, runId: "run-1" })
 * again.answer // => "42"
 * calls // => 1
 * ```
 */
export const resume = async <A = unknown>(given: ResumeOptions<A>): Promise<ConductResult<A>> => {
  await refusalOf("resume", given, ownOptions)
  const { resumed } = await import("./resume.ts")
  return conducted("resume", await resumed(given), ownOptions)
}

/** Options that only `resume` has, for suggestions. */
const ownOptions = { transcript: anything, results: anything } satisfies Shape

/** Runs to completion. Errors in options name the function that the caller used. */
export const conducted = async <A = unknown>(
  what: string,
  options: ConductOptions<A>,
  own?: Shape
): Promise<ConductResult<A>> => {
  const { listener, transcript } = record()
  const { result } = start(what, options, listener, own)
  return withTranscript(options, usable(await result), transcript)
}

/**
 * Runs a question to completion and returns the result.
 *
 * **Details**
 *
 * The promise resolves even if the run fails; check `ending` of the result. `answer` is set for the ending `answered`,
 * and may be set for other endings if the run was cut short. The promise is rejected only for invalid options and
 * unusable journals: with an `OptionsError` for an unknown, missing or mistyped option, with a `WorkerPoolError` for an
 * empty pool or duplicate worker ids, or with the journal's error.
 *
 * **Example**
 *
 * ```ts
 * import { conduct, single, worker } from "@divisi/core/promise"
 *
 * const result = await conduct({
 *   question: "What is 6 times 7?",
 *   pool: [worker({ id: "calculator", answer: () => "42" })],
 *   policy: single("calculator")
 * })
 * result.ending === "answered" && result.answer.length // => 2
 * ```
 */
export const conduct = async <A = unknown>(options: ConductOptions<A>): Promise<ConductResult<A>> =>
  conducted("conduct", options)

/**
 * Throws the journal's error if the journal failed before the run started. In that case there is no transcript to
 * return.
 */
const usable = <A>(result: Conductor.RunResult<A>): Conductor.RunResult<A> => {
  if (result.error?._tag === "JournalError" && result.spend.calls === 0 && result.rounds.length === 0)
    throw result.error
  return result
}

/**
 * Starts a run and yields its events as they occur. Breaking out of the loop stops the run.
 *
 * **Details**
 *
 * The last event is always `run-finished`. The iterator throws if the run cannot start, e.g. because of an unusable
 * `journal`, or if its events cannot be read.
 *
 * **Example**
 *
 * ```ts
 * import { single, streamRun, worker } from "@divisi/core/promise"
 *
 * const pool = [worker({ id: "calculator", answer: () => "42" })]
 * for await (const event of streamRun({ question: "What is 6 times 7?", pool, policy: single(0) })) {
 *   if (event.type === "run-finished") console.log(event.answer)
 * }
 * ```
 */
export async function* streamRun(options: ConductOptions): AsyncGenerator<RunEvent, void, undefined> {
  const events = buffer<RunEvent>()
  let last: RunEvent | undefined
  const { result, stop } = start("streamRun", options, (event) => {
    last = event
    events.add(event)
  })
  result.then(events.end, events.end)
  try {
    yield* events.read()
    const { detail, error, runId } = await result
    if (last?.type === "run-finished" && last.runId === runId) return
    throw error instanceof Error ? error : new Error(detail ?? `The events of the run ${runId} cannot be read.`)
  } finally {
    stop()
    await result
  }
}

/**
 * Streams the answer text of a run. Breaking out of the loop stops the run.
 *
 * **Details**
 *
 * The run starts immediately; await `result` for its ending and cost. With a single round, the answering step's text is
 * streamed as it is generated. If steps vote or another round may follow, the text arrives in one piece at the end. The
 * iterator throws if the run ends without an answer, or if a retried answer differs from the text already streamed.
 * Aborting the `signal` ends the loop without an error.
 *
 * **Example**
 *
 * ```ts
 * import { single, streamAnswer, worker } from "@divisi/core/promise"
 *
 * const poet = worker({
 *   id: "poet",
 *   answer: async function* () {
 *     yield "Roses "
 *     yield "are red."
 *   }
 * })
 * const answer = streamAnswer({ question: "A line, please.", pool: [poet], policy: single(0) })
 * const pieces: Array<string> = []
 * for await (const text of answer) pieces.push(text)
 * pieces // => ["Roses ", "are red."]
 * const { spend } = await answer.result
 * spend.calls // => 1
 * ```
 */
export const streamAnswer = <A = unknown>(options: ConductOptions<A>): AnswerStream<A> => {
  const texts = buffer<string>()
  const { listener, transcript } = record()
  let state: AnswerText.AnswerText | undefined
  const listen = (event: RunEvent) => {
    listener(event)
    state ??= AnswerText.start({ maxRounds: maxRounds(options) })
    const [next, text] = AnswerText.emit(state, event)
    state = next
    if (text !== "") texts.add(text)
  }
  let stop = () => {}
  const result = (async () => {
    const started = start("streamAnswer", options, listen)
    stop = started.stop
    return withTranscript(options, usable(await started.result), transcript)
  })()
  result.then(texts.end, texts.end)

  async function* read(): AsyncGenerator<string, void, undefined> {
    let isRead = false
    try {
      yield* texts.read()
      isRead = true
    } finally {
      if (!isRead) stop()
    }
    const { answer, detail, ending } = await result
    if (state?.isContradicted === true)
      throw new Error(
        "A retry produced text that differs from what was already streamed. Await `result` for the final answer."
      )
    if (answer === undefined && ending !== "interrupted")
      throw new Error(detail ?? `The run ended without an answer: ${ending}.`)
  }
  return { result, [Symbol.asyncIterator]: read }
}

/** Creates an async queue that buffers events until they are read. */
const buffer = <A>() => {
  let told: Array<A> = []
  let isOver = false
  let wake = () => {}
  const add = (one: A) => {
    told.push(one)
    wake()
  }
  const end = () => {
    isOver = true
    wake()
  }
  async function* read(): AsyncGenerator<A, void, undefined> {
    while (true) {
      const batch = told
      told = []
      yield* batch
      if (told.length > 0) continue
      if (isOver) return
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  return { add, end, read }
}
