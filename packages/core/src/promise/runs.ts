/** Functions that run a question: wait for the result, follow the events, or stream the answer. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { toErrorOutput } from "../Callback.ts"
import * as AnswerText from "../events/AnswerText.ts"
import type { Ending, RunEvent, WaitingCall } from "../events/RunEvent.ts"
import * as Transcript from "../events/Transcript.ts"
import { JournalError } from "../journal/JournalErrors.ts"
import { maxRounds, conduct as run } from "../loop/run.ts"
import { OptionsError } from "../Options.ts"
import type { Policy } from "../policy/Policy.ts"
import { Caller } from "../run/Caller.ts"
import type * as Conductor from "../run/Conductor.ts"
import { carriedCaller } from "../run/carried.ts"
import { withJournaledRun } from "../run/journaled.ts"
import { Gate } from "../run/Resilience.ts"
import { ResponseCache } from "../run/ResponseCache.ts"
import type { RunSettings } from "../run/RunSettings.ts"
import * as Task from "../task/Task.ts"
import type { Given, ToolContext } from "../task/Tool.ts"
import type { Worker } from "../task/Worker.ts"
import * as WorkerPool from "../task/WorkerPool.ts"
import type { SpanRecorder } from "../telemetry/Telemetry.ts"
import { checkOptions, checkResults } from "./options.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/**
 * The options of a run: a question, a pool, and everything in `Conductor.Options` and `Conductor.RunOptions`. `A` is
 * the type of the requested `output`.
 */
export interface ConductOptions<A = unknown>
  extends RunSettings,
    Omit<Conductor.RunOptions<A>, "pool" | "listener" | "seed" | "tools" | "approve" | "approvePlan"> {
  /** The question: text, parts with pictures and files, or a task. */
  readonly question: Task.Input
  /** The workers: at least one, with unique ids. */
  readonly pool: ReadonlyArray<Worker>
  /**
   * Writes the plans. Default, as in `divisi run` and `divisi serve`: with one worker, that worker answers. If all
   * workers are language models, the strongest answers, and if it fails, the next worker takes over. If only some are,
   * the strongest language model writes the plan.
   */
  readonly policy?: Policy | undefined
  /** Called before a tool that needs approval runs. Without `approve`, the run is suspended at that point. */
  readonly approve?: ((request: ToolContext) => boolean | Promise<boolean>) | undefined
  /**
   * Called with a plan that needs approval (`approvePlans`), and returns the decision or the text of another plan.
   * Without `approvePlan`, the run is suspended at that point.
   */
  readonly approvePlan?: ((plan: WaitingCall) => Given | Promise<Given>) | undefined
  /** Stops the run: its calls are interrupted, and `ending` of the result is `interrupted`. Nothing is thrown. */
  readonly signal?: AbortSignal | undefined
  /** Called with every event. An exception does not stop the run: a warning is logged at its end. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined
  /** Creates telemetry spans for the run: `openTelemetry(api)`. */
  readonly telemetry?: SpanRecorder | undefined
  /** Stores answers across runs: `openCache` of `@divisi/files/promise`, or `memoryCache`. */
  readonly cache?: ResponseCache | undefined
  /** Applies the providers' limits to all runs that share it: `openGate` of `@divisi/provider-kit/promise`. */
  readonly gate?: Gate | undefined
}

/**
 * The result of a run, with its transcript. If `ending` is `answered`, there is an `answer`, and the `value` for the
 * requested `output`.
 */
export type ConductResult<A = unknown> = Omit<Conductor.RunResult<A>, "ending" | "answer" | "value"> & {
  /** The transcript of the run. Computed on first access. */
  readonly transcript: Transcript.Transcript
} & (
    | { readonly ending: "answered"; readonly answer: string; readonly value: A }
    | {
        readonly ending: "suspended"
        readonly answer: undefined
        readonly value: undefined
        /**
         * Resumes the run with results for its pending calls (`waitingFor`), by call id. Calls without a result remain
         * pending. Nothing is requested or paid for twice, and passing the same results again is idempotent.
         */
        readonly resume: (results: Conductor.Past["results"]) => Promise<ConductResult<A>>
      }
    | {
        readonly ending: Exclude<Ending, "answered" | "suspended">
        readonly answer: string | undefined
        readonly value: A | undefined
      }
  )

/** The text of an answer as a stream, and the result of its run. */
export interface AnswerStream<A = unknown> extends AsyncIterable<string> {
  /** The same result as from `conduct`. Resolves when the text has ended. */
  readonly result: Promise<ConductResult<A>>
}

// -------------------------------------------------------------------------------------------------------------------
// Start
// -------------------------------------------------------------------------------------------------------------------

/** A run that has been started. */
interface Started<A> {
  readonly result: Promise<Conductor.RunResult<A>>
  readonly stop: () => void
}

type Listener = (event: RunEvent) => void

/** Combines two listeners. Returns the result of the second, so that the promise of an async listener is observed. */
const both =
  (first: Listener, second: Listener): Listener =>
  (event) => {
    first(event)
    return second(event)
  }

const start = <A>(what: string, options: ConductOptions<A>, own: Listener): Started<A> => {
  checkOptions(what, options)
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
  // It cannot be interrupted before it has begun, so that a run stopped then also has a result. With a signal that is
  // already aborted, it is interrupted before it calls anything.
  const begun = signal?.aborted === true ? Effect.andThen(Effect.yieldNow, gated) : gated
  const caller = carriedCaller()
  const placed = caller === undefined ? begun : Effect.provideService(begun, Caller, caller)
  const fiber = Effect.runFork(toErrorOutput(placed), { uninterruptible: true, signal })
  // A run that dies of an internal bug still ends for its waiting callers.
  fiber.addObserver((exit) => {
    if (Exit.isFailure(exit)) reject(Cause.squash(exit.cause))
  })
  return { result: promise, stop: () => fiber.interruptUnsafe() }
}

// -------------------------------------------------------------------------------------------------------------------
// Runs
// -------------------------------------------------------------------------------------------------------------------

/** The maximum number of events that are queued for a reader before they are folded. */
const mostWaiting = 64

/** Buffers the events of a run, and folds them into its transcript on first access. */
const record = () => {
  const recorder = Transcript.recorder()
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
  // The type is a union by `ending` and `answer`; every run satisfies it.
  return whole as ConductResult<A>
}

/** Resumes a suspended run. Equal results return the same run, even if they are passed concurrently. */
const resuming = <A>(options: ConductOptions<A>, transcript: () => Transcript.Transcript) => {
  const known = new Map<string, Promise<ConductResult<A>>>()
  return async (results: Conductor.Past["results"]): Promise<ConductResult<A>> => {
    checkResults(results)
    const key = JSON.stringify(Object.entries(results).toSorted(([left], [right]) => (left < right ? -1 : 1)))
    const same = known.get(key)
    if (same !== undefined) return same
    const next = resume({ ...options, transcript: transcript(), results })
    known.set(key, next)
    return next
  }
}

/**
 * Options of `resume`: the transcript of the run, or its `runId` and the `journal` that stores it, and the original
 * options. Include the `seed` if the run resumes from its transcript.
 */
export type ResumeOptions<A = unknown> = Omit<ConductOptions<A>, "question" | "runId" | "resume"> & Conductor.Resumption

/**
 * Resumes a run that was suspended, stopped or killed, from its transcript or from a journal, in this process or
 * another. Answers that it has already received are not paid for again. If the run has ended according to its journal,
 * the stored result is returned.
 *
 * **Details**
 *
 * Pass the pool, policy, tools and settings of the original run. A journaled run that deviates from its record stops
 * with a `JournalMismatch` in `error`. The promise is rejected with a `JournalError` if the journal does not contain
 * the run, or another process is executing it.
 *
 * **Example**
 *
 * ```ts
 * import { conduct, decodeTranscript, encodeTranscript, resume, single, tool, worker } from "@divisi/core/promise"
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
 * const transcript = await decodeTranscript(saved)
 * const [call] = suspended.waitingFor
 * const result = await resume({ ...options, transcript, results: { [call!.id]: "12 EUR" } })
 * result.answer // => "It is 12 EUR."
 * result.spend.calls // => 2
 * ```
 *
 * **Example** (of a journal)
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
export const resume = async <A = unknown>({
  results,
  runId,
  transcript,
  ...options
}: ResumeOptions<A>): Promise<ConductResult<A>> => {
  if (transcript === undefined && (runId === undefined || options.journal === undefined)) {
    throw new OptionsError({
      what: "resume",
      detail: `Give the "transcript" of the run, or its "runId" and "journal".`
    })
  }
  checkResults(results)
  const from = transcript === undefined ? { runId: runId!, results } : { transcript, results }
  const {
    begun,
    past,
    runId: id
  } = await Effect.runPromise(withJournaledRun(({ resumed }) => resumed(from, options.journal)))
  const seed = options.seed ?? begun?.seed
  return conduct({ ...options, seed, question: past.transcript.task, runId: id, resume: past })
}

/**
 * Answers a question.
 *
 * **Details**
 *
 * The promise is rejected only if the `journal` is unusable or the options are invalid: with an `OptionsError` for an
 * option that does not exist, is missing or has the wrong type, or with a `WorkerPoolError` for an empty pool or
 * duplicate worker ids. `ending` states how the run ended. With `answered` there is an `answer`; with other endings,
 * only a run that was cut short may have one.
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
export const conduct = async <A = unknown>(options: ConductOptions<A>): Promise<ConductResult<A>> => {
  const { listener, transcript } = record()
  const { result } = start("conduct", options, listener)
  return withTranscript(options, usable(await result), transcript)
}

/** Throws the journal's error if the journal was unusable from the start, because there is no transcript then. */
const usable = <A>(result: Conductor.RunResult<A>): Conductor.RunResult<A> => {
  if (result.error instanceof JournalError && result.spend.calls === 0 && result.rounds.length === 0) throw result.error
  return result
}

/**
 * Yields the events of a run as they happen. Leaving the loop stops the run.
 *
 * **Details**
 *
 * The last event is always `run-finished`. The loop throws if the run cannot start, e.g. because of its `journal`, or
 * if its events cannot be read.
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
 * Streams the text of the answer. Leaving the loop stops the run.
 *
 * **Details**
 *
 * With one round, the text of the answering step arrives in chunks; if steps vote, or another round may follow, it
 * arrives at the end. The run starts immediately, and `result` contains its ending and cost. The loop throws an error
 * with the reason if there is no answer, or if the answer of a retry differs from the text so far. An aborted `signal`
 * ends the loop without an error.
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

/** Buffers events that arrive faster than they are read. */
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
