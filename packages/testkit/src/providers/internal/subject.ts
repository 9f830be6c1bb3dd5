/** Helpers for the contract's cases: a provider, servers that stop when the case ends, and calls with their outcome. */

import assert from "node:assert/strict"
import { setImmediate } from "node:timers/promises"
import { inspect } from "node:util"
import type { ToolCall } from "@divisi/core/Message"
import { WorkerStream } from "@divisi/core/streams"
import type { Pricing } from "@divisi/core/Usage"
import {
  type Capabilities,
  type Limits,
  type Worker,
  WorkerError,
  type WorkerPart,
  type WorkerRequest
} from "@divisi/core/Worker"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import type { Dialect } from "../Dialect.ts"
import * as WireServer from "../WireServer.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Declared properties of a worker, and its model. */
export interface About {
  readonly model: string
  readonly id: string
  readonly description: string
  readonly pricing: Pricing
  readonly limits: Limits
}

/** The options of a worker in a test. */
export interface Connection {
  /**
   * Base URL without a path or trailing slash, such as `http://127.0.0.1:4711`. Append the path that the SDK expects.
   */
  readonly baseURL: string
  readonly apiKey: string
  /** Time limit for the provider, in milliseconds. Defaults to the provider's own. */
  readonly timeoutMillis?: number | undefined
  /** Declared properties of the worker. Set only if the options contain `takesAbout`. */
  readonly about?: About | undefined
  /** Default settings for the worker. Each request can override them. */
  readonly defaults?:
    | { readonly temperature?: number | undefined; readonly maxOutputTokens?: number | undefined }
    | undefined
}

/** A setting of a request. */
export type Setting =
  | "maxOutputTokens"
  | "temperature"
  | "seed"
  | "stopSequences"
  | "reasoningEffort"
  | "reasoningBudget"
  | "reasoningOff"
  | "parallelToolCalls"
  | "jsonOutput"
  | "imageUrl"
  | "fileUrl"
  | "toolImages"

/**
 * How a setting is expected to be treated: passed on, rejected with an error that names it (the vendor does not support
 * it), or not sent because it is the vendor's default.
 */
export type Expectation =
  | "passed"
  | { readonly type: "rejected"; readonly reason: string }
  | { readonly type: "unsent"; readonly reason: string }

export type Expectations = { readonly [Name in Setting]?: Expectation | undefined }

/** A provider under test. */
export interface Options {
  /** The tested provider, e.g. `openai`. */
  readonly name: string
  readonly dialect: Dialect
  readonly make: (connection: Connection) => Worker
  readonly settings?: Expectations | undefined
  /**
   * Whether `make` uses `about`, which contains the model's name and the declared properties of the worker. Default:
   * `false`.
   */
  readonly takesAbout?: boolean | undefined
  /**
   * Whether answers are streamed. If `false`, the provider requests complete answers, and cases that require streaming
   * are skipped. Default: `true`.
   */
  readonly streams?: boolean | undefined
  /**
   * Whether cases about misbehaving vendors try all answers (up to several hundred) instead of at most 48. Default:
   * `false`, or `true` if the environment variable `DIVISI_CONTRACT` is `thorough`.
   */
  readonly isThorough?: boolean | undefined
}

/** Returns the capabilities declared by a provider's workers. */
export const capabilitiesOf = ({ make }: Options): Capabilities =>
  make({ baseURL: "http://127.0.0.1:9", apiKey: "sk-contract-of-nobody" }).capabilities ?? {}

/** The result of a call. */
export interface CallResult {
  readonly parts: ReadonlyArray<WorkerPart>
  readonly text: string
  readonly reasoning: string
  /** The tool calls. */
  readonly calls: ReadonlyArray<ToolCall>
  readonly notices: ReadonlyArray<string>
  readonly finish: Extract<WorkerPart, { type: "finish" }> | undefined
  /** The error. `undefined` if the call succeeded. */
  readonly error: WorkerError | undefined
}

/** A call in progress. */
export interface Call {
  readonly parts: ReadonlyArray<WorkerPart>
  /** Resolves when the given number of parts has arrived. */
  readonly received: (count: number) => Promise<void>
  readonly interrupt: () => Promise<void>
  readonly outcome: Promise<CallResult>
}

/** The environment in which a case runs. */
export interface Subject {
  readonly options: Options
  readonly apiKey: string
  readonly serve: (scripts: WireServer.Scripts) => Promise<WireServer.WireServer>
  /** Creates a worker that calls a server or an address. */
  readonly worker: (at: WireServer.WireServer | string, settings?: Omit<Connection, "baseURL" | "apiKey">) => Worker
  /** Runs a call to completion and checks the invariants that hold for all calls. */
  readonly call: (worker: Worker, request?: Partial<WorkerRequest>) => Promise<CallResult>
  readonly start: (worker: Worker, request?: Partial<WorkerRequest>) => Call
  /** Starts a server, creates a worker and calls it once. */
  readonly ask: (scripts: WireServer.Scripts, request?: Partial<WorkerRequest>) => Promise<Asked>
}

/** The outcome of a call, and the server that answered it. */
export interface Asked extends CallResult {
  readonly server: WireServer.WireServer
}

// -------------------------------------------------------------------------------------------------------------------
// Calls
// -------------------------------------------------------------------------------------------------------------------

/** Maximum delay for a part that the server has already sent, in milliseconds. */
const patience = 2000

/** The default request of a case. Each call gets its own copy, because a faulty provider may change it. */
export const hello = (): WorkerRequest => ({ messages: [{ role: "user", content: "Say hello." }] })

const joined = (parts: ReadonlyArray<WorkerPart>, type: "text" | "reasoning") =>
  parts.map((part) => (part.type === type ? part.text : "")).join("")

const resultOf = (parts: ReadonlyArray<WorkerPart>, exit: Exit.Exit<void, WorkerError>): CallResult => {
  let error: WorkerError | undefined
  if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) {
    const failure = exit.cause.reasons.find(Cause.isFailReason)
    assert.ok(failure, `The worker died instead of failing with a WorkerError: ${Cause.pretty(exit.cause)}`)
    error = failure.error
    assert.ok(error instanceof WorkerError, `The worker failed with something else: ${inspect(error)}`)
  }
  const finishes = parts.filter((part) => part.type === "finish")
  const calls = parts.flatMap((part) => (part.type === "tool-call" ? [part] : []))
  return {
    parts,
    text: joined(parts, "text"),
    reasoning: joined(parts, "reasoning"),
    calls,
    notices: parts.flatMap((part) => (part.type === "notice" ? [part.notice] : [])),
    finish: finishes[0],
    error
  }
}

/** Checks that every tool call can be answered. */
const holdCalls = ({ calls, finish }: CallResult) => {
  for (const call of calls) {
    assert.ok(call.id !== "" && call.name !== "", "A call of a tool has no id or no name.")
    assert.equal(typeof call.arguments, "string", "The arguments of a call must be a text.")
  }
  assert.equal(new Set(calls.map(({ id }) => id)).size, calls.length, "Two calls have one id.")
  if (finish?.reason === "tool-calls") assert.ok(calls.length > 0, "It waits for tools, and has asked for none.")
  if (finish?.reason === "stop") assert.equal(calls.length, 0, "It has asked for tools, and does not wait for them.")
}

/** Checks that a call that did not fail has exactly one finish part, at the end. */
const hold = (outcome: CallResult, isInterrupted: boolean): CallResult => {
  const finishes = outcome.parts.filter((part) => part.type === "finish").length
  if (outcome.error !== undefined) assert.equal(finishes, 0, "A failed call finished, too.")
  else if (!isInterrupted) {
    assert.equal(finishes, 1, `A call that succeeds finishes once, not ${finishes} times.`)
    assert.equal(outcome.parts.at(-1)?.type, "finish", "The finish must be the last part.")
  }
  for (const part of outcome.parts) if ("text" in part) assert.notEqual(part.text, "", "A part is empty.")
  holdCalls(outcome)
  return outcome
}

const start = (worker: Worker, request: Partial<WorkerRequest> = {}): Call => {
  const parts: Array<WorkerPart> = []
  const waiting = new Set<() => void>()
  const wake = () => {
    for (const look of waiting) look()
  }
  const take = (part: WorkerPart) =>
    Effect.sync(() => {
      parts.push(part)
      wake()
    })
  const fiber = Effect.runFork(Stream.runForEach(WorkerStream.generate(worker, { ...hello(), ...request }), take))
  let isInterrupted = false
  const outcome = Effect.runPromise(Fiber.await(fiber)).then((exit) => hold(resultOf(parts, exit), isInterrupted))
  outcome.catch(() => undefined)
  const received = (count: number) =>
    new Promise<void>((resolve, reject) => {
      const late = () => reject(new Error(`${parts.length} of ${count} parts have come in ${patience} ms.`))
      const timer = setTimeout(late, patience)
      const look = () => {
        if (parts.length < count) return
        clearTimeout(timer)
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
      outcome.then(() => {
        clearTimeout(timer)
        if (parts.length < count) reject(new Error(`The call ended after ${parts.length} of ${count} parts.`))
      }, reject)
    })
  return {
    parts,
    received,
    outcome,
    interrupt: () => {
      isInterrupted = true
      return Effect.runPromise(Fiber.interrupt(fiber))
    }
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Assertions
// -------------------------------------------------------------------------------------------------------------------

/** Returns all string representations of a value. */
export const faces = (value: unknown): ReadonlyArray<string> => {
  const seen = new Set<unknown>()
  const chain: Array<unknown> = []
  for (let next: unknown = value; next !== undefined && next !== null && !seen.has(next); ) {
    seen.add(next)
    chain.push(next)
    next = typeof next === "object" && "cause" in next ? next.cause : undefined
  }
  return chain.flatMap((one) => [
    String(one),
    JSON.stringify(one) ?? "",
    inspect(one, { depth: 20, showHidden: true, getters: true }),
    one instanceof Error ? `${one.message}\n${one.stack}` : ""
  ])
}

/** Fails if a secret appears in a value. */
export const assertHidden = (value: unknown, secret: string): void => {
  for (const face of faces(value)) {
    const at = face.indexOf(secret)
    assert.equal(at, -1, `The key shows: …${face.slice(Math.max(0, at - 80), at).replace(/\s+/g, " ")}<key>…`)
  }
}

/** Returns the error of a call that must fail with one of the given reasons. */
export const assertFails = (outcome: CallResult, ...tags: ReadonlyArray<string>): WorkerError => {
  assert.ok(outcome.error, `The call must fail with ${tags.join(" or ")}, but it ended well: ${inspect(outcome.parts)}`)
  const tag = outcome.error.reason._tag
  assert.ok(tags.includes(tag), `The call must fail with ${tags.join(" or ")}, not ${tag}: ${outcome.error.message}`)
  return outcome.error
}

/** Fails if a call did not succeed. */
export const assertSucceeds = (outcome: CallResult): Required<Pick<CallResult, "finish">> & CallResult => {
  assert.equal(outcome.error, undefined, `The call failed: ${outcome.error?.message}`)
  assert.ok(outcome.finish, "The call has no finish.")
  return { ...outcome, finish: outcome.finish }
}

/**
 * Fails if a call with a setting did not succeed. If the provider rejected it, the message explains how to declare that.
 */
export const assertAccepts = (outcome: CallResult, setting: Setting): ReturnType<typeof assertSucceeds> => {
  const { error } = outcome
  assert.notEqual(
    error?.reason._tag,
    "InvalidRequest",
    `The call was rejected: ${error?.message}. If the vendor does not support this setting, declare it: settings: { ${setting}: { type: "rejected", reason: "…" } }`
  )
  return assertSucceeds(outcome)
}

/**
 * Waits up to 100 ms for the client to close the connection. If this process itself is delayed, a closed connection
 * still counts.
 */
export const assertClosesSoon = async (exchange: WireServer.Exchange): Promise<void> => {
  const deadline = async () => {
    await new Promise((resolve) => setTimeout(resolve, 100))
    for (let turn = 0; turn < 10; turn++) await setImmediate()
    return "late" as const
  }
  const closed = await Promise.race([exchange.closed, deadline()])
  assert.notEqual(closed, "late", "The connection is still open 100 ms after the interruption.")
  assert.equal(typeof closed === "object" && closed.isWhole, false, "The server has sent all of its answer.")
}

/** Whether answers are streamed. */
export const isStreaming = ({ streams = true }: Options): boolean => streams

/**
 * Waits until a call has received all data of a hanging answer: the given number of parts, or half of a complete
 * answer.
 */
export const begun = async (call: Call, exchange: WireServer.Exchange, count: number, options: Options) => {
  if (isStreaming(options)) await call.received(count)
  await exchange.written
}

// -------------------------------------------------------------------------------------------------------------------
// Subjects
// -------------------------------------------------------------------------------------------------------------------

let keys = 0

const makeSubject = (options: Options, servers: Array<WireServer.WireServer>): Subject => {
  const apiKey = `sk-contract-${process.pid}-${++keys}-Zm9yYmlkZGVu`
  const serve = async (scripts: WireServer.Scripts) => {
    const server = await WireServer.start(options.dialect, scripts)
    servers.push(server)
    return server
  }
  const worker: Subject["worker"] = (at, settings = {}) =>
    options.make({ baseURL: typeof at === "string" ? at : at.url, apiKey, ...settings })
  const call: Subject["call"] = async (worker, request) => {
    const outcome = await start(worker, request).outcome
    if (outcome.error !== undefined) {
      assert.equal(outcome.error.worker, worker.id, "The error must name its worker.")
      assertHidden(outcome.error, apiKey)
    }
    return outcome
  }
  return {
    options,
    apiKey,
    serve,
    worker,
    call,
    start,
    ask: async (scripts, request) => {
      const server = await serve(scripts)
      return { ...(await call(worker(server), request)), server }
    }
  }
}

/** Maximum time without a request to any of a case's servers, in seconds. */
const patienceSeconds = 10

/**
 * Fails a case that makes no progress, for example because its worker waits for an endless answer. Seconds during which
 * this process was suspended are not counted.
 */
const stalls = (servers: ReadonlyArray<WireServer.WireServer>) => {
  const { promise, reject } = Promise.withResolvers<never>()
  let seen = 0
  let silent = 0
  const look = () => {
    const requests = servers.reduce((sum, { exchanges }) => sum + exchanges.length, 0)
    silent = requests === seen ? silent + 1 : 0
    seen = requests
    if (silent >= patienceSeconds) reject(new Error(`The call has not ended within ${patienceSeconds} s.`))
  }
  const timer = setInterval(look, 1000)
  return { promise, stop: () => clearInterval(timer) }
}

/** Runs a case and closes its servers. The case fails on an unhandled rejection or a call that does not end. */
export const withSubject = async (options: Options, run: (subject: Subject) => Promise<void>): Promise<void> => {
  const servers: Array<WireServer.WireServer> = []
  const unhandled: Array<unknown> = []
  const listen = (reason: unknown) => unhandled.push(reason)
  process.on("unhandledRejection", listen)
  const stalled = stalls(servers)
  try {
    await Promise.race([run(makeSubject(options, servers)), stalled.promise])
    await Promise.all(servers.map((server) => server.close()))
    // Unhandled rejections are reported after the microtasks of an event loop turn.
    for (let turn = 0; turn < 3; turn++) await setImmediate()
    assert.equal(unhandled.length, 0, `A rejection is unhandled: ${inspect(unhandled[0])}`)
  } finally {
    stalled.stop()
    await Promise.all(servers.map((server) => server.close()))
    process.off("unhandledRejection", listen)
  }
}
