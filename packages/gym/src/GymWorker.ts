/**
 * Workers of the gym. Each one computes its answers from the text of its messages, as well as its profile allows.
 *
 * A worker reads the question, its subtask and the visible answers, determines which parts of the question to solve,
 * and solves them with the solver of their family, including its own habits and slips. It does not know the family or
 * the reference of a task. Equal seeds and messages give equal answers.
 */

import { Options as Tables } from "@divisi/core"
import { type Message, text } from "@divisi/core/Message"
import type { Pricing } from "@divisi/core/Usage"
import { type FinishReason, type Worker, WorkerError, type WorkerPart, type WorkerRequest } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { AnyFamilyName } from "./Family.ts"
import type { Habits } from "./Habits.ts"
import * as Assignment from "./internal/assignment.ts"
import * as Draw from "./internal/draw.ts"
import * as Lookups from "./internal/lookups.ts"
import type { Reply } from "./internal/solve.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A worker's skill in a family. Without habits and slips, it is exact. */
export interface Skill {
  readonly habits?: Habits | undefined
  /** The share of answers that are wrong by mistake, from 0 to 1. The seed determines which ones. */
  readonly slips?: number | undefined
}

/** The properties of a worker. */
export interface Profile {
  readonly id: string
  readonly description: string
  readonly pricing: Pricing
  /** The families that the worker solves; it declines the others. */
  readonly skills: { readonly [Name in AnyFamilyName]?: Skill | undefined }
  /** Whether it compares other workers' answers and makes plans on request. */
  readonly generalist?: boolean | undefined
  /** Whether it only decides which of the visible answers is correct. */
  readonly checksOnly?: boolean | undefined
  /** The maximum number of parts that the worker reads in a composite question; absent for all. */
  readonly partsRead?: number | undefined
  /** The number of digits to which it rounds the answer to a part before using it in the next part. */
  readonly carriedDigits?: number | undefined
  /** The share of calls that fail as overloaded, from 0 to 1. A retry of the same call succeeds. */
  readonly failures?: number | undefined
  /** Whether it writes out its reasoning: the same answer with more output tokens. */
  readonly thorough?: boolean | undefined
  /** Whether it can call tools, as declared in its `capabilities`. Default: `false`. */
  readonly tools?: boolean | undefined
  /** The duration of its answers, as a multiple of the pool's latency. Default: 1. */
  readonly pace?: number | undefined
}

/** Options for running workers. */
export interface Options {
  /** The duration of an answer at a `pace` of 1, in milliseconds; 0 answers immediately. */
  readonly latencyMillis?: number | undefined
  /** The share of questions for which a worker is unreachable, regardless of retries. Default: 0. */
  readonly outages?: number | undefined
}

/** The table of {@link Options}, for `Options.check`. */
export const optionsTable = {
  latencyMillis: Tables.number(0),
  outages: Tables.number(0, 1)
} satisfies Tables.ShapeOf<Options>

// -------------------------------------------------------------------------------------------------------------------
// Tokens
// -------------------------------------------------------------------------------------------------------------------

const charactersPerToken = 4
const tokensPerMessage = 3

const tokensOf = (text: string): number => Math.ceil(text.length / charactersPerToken)

/** The limits of every worker. Answers are short, so a budget reserves little for a call. */
const limits = { contextTokens: 8_192, maxOutputTokens: 512 }

const written = (message: Message): string =>
  message.role === "assistant" && message.toolCalls !== undefined
    ? text(message) + JSON.stringify(message.toolCalls)
    : text(message)

const inputTokens = ({ messages, tools = [] }: WorkerRequest): number =>
  messages.reduce(
    (sum, message) => sum + tokensPerMessage + tokensOf(written(message)),
    tools.length === 0 ? 0 : tokensOf(JSON.stringify(tools))
  )

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

const pieces = (text: string): ReadonlyArray<string> => text.match(/\S+\s*|\s+/g) ?? [text]

const reasonOf = ({ articles, isRefusal, text }: Reply, shown: string): FinishReason => {
  if (articles.length > 0) return "tool-calls"
  if (isRefusal) return "refusal"
  return shown.length < text.length ? "length" : "stop"
}

const asParts = (
  request: WorkerRequest,
  reply: Reply,
  lookups: Lookups.Lookups,
  thorough: boolean
): ReadonlyArray<WorkerPart> => {
  const limit = Math.min(request.maxOutputTokens ?? limits.maxOutputTokens, limits.maxOutputTokens)
  const thinks = thorough && request.reasoning?.type !== "off"
  const thoughts = thinks ? reply.thoughts.map((thought) => `${thought}\n`) : []
  const reasoningTokens = Math.min(limit, tokensOf(thoughts.join("")))
  const room = (limit - reasoningTokens) * charactersPerToken
  const text = reply.text.slice(0, room)
  const calls = Lookups.calls(reply.articles, lookups)
  return [
    ...thoughts.map((thought): WorkerPart => ({ type: "reasoning", text: thought })),
    ...pieces(text).map((piece): WorkerPart => ({ type: "text", text: piece })),
    ...calls,
    {
      type: "finish",
      reason: reasonOf(reply, text),
      usage: {
        inputTokens: inputTokens(request),
        outputTokens: reasoningTokens + tokensOf(text) + (calls.length === 0 ? 0 : tokensOf(JSON.stringify(calls))),
        ...(reasoningTokens > 0 ? { reasoningTokens } : {})
      }
    }
  ]
}

const spread = (parts: ReadonlyArray<WorkerPart>, millis: number): Stream.Stream<WorkerPart> => {
  if (millis === 0) return Stream.fromArray(parts)
  const each = millis / parts.length
  return Stream.mapEffect(Stream.fromArray(parts), (part) => Effect.as(Effect.sleep(each), part))
}

/**
 * Whether a text declines to answer: the worker could not solve the task, or a checker found no correct answer.
 *
 * **Example**
 *
 * ```ts
 * import { GymWorker } from "@divisi/gym"
 *
 * GymWorker.isDecline("I cannot do this: none of the answers above is right.") // => true
 * GymWorker.isDecline("42") // => false
 * ```
 */
export const isDecline: (answer: string) => boolean = Assignment.isDecline

/**
 * Makes a worker from a profile.
 *
 * **Details**
 *
 * If its profile is thorough, it first streams its reasoning. Then it streams its answer and its usage, at four
 * characters per token. It declines tasks beyond its abilities (finish reason `refusal`) in a sentence that begins with
 * "I cannot do this". Solvers, and the libraries they need, are loaded on the first call.
 *
 * A worker whose profile has `tools` looks up warehouse data with the tool of `GymTools`, with all calls for a part in
 * one turn. Without the tool, it declines.
 *
 * **Example**
 *
 * ```ts
 * import { GymWorker } from "@divisi/gym"
 *
 * const clerk = GymWorker.make({
 *   id: "clerk",
 *   description: "Reckons with dates, and forgets leap years.",
 *   pricing: { inputPerMillion: 0.1, outputPerMillion: 0.4 },
 *   skills: { calendar: { habits: { ignoresLeapYears: true } } }
 * })
 * ```
 */
export const make = (profile: Profile, options: Options = {}): Worker => {
  Tables.check("GymWorker.make", options, optionsTable)
  const { failures = 0, id, pace = 1 } = profile
  const { outages = 0 } = options
  const millis = (options.latencyMillis ?? 0) * pace
  /** Calls that failed and were not retried yet: a retry is the same request, and it must succeed. */
  const failed = new Set<number>()

  const fails = (seed: number): boolean => {
    if (failures === 0 || failed.delete(seed) || !Draw.make(Draw.derive(seed, "failure")).chance(failures)) return false
    failed.add(seed)
    return true
  }

  const answer = Effect.fnUntraced(function* (request: WorkerRequest) {
    const seed = Draw.derive(id, request.seed ?? 0, JSON.stringify(request.messages))
    const neededTokens = inputTokens(request)
    const { contextTokens } = limits
    if (neededTokens > contextTokens) {
      return yield* new WorkerError({ worker: id, reason: { _tag: "ContextTooLong", contextTokens, neededTokens } })
    }
    const reading = Assignment.read(Lookups.without(request.messages))
    const isOut = outages > 0 && Draw.make(Draw.derive(id, reading.question, "outage")).chance(outages)
    if (isOut || fails(seed)) {
      return yield* new WorkerError({ worker: id, reason: { _tag: "Overloaded", retryAfterMillis: millis } })
    }
    const { reply } = yield* Effect.promise(() => import("./internal/solve.ts"))
    const lookups = Lookups.read(request)
    const said = yield* Effect.promise(() => reply(profile, reading, seed, lookups))
    return spread(asParts(request, said, lookups, profile.thorough ?? false), millis)
  })

  return {
    id,
    description: profile.description,
    capabilities: { tools: profile.tools ?? false },
    provider: `gym:${id}`,
    pricing: profile.pricing,
    recovery: "free",
    limits,
    countInputTokens: inputTokens,
    generate: (request) => Stream.unwrap(answer(request))
  }
}
