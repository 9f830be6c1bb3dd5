/**
 * Simulated workers that compute answers from the text of their messages, within the limits of their profiles.
 *
 * A worker reads the question, its subtask and the visible answers. It determines which parts of the question to solve,
 * then applies the solver for each part's family, subject to the habits and slips in its profile. It has no access to a
 * task's family or reference. Workers are deterministic: equal seeds and messages produce equal answers.
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

/** A worker's skill in a family. Exact if it has no habits or slips. */
export interface Skill {
  readonly habits?: Habits | undefined
  /** Share of answers that are randomly wrong, from 0 to 1. The seed determines which ones. Default: 0. */
  readonly slips?: number | undefined
}

/** The capabilities and weaknesses of a worker. */
export interface Profile {
  readonly id: string
  readonly description: string
  readonly pricing: Pricing
  /** The families that the worker can solve. It declines all others. */
  readonly skills: { readonly [Name in AnyFamilyName]?: Skill | undefined }
  /** Whether the worker compares other workers' answers, and writes plans on request. */
  readonly generalist?: boolean | undefined
  /** Whether the worker only decides which of the visible answers is correct. */
  readonly checksOnly?: boolean | undefined
  /** Maximum number of parts that the worker reads in a composite question. Default: all. */
  readonly partsRead?: number | undefined
  /**
   * Number of significant digits that intermediate answers are rounded to before the next part. Not rounded by default.
   */
  readonly carriedDigits?: number | undefined
  /** Share of calls that fail as overloaded, from 0 to 1. Retrying such a call succeeds. Default: 0. */
  readonly failures?: number | undefined
  /** Whether the worker writes out its reasoning. The answer is the same, with more output tokens. */
  readonly thorough?: boolean | undefined
  /** Whether the worker can call tools. Declared in its `capabilities`. Default: `false`. */
  readonly tools?: boolean | undefined
  /** Time per answer, as a multiple of the pool's latency. Default: 1. */
  readonly pace?: number | undefined
}

/** Options shared by all workers. */
export interface Options {
  /** Time per answer at a `pace` of 1, in milliseconds. 0 answers immediately. */
  readonly latencyMillis?: number | undefined
  /** Share of questions for which a worker is unreachable, regardless of retries. Default: 0. */
  readonly outages?: number | undefined
}

/**
 * Validation table for {@link Options}, for use with `Options.check`.
 *
 * @internal
 */
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

/** Token limits of every worker. Answers are short, so a small output limit lets budgets reserve little per call. */
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
 * Whether an answer is a refusal: the worker could not solve the task, or a checker did not find a correct answer.
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
 * Creates a worker from a profile.
 *
 * **Details**
 *
 * Workers with `thorough` stream their reasoning first. Then the answer is streamed, followed by the usage, at four
 * characters per token. A task outside the worker's skills is declined with the finish reason `refusal` and a sentence
 * that starts with "I cannot do this". Solvers and their libraries are loaded on the first call.
 *
 * Workers with `tools` look up warehouse data with the tool from `GymTools` and issue all calls for a part in one turn.
 * If the tool is unavailable, they decline.
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
  /** Failed calls that have not been retried yet. A retry is an identical request, and it must succeed. */
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
