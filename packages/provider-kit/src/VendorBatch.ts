/**
 * Calls that a vendor answers in batches: later, within a day, and for half the price. For authors of providers.
 *
 * A provider defines how its vendor's batches are sent, polled, read and cancelled. The rest is done here, for all:
 * calls that are made at once are collected into one batch, each is given its own answer, and a call whose process ended
 * finds its answer again.
 *
 * The state of a call is stored in its handle twice. Before the call is sent, the handle has its future name in a
 * batch; once the vendor has accepted the batch, it has the vendor's id as well. If a process ends between the two,
 * nothing is paid twice: the vendor's list of batches is searched for the name.
 */

import { Options } from "@divisi/core"
import { noUsage, type Pricing } from "@divisi/core/Usage"
import {
  CallId,
  type Reattach,
  WorkerError,
  type WorkerErrorReason,
  type WorkerPart,
  type WorkerParts,
  type WorkerRequest
} from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Preferences from "./dialects/preferences.ts"
import { Collector, type Member } from "./internal/collector.ts"
import * as VendorError from "./VendorError.ts"
import * as Json from "./VendorJson.ts"
import * as VendorStream from "./VendorStream.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** How a worker's calls are made batches. */
export interface Settings {
  /** How long calls are waited for after the first of a batch, in milliseconds; 5,000 by default. */
  readonly windowMillis?: number | undefined
  /** The most calls of one batch; what the vendor takes by default, and at most. */
  readonly maxRequests?: number | undefined
  /**
   * The time between two looks at a batch, in milliseconds; 10,000 by default. It grows by half with each look, up to
   * twelve times as much.
   */
  readonly pollMillis?: number | undefined
}

/** The settings for `Options.check`: `true` for all defaults. */
export const settingsShape: Options.Check = Options.either(Options.flag, Options.anObject)

/**
 * The outcome of a request: the events of its whole answer, as its vendor would have streamed them, or the reason for
 * its failure.
 */
export type Outcome =
  | { readonly id: string; readonly events: ReadonlyArray<unknown> }
  | { readonly id: string; readonly failure: WorkerErrorReason }

/** A batch that has ended. */
export interface Ended {
  /** Why a request failed that the results do not name. */
  readonly missing: WorkerErrorReason
  /** The outcomes of its requests, in any order. */
  readonly outcomes: (signal: AbortSignal) => AsyncIterable<Outcome>
}

/** A batch that the vendor lists: its id, and the name with which it was sent, where the vendor keeps one. */
export interface Listed {
  readonly batch: string
  readonly name?: string | undefined
}

/** A vendor's batch API. `reason` maps the exceptions of its functions. */
export interface Vendor {
  readonly maxRequests: number
  /** Of all requests together. */
  readonly maxBytes: number
  /** The JSON of a request under an id: one line. */
  readonly line: (id: string, body: unknown) => string
  /** Sends a batch, and returns its id. `signal` is aborted when no call waits for it any more. */
  readonly send: (name: string, lines: ReadonlyArray<Uint8Array<ArrayBuffer>>, signal: AbortSignal) => Promise<string>
  /** Looks at a batch; `undefined` until it has ended. */
  readonly look: (batch: string, signal: AbortSignal) => Promise<Ended | undefined>
  readonly cancel: (batch: string, signal: AbortSignal) => Promise<unknown>
  /**
   * The batches that were made within a time (milliseconds since 1970) and may have been sent by the collector of this
   * name: the beginning of a batch's name, and of all of its ids.
   */
  readonly find: (
    collector: string,
    within: { readonly from: number; readonly to: number },
    signal: AbortSignal
  ) => Promise<ReadonlyArray<Listed>>
  readonly reason: (error: unknown) => WorkerErrorReason
}

/** The parts from which a worker's batches are built. */
export interface Parts<State> {
  /** The worker's id, for errors. */
  readonly worker: string
  readonly vendor: Vendor
  readonly settings: Settings
  /** Reads the events of an {@link Outcome}. */
  readonly protocol: VendorStream.Protocol<unknown, State>
  readonly secrets: ReadonlyArray<string>
  /** The known limits of the server's values, for calls whose preferences can be omitted. */
  readonly adapting: Pick<Preferences.Sender<object, unknown>, "family" | "learned">
}

/** Properties of a call besides its body. */
export interface Asking {
  /** Whether preferences that the vendor refuses are left out, and the call is made again in a later batch. */
  readonly mayOmit: boolean
  /** Notices for the parts omitted from the body so far. */
  readonly notices: ReadonlyArray<string>
}

/** The calls of a worker that are made in batches. */
export interface Batches extends Reattach {
  /** Makes a call of a body. */
  readonly ask: (request: WorkerRequest, body: object, asking: Asking) => WorkerParts
}

// -------------------------------------------------------------------------------------------------------------------
// Settings and prices
// -------------------------------------------------------------------------------------------------------------------

const shape = {
  windowMillis: Options.number(0),
  maxRequests: Options.whole(1),
  pollMillis: Options.number(1)
} satisfies Options.ShapeOf<Settings>

/**
 * Returns the settings of a worker's `batch` option; `undefined` if batches are off. Throws an `OptionsError` for
 * invalid settings; `what` is the function that received them.
 */
export const settingsOf = (what: string, option: boolean | Settings | undefined): Settings | undefined => {
  if (option === undefined || option === false) return undefined
  if (option === true) return {}
  Options.check(`${what} (batch)`, option, shape)
  return option
}

const half = (price: number | undefined): number | undefined => (price === undefined ? undefined : price / 2)

/**
 * The price of a call in a batch: half of the list price, of each kind of token.
 *
 * **Example**
 *
 * ```ts
 * import { VendorBatch } from "@divisi/provider-kit"
 *
 * VendorBatch.halved({ inputPerMillion: 2, outputPerMillion: 10 })?.outputPerMillion // => 5
 * VendorBatch.halved(undefined) // => undefined
 * ```
 */
export const halved = (pricing: Pricing | undefined): Pricing | undefined =>
  pricing && {
    ...pricing,
    inputPerMillion: pricing.inputPerMillion / 2,
    outputPerMillion: pricing.outputPerMillion / 2,
    cachedInputPerMillion: half(pricing.cachedInputPerMillion),
    cacheWritePerMillion: half(pricing.cacheWritePerMillion)
  }

// -------------------------------------------------------------------------------------------------------------------
// Handles
// -------------------------------------------------------------------------------------------------------------------

/** The state of a call: its id in a batch, and the batch; or when it was about to be sent. */
interface Handle {
  readonly id: string
  readonly batch?: string | undefined
  readonly at: number
}

const written = (handle: Handle): string => JSON.stringify(handle)

const read = (text: string): Handle | undefined => {
  try {
    const { at, batch, id } = Json.fields(JSON.parse(text))
    if (typeof id !== "string" || typeof at !== "number") return undefined
    return { id, at, batch: Json.text(batch) }
  } catch {
    return undefined
  }
}

/** Vendors take letters, digits, `-` and `_`, at most 64 of them. */
const idOf = (collector: string, number: number, callId: string | undefined): string => {
  const unique = `${collector}-${number.toString(36)}`
  if (callId === undefined) return unique
  const readable = callId.replaceAll(/[^A-Za-z0-9_]+/g, "_")
  return `${unique}-${readable.slice(-(63 - unique.length))}`
}

// -------------------------------------------------------------------------------------------------------------------
// Calls
// -------------------------------------------------------------------------------------------------------------------

/** The parts of a call. */
type PartStream = Stream.Stream<WorkerPart, WorkerError>

const neverSent: WorkerErrorReason = {
  _tag: "InvalidRequest",
  detail: "its process ended before its batch was sent, so it has to be asked anew"
}

const unknownHandle: WorkerErrorReason = {
  _tag: "InvalidRequest",
  detail: "its journal has no batch of this vendor, so the call is sent again"
}

/**
 * Makes the calls of a worker in batches.
 *
 * **Details**
 *
 * Creates batches. A batch is sent when its window has passed since its first call, or when it is full. A call emits a
 * handle before it is sent, another one afterwards, and then its whole answer at once. If the vendor refuses a
 * preference, the call is repeated in a later batch, adapted to the refusal. An interrupted call leaves its batch; the
 * batch is cancelled once no call waits for it, unless another process sent it. Requests that a vendor cancelled, or
 * did not process within its day, fail without usage; answers that arrived by then are emitted.
 *
 * A look at a batch that fails for reasons of the network, or because the vendor has too much to do, is repeated: the
 * answers are paid for.
 */
export const make = <State>({ adapting, protocol, secrets, settings, vendor, worker }: Parts<State>): Batches => {
  const collector = new Collector(vendor, settings)
  const failed = (reason: WorkerErrorReason) => {
    const detail = reason.detail === undefined ? undefined : VendorError.detail(reason.detail, secrets)
    return new WorkerError({ worker, reason: detail === undefined ? reason : { ...reason, detail }, usage: noUsage })
  }
  const waitFor = <A>(promise: Promise<A>): Effect.Effect<A, WorkerError> =>
    Effect.tryPromise({
      try: () => promise,
      catch: (error) => failed(VendorError.fromThrown(error, vendor.reason))
    })

  const answer = ({ messages, tools }: WorkerRequest, outcome: Outcome) => {
    if ("failure" in outcome) return Stream.fail(failed(outcome.failure))
    const events = async function* () {
      yield* outcome.events
    }
    return VendorStream.make({
      worker,
      messages,
      tools,
      protocol,
      open: async () => ({ events: events() }),
      reason: vendor.reason,
      timeoutMillis: Number.POSITIVE_INFINITY,
      secrets
    })
  }

  /** Makes a call under an id, and gives what becomes of it to a function. */
  const call = (id: string, at: number, body: unknown, next: (outcome: Outcome) => PartStream): PartStream => {
    const joined = Effect.acquireRelease(
      Effect.sync(() => collector.join(id, vendor.line(id, body))),
      (member) => Effect.promise(member.leave)
    )
    const sent = Effect.flatMap(joined, (member) =>
      Effect.map(waitFor(member.batch), (batch) =>
        Stream.concat(
          Stream.make({ type: "handle", handle: written({ id, batch, at }) } as const),
          Stream.unwrap(Effect.map(waitFor(member.outcome), next))
        )
      )
    )
    return Stream.concat(Stream.make({ type: "handle", handle: written({ id, at }) } as const), Stream.unwrap(sent))
  }

  /** Makes a call, and once more for each preference that the vendor refuses. */
  const ask = (request: WorkerRequest, whole: object, { mayOmit, notices }: Asking, callId: string | undefined) => {
    const attempts = mayOmit ? new Preferences.Attempts(whole, adapting) : undefined
    const { notices: said, omit } = Preferences.collector()
    const attempt = (): PartStream => {
      const before = said.length
      attempts?.adapted.notices.forEach(omit)
      const id = idOf(collector.name, collector.number(), callId)
      const made = call(id, Date.now(), attempts?.adapted.body ?? whole, (outcome) =>
        "failure" in outcome && attempts?.refused(outcome.failure) === true ? attempt() : answer(request, outcome)
      )
      return Stream.concat(Stream.fromArray(Preferences.partsOf(said.slice(before))), made)
    }
    notices.forEach(omit)
    return Stream.concat(Stream.fromArray(Preferences.partsOf(notices)), attempt())
  }

  const followed = <A>(batch: string, id: string, of: (member: Member) => Promise<A>): Effect.Effect<A, WorkerError> =>
    Effect.acquireUseRelease(
      Effect.sync(() => collector.follow(batch, id)),
      (member) => waitFor(of(member)),
      (member) => Effect.promise(member.leave)
    )

  /** The outcome in the first of some batches that has it. */
  const among = (id: string, [batch, ...others]: ReadonlyArray<string>): Effect.Effect<Outcome, WorkerError> =>
    batch === undefined
      ? Effect.succeed({ id, failure: neverSent })
      : Effect.flatMap(
          followed(batch, id, ({ found }) => found),
          (outcome) => (outcome === undefined ? among(id, others) : Effect.succeed(outcome))
        )

  const outcomeOf = ({ at, batch, id }: Handle): Effect.Effect<Outcome, WorkerError> =>
    batch === undefined
      ? Effect.flatMap(waitFor(collector.find(id, at)), (batches) => among(id, batches))
      : followed(batch, id, ({ outcome }) => outcome)

  return {
    ask: (request, body, asking) =>
      Effect.map(CallId, (callId) => ask(request, body, asking, callId)).pipe(Stream.unwrap),
    reattach: (handle, request) => {
      const known = read(handle)
      if (known === undefined) return Stream.fail(failed(unknownHandle))
      // A resumed call emits its handle first, so that the time it takes counts as the vendor's.
      const again = Stream.make({ type: "handle", handle } as const)
      return Stream.concat(again, Stream.unwrap(Effect.map(outcomeOf(known), (outcome) => answer(request, outcome))))
    }
  }
}
