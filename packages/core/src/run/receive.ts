/**
 * Receives one answer. What workers send is held to its form and its bounds here, once for all of them, before anything
 * is counted or shown.
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Allowance } from "../task/Allowance.ts"
import * as Usage from "../task/Usage.ts"
import { type FinishReason, type Worker, WorkerError, type WorkerPart, type WorkerRequest } from "../task/Worker.ts"
import { millisSince, ticks } from "./elapsed.ts"
import type * as ResponseCache from "./ResponseCache.ts"

/** Takes what a vendor says is left of its limits. */
export type AllowanceListener = (allowance: Allowance) => void

/** Takes the pieces of an answer as they come. */
export type DeltaListener = (kind: "text" | "reasoning", text: string) => void

/** What has arrived of an answer. */
export interface Received {
  text: string
  reasoning: string
  /** Its characters, where an empty piece counts as one. */
  size: number
  finish: Extract<WorkerPart, { readonly type: "finish" }> | undefined
}

/** An answer of which nothing has arrived. */
export const nothingYet = (): Received => ({ text: "", reasoning: "", size: 0, finish: undefined })

/** What an answer is held to. */
export interface Bounds {
  /** The most tokens that it may have been asked for. */
  readonly outputTokens: number
  readonly timeoutMillis: number
  /** The usage of a whole answer of which none is reported. */
  readonly estimate: (received: Received) => Usage.Usage
  readonly clock: Clock.Clock
}

/** No answer is cut below a mebi of characters; tokens of more than 64 characters are rare, and never all of them. */
const leastCharacters = 2 ** 20
const charactersPerToken = 64

const finishReasons: ReadonlySet<string> = new Set<FinishReason>(["stop", "length", "content-filter", "other"])

const malformed = (worker: Worker, detail: string, usage?: Usage.Usage) =>
  new WorkerError({ worker: worker.id, reason: { _tag: "Malformed", detail }, usage })

/** The error of a call that is out of time. */
export const timeout = (worker: Worker, afterMillis: number) =>
  new WorkerError({
    worker: worker.id,
    reason: { _tag: "Timeout", afterMillis, detail: `no answer after ${afterMillis / 1000} s` }
  })

const wholeOf = (worker: Worker, { finish, reasoning, text }: Received) => {
  if (finish === undefined) return Effect.fail(malformed(worker, "the stream ended before the answer was finished"))
  if (text.trim() === "") return Effect.fail(malformed(worker, "the answer is empty", finish.usage))
  const answer: ResponseCache.Answer = { text, finishReason: finish.reason, usage: finish.usage }
  return Effect.succeed(reasoning === "" ? answer : { ...answer, reasoning })
}

/**
 * Runs `generate` and takes its parts into `received`, up to the whole answer.
 *
 * An answer fails as `Malformed` where its parts have another form or come after its end, and where it goes on past its
 * bound; as a `Timeout` where it goes on arriving past the time limit. A usage that cannot be is estimated.
 */
export const receive = (
  call: {
    readonly worker: Worker
    readonly request: WorkerRequest
    readonly onDelta?: DeltaListener | undefined
  },
  received: Received,
  bounds: Bounds,
  onAllowance: AllowanceListener
): Effect.Effect<ResponseCache.Answer, WorkerError> => {
  const { onDelta, request, worker } = call
  const { clock, timeoutMillis } = bounds
  const startedAt = ticks(clock)
  const most = Math.max(leastCharacters, charactersPerToken * bounds.outputTokens)

  const take = (part: WorkerPart): WorkerError | undefined => {
    if (part.type === "allowance") {
      onAllowance(part)
      return undefined
    }
    if (received.finish !== undefined) {
      return malformed(worker, "parts came after the end of the answer", received.finish.usage)
    }
    if (part.type === "finish") {
      const reason = finishReasons.has(part.reason) ? part.reason : "other"
      received.finish = { type: "finish", reason, usage: Usage.checked(part.usage, () => bounds.estimate(received)) }
      return undefined
    }
    const { text, type } = part
    if (type !== "text" && type !== "reasoning") return malformed(worker, "it sent a part of no known type")
    if (typeof text !== "string") return malformed(worker, `a piece of its text is no string but ${typeof text}`)
    received.size += Math.max(1, text.length)
    if (received.size > most) return malformed(worker, `its answer went on past ${most} characters`)
    received[type] += text
    onDelta?.(type, text)
    return undefined
  }

  const takeAll = (parts: ReadonlyArray<WorkerPart>): Effect.Effect<void, WorkerError> =>
    Effect.suspend(() => {
      for (const part of parts) {
        const error = take(part)
        if (error !== undefined) return Effect.fail(error)
      }
      return millisSince(clock, startedAt) > timeoutMillis && received.finish === undefined
        ? Effect.fail(timeout(worker, timeoutMillis))
        : Effect.void
    })

  const parts = Stream.runForEachArray(worker.generate(request), takeAll)
  return Effect.andThen(
    parts,
    Effect.suspend(() => wholeOf(worker, received))
  )
}
