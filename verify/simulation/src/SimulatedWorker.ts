/** Simulated workers with different capabilities and failures, which record their calls truthfully. */

import { Seed } from "@divisi/core"
import { type Message, text } from "@divisi/core/Message"
import { worker as promiseWorker } from "@divisi/core/promise"
import type { Pricing, Usage } from "@divisi/core/Usage"
import {
  type Worker,
  WorkerError,
  type WorkerErrorReason,
  type WorkerPart,
  type WorkerRequest
} from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Nonsense from "./nonsense.ts"
import type { SeededScheduler } from "./SeededScheduler.ts"
import type { Witness } from "./Witness.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The state that the workers of one simulation share. */
export interface World {
  readonly seed: number
  readonly draw: Seed.Draw
  readonly time: SeededScheduler
  readonly witness: Witness
  /** The shares of calls that end in each way; the rest is answered. */
  readonly moods: Moods
  /** Whether the same answers are given in any order. */
  readonly isSteady: boolean
  /** Whether all workers share one gate. */
  readonly isNarrow: boolean
  /** Whether little is left on every account, workers answer at once, and steps are independent. */
  readonly isTight: boolean
  /**
   * The world of one call, with a mark for its texts. In a steady world, its draws depend on the request and not on the
   * time.
   */
  readonly ofCall: (worker: string, request: WorkerRequest) => { readonly world: World; readonly mark: string }
  /** Called in the middle of some calls. */
  readonly meddle: () => void
}

/** The shares of calls that do not just answer, each from 0 to 1. */
export interface Moods {
  readonly fail: number
  readonly hang: number
  readonly nonsense: number
  readonly endless: number
}

/** Whether a worker answers in the call itself, later, in pieces, or as an async function or generator. */
const manners = ["at-once", "at-once", "later", "in-pieces", "in-pieces", "promise", "async-pieces"] as const

type Manner = (typeof manners)[number]

// -------------------------------------------------------------------------------------------------------------------
// What is said
// -------------------------------------------------------------------------------------------------------------------

const lengthOf = (messages: ReadonlyArray<Message>): number =>
  messages.reduce((sum, message) => sum + text(message).length, 0)

/** A usage that an honest vendor might report: never more than was allowed. */
const honest = (draw: Seed.Draw, worker: Pick<Worker, "countInputTokens">, request: WorkerRequest): Usage => {
  const inputTokens = worker.countInputTokens?.(request) ?? 1 + Math.floor(lengthOf(request.messages) / 4)
  const outputTokens = Math.min(request.maxOutputTokens ?? 40, 1 + Seed.below(draw, 40))
  const plain = { inputTokens, outputTokens }
  if (!Seed.chance(draw, 0.3)) return plain
  const cachedInputTokens = Seed.below(draw, inputTokens + 1)
  const cacheWriteTokens = Seed.below(draw, inputTokens - cachedInputTokens + 1)
  return { ...plain, cachedInputTokens, cacheWriteTokens, reasoningTokens: Seed.below(draw, outputTokens + 1) }
}

const reasonOf = (draw: Seed.Draw, detail: string): WorkerErrorReason => {
  const after = Seed.pick(draw, [undefined, 5, 40, 200_000])
  const late = after === undefined ? {} : { retryAfterMillis: after }
  return Seed.pick<WorkerErrorReason>(draw, [
    { _tag: "RateLimited", ...late, detail },
    { _tag: "Overloaded", ...late, detail },
    { _tag: "Timeout", detail },
    { _tag: "Network", detail },
    { _tag: "Malformed", detail },
    { _tag: "InvalidRequest", detail },
    { _tag: "Authentication", detail },
    { _tag: "Quota", detail },
    { _tag: "ContentFiltered", detail },
    { _tag: "ContextTooLong", detail }
  ])
}

// -------------------------------------------------------------------------------------------------------------------
// How it is said
// -------------------------------------------------------------------------------------------------------------------

/** The behaviour of one call: parts in sequence, and then an end. */
interface Play {
  readonly parts: ReadonlyArray<WorkerPart>
  readonly end: "finished" | "fail" | "hang" | "die" | "endless"
  readonly error?: unknown
}

const pieces = (text: string): ReadonlyArray<string> => {
  const half = Math.floor(text.length / 2)
  return [text.slice(0, half), text.slice(half)]
}

const texts = (manner: Manner, text: string): ReadonlyArray<WorkerPart> =>
  (manner === "in-pieces" ? pieces(text) : [text]).map((text) => ({ type: "text", text }))

const answered = (world: World, worker: Worker, manner: Manner, mark: string, request: WorkerRequest): Play => {
  const { draw, witness } = world
  const text = `${mark} answer: ${Seed.below(draw, 3)}${Seed.chance(draw, 0.1) ? " Score: 10" : ""}`
  witness.answer(worker.id, text)
  const thought: ReadonlyArray<WorkerPart> = Seed.chance(draw, 0.2)
    ? [{ type: "reasoning", text: mark.replace("⟧", "r⟧") }]
    : []
  const allowance: ReadonlyArray<WorkerPart> = Seed.chance(draw, 0.1)
    ? [{ type: "allowance", requests: { remaining: Seed.below(draw, 3), resetMillis: Seed.below(draw, 100) } }]
    : []
  const usage = Seed.chance(draw, world.moods.nonsense) ? Nonsense.usage(draw) : honest(draw, worker, request)
  return {
    parts: [...allowance, ...thought, ...texts(manner, text), { type: "finish", reason: "stop", usage }],
    end: "finished"
  }
}

const cutOff = (mark: string, draw: Seed.Draw): ReadonlyArray<WorkerPart> =>
  Seed.chance(draw, 0.4) ? [{ type: "text", text: mark.replace("⟧", "p⟧") }] : []

const nonsensical = (world: World, worker: Worker, manner: Manner, mark: string, request: WorkerRequest): Play => {
  const { draw } = world
  const { parts } = answered(world, worker, manner, mark, request)
  switch (Seed.below(draw, 6)) {
    case 0:
      return { parts: [Nonsense.part(draw), ...parts], end: "finished" }
    case 1:
      return { parts: [...parts, Nonsense.part(draw)], end: "finished" }
    case 2:
      return { parts: parts.slice(0, -1), end: "finished" }
    case 3:
      return { parts: parts.slice(-1), end: "finished" }
    case 4:
      return { parts: cutOff(mark, draw), end: "die", error: Nonsense.thrown(draw) }
    default:
      return { parts: cutOff(mark, draw), end: "fail", error: Nonsense.thrown(draw) }
  }
}

const failing = (world: World, worker: Worker, mark: string, request: WorkerRequest): Play => {
  const { draw, moods } = world
  const reason = reasonOf(draw, mark.replace("⟧", "e⟧"))
  const told = Seed.chance(draw, 0.3)
  const usage = Seed.chance(draw, moods.nonsense) ? Nonsense.usage(draw) : honest(draw, worker, request)
  const error = new WorkerError({ worker: worker.id, reason, ...(told ? { usage } : {}) })
  return { parts: cutOff(mark, draw), end: "fail", error }
}

const play = (world: World, worker: Worker, manner: Manner, mark: string, request: WorkerRequest): Play => {
  const { draw, moods } = world
  if (Seed.chance(draw, 0.02)) world.meddle()
  const fate = draw()
  if (fate < moods.fail) return failing(world, worker, mark, request)
  if (fate < moods.fail + moods.hang) return { parts: cutOff(mark, draw), end: "hang" }
  if (fate < moods.fail + moods.hang + moods.nonsense) return nonsensical(world, worker, manner, mark, request)
  if (fate < moods.fail + moods.hang + moods.nonsense + moods.endless) return { parts: [], end: "endless" }
  return answered(world, worker, manner, mark, request)
}

// -------------------------------------------------------------------------------------------------------------------
// Streams
// -------------------------------------------------------------------------------------------------------------------

/** For ever, until it is interrupted. */
const hung = (witness: Witness): Effect.Effect<never> =>
  Effect.suspend(() => {
    witness.hang(1)
    return Effect.never
  }).pipe(Effect.ensuring(Effect.sync(() => witness.hang(-1))))

const flood = "x".repeat(1 << 16)

/** The largest number of characters of an endless answer that may be read. */
const patience = 1 << 24

const endless = ({ witness }: World): Stream.Stream<WorkerPart> => {
  let told = 0
  return Stream.fromEffectRepeat(
    Effect.suspend((): Effect.Effect<WorkerPart> => {
      told += flood.length
      if (told <= patience) return Effect.succeed({ type: "text", text: flood })
      witness.complain("an answer without end is read without end")
      return hung(witness)
    })
  )
}

const endOf = (world: World, { end, error }: Play): Stream.Stream<WorkerPart, WorkerError> => {
  switch (end) {
    case "finished":
      return Stream.empty
    case "fail":
      return Stream.fail(error as WorkerError)
    case "die":
      return Stream.die(error)
    case "hang":
      return Stream.fromEffect(hung(world.witness))
    case "endless":
      return endless(world)
  }
}

const streamOf = (world: World, manner: Manner, played: Play): Stream.Stream<WorkerPart, WorkerError> => {
  const { draw, witness } = world
  const { parts } = played
  const wait = () => Effect.sleep(Seed.below(draw, 30))
  const said: Stream.Stream<WorkerPart> =
    manner === "in-pieces"
      ? Stream.mapEffect(Stream.fromArray(parts), (part) => Effect.as(wait(), part))
      : Stream.fromArray(parts)
  const whole = played.end === "finished" ? said : Stream.concat(said, endOf(world, played))
  let isOpen = false
  const begun = Effect.suspend(() => {
    isOpen = true
    witness.opened()
    return manner === "later" ? Effect.as(wait(), whole) : Effect.succeed(whole)
  })
  // An interruption can come before the start.
  return Stream.ensuring(
    Stream.unwrap(begun),
    Effect.sync(() => isOpen && witness.closed())
  )
}

// -------------------------------------------------------------------------------------------------------------------
// Promises
// -------------------------------------------------------------------------------------------------------------------

const textOf = ({ parts }: Play): string => parts.map((part) => (part.type === "text" ? part.text : "")).join("")

const later = ({ draw, time }: World) => new Promise<void>((resolve) => time.after(Seed.below(draw, 30), resolve))

/** Waits for the signal like a well-behaved function, or ignores it. */
const aborted = (signal: AbortSignal, { draw, witness }: World) =>
  new Promise<never>((_, reject) => {
    const listens = Seed.chance(draw, 0.5)
    witness.hang(1)
    const abort = () => {
      witness.hang(-1)
      if (listens) reject(new Error("aborted"))
    }
    if (signal.aborted) abort()
    else signal.addEventListener("abort", abort, { once: true })
  })

async function* piecesOf(world: World, played: Play, signal: AbortSignal): AsyncGenerator<string> {
  for (const piece of pieces(textOf(played))) {
    await later(world)
    yield piece
  }
  if (played.end === "hang") await aborted(signal, world)
  if (played.end !== "finished") throw played.error
}

const asPromise = (all: World, about: Omit<Worker, "generate">, manner: Manner): Worker => {
  const { countInputTokens, ...rest } = about
  const made: Worker = promiseWorker({
    ...rest,
    answer: (request, { signal }) => {
      const { mark, world } = all.ofCall(about.id, request)
      const { draw, moods } = world
      const played = play(world, made, manner, mark, request)
      world.witness.answer(about.id, textOf(played))
      if (Seed.chance(draw, moods.nonsense)) {
        if (Seed.chance(draw, 0.5)) throw Nonsense.thrown(draw)
        world.witness.answer(about.id, "fine")
        return Nonsense.answer(draw) as string
      }
      if (manner === "async-pieces") return piecesOf(world, played, signal)
      return (async () => {
        if (Seed.chance(draw, 0.7)) await later(world)
        if (played.end === "hang") await aborted(signal, world)
        if (played.end !== "finished") throw played.error
        const finish = played.parts.find((part) => part?.type === "finish")
        const usage = finish?.type === "finish" && Seed.chance(draw, 0.5) ? finish.usage : undefined
        return { text: textOf(played), usage }
      })()
    }
  })
  const counted = {
    ...made,
    generate: (request: WorkerRequest) => {
      all.witness.called()
      return made.generate(request)
    }
  }
  return countInputTokens === undefined ? counted : { ...counted, countInputTokens }
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

const prices: ReadonlyArray<Pricing | undefined> = [
  undefined,
  { inputPerMillion: 0, outputPerMillion: 0 },
  { inputPerMillion: 2, outputPerMillion: 10 },
  { inputPerMillion: 3, outputPerMillion: 15, cachedInputPerMillion: 0.3, cacheWritePerMillion: 3.75 },
  { inputPerMillion: 1, outputPerMillion: 4, perCall: 0.0005 }
]

/** Draws a worker. `promises` says whether it may be an async function. */
export const make = (all: World, id: string, promises: boolean): Worker => {
  const { draw, isNarrow, isSteady, isTight } = all
  const drawn = (isTight || isNarrow) && Seed.chance(draw, 0.7) ? "at-once" : Seed.pick(draw, manners)
  const manner = promises || (drawn !== "promise" && drawn !== "async-pieces") ? drawn : "later"
  const about: Omit<Worker, "generate"> = {
    id,
    description: `worker ${id}`,
    provider: isNarrow ? "acme" : Seed.pick(draw, [undefined, "acme", "bold"]),
    pricing: Seed.pick(draw, prices),
    limits: Seed.chance(draw, 0.5) ? { maxOutputTokens: 64 } : undefined,
    takesSeed: isSteady || !Seed.chance(draw, 0.1),
    isCacheable: !Seed.chance(draw, 0.1),
    ...(Seed.chance(draw, 0.3) ? { countInputTokens: ({ messages }) => 3 + Math.ceil(lengthOf(messages) / 3) } : {})
  }
  if (manner === "promise" || manner === "async-pieces") return asPromise(all, about, manner)
  const worker: Worker = {
    ...about,
    generate: (request) => {
      all.witness.called()
      const { mark, world } = all.ofCall(id, request)
      const played = play(world, worker, manner, mark, request)
      if (Seed.chance(world.draw, world.moods.nonsense / 4)) throw Nonsense.thrown(world.draw)
      return streamOf(world, manner, played)
    }
  }
  return worker
}
