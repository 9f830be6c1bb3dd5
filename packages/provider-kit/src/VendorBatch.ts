/**
 * Batched calls, which a vendor answers within a day for half the price. For authors of providers.
 *
 * A provider defines how its vendor's batches are sent, polled, read and cancelled. This module does everything else
 * for all providers: it collects concurrent calls into a batch, assigns each call its answer, and recovers answers to
 * calls whose process has exited.
 *
 * The state of a call is stored in its handle twice. Before the call is sent, the handle contains the name that the
 * call will have in a batch. Once the vendor has accepted the batch, it also contains the vendor's id. If a process
 * exits in between, no call is paid for twice: the vendor's list of batches is searched for the name.
 */

import { Options } from "@divisi/core"
import { noUsage, type Pricing, type TokenPrices } from "@divisi/core/Usage"
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

/** Settings for batching a worker's calls. */
export interface Settings {
  /** Time in milliseconds that a batch stays open for more calls after the first one. Default: 5,000. */
  readonly windowMillis?: number | undefined
  /** The maximum number of calls per batch. Default and maximum: the vendor's limit. */
  readonly maxRequests?: number | undefined
  /**
   * The initial interval for polling a batch, in milliseconds. It grows by half with each poll, up to twelve times the
   * initial interval. Default: 10,000.
   */
  readonly pollMillis?: number | undefined
}

/** Check for the `batch` option: settings, or `true` for the defaults. */
export const settingsShape: Options.Check = Options.either(Options.flag, Options.anObject)

/**
 * The outcome of a request: all events of its answer, in the form in which the vendor would have streamed them, or the
 * reason why it failed.
 */
export type Outcome =
  | { readonly id: string; readonly events: ReadonlyArray<unknown> }
  | { readonly id: string; readonly failure: WorkerErrorReason }

/** A finished batch. */
export interface Ended {
  /** The reason reported for a request that is missing from the results. */
  readonly missing: WorkerErrorReason
  /** Streams the outcomes of the requests, in any order. */
  readonly outcomes: (signal: AbortSignal) => AsyncIterable<Outcome>
}

/** An entry in the vendor's list of batches: the id, and the name if the vendor stores it. */
export interface Listed {
  readonly batch: string
  readonly name?: string | undefined
}

/** A vendor's batch API. `reason` maps exceptions thrown by its functions. */
export interface Vendor {
  readonly maxRequests: number
  /** The maximum total size of all requests, in bytes. */
  readonly maxBytes: number
  /** Serializes a request and its id as one line of JSON. */
  readonly line: (id: string, body: unknown) => string
  /** Sends a batch, and returns its id. `signal` is aborted once no call is waiting for the batch. */
  readonly send: (name: string, lines: ReadonlyArray<Uint8Array<ArrayBuffer>>, signal: AbortSignal) => Promise<string>
  /** Polls a batch. Returns `undefined` until it is finished. */
  readonly look: (batch: string, signal: AbortSignal) => Promise<Ended | undefined>
  readonly cancel: (batch: string, signal: AbortSignal) => Promise<unknown>
  /**
   * Returns batches created within a period (in milliseconds since the Unix epoch) that the named collector may have
   * sent. The names of its batches and the ids of their requests start with the collector's name.
   */
  readonly find: (
    collector: string,
    within: { readonly from: number; readonly to: number },
    signal: AbortSignal
  ) => Promise<ReadonlyArray<Listed>>
  readonly reason: (error: unknown) => WorkerErrorReason
}

/** Dependencies for batching a worker's calls. */
export interface Parts<State> {
  /** The worker's id, for errors. */
  readonly worker: string
  readonly vendor: Vendor
  readonly settings: Settings
  /** Reads the events of an {@link Outcome}. */
  readonly protocol: VendorStream.Protocol<unknown, State>
  readonly secrets: ReadonlyArray<string>
  /** Known limits on request fields, for calls whose preferences may be omitted. */
  readonly adapting: Pick<Preferences.Sender<object, unknown>, "family" | "learned">
}

/** Properties of a call besides its body. */
export interface Asking {
  /** Whether preferences that the vendor rejects are omitted and the call is repeated in a later batch. */
  readonly mayOmit: boolean
  /** Notices about preferences already omitted from the body. */
  readonly notices: ReadonlyArray<string>
}

/** The batched calls of a worker. */
export interface Batches extends Reattach {
  /** Sends a request body as part of a batch. */
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
 * Returns the settings in a worker's `batch` option, or `undefined` if batching is disabled. Throws an `OptionsError`
 * for invalid settings; `what` names the function that received them.
 */
export const settingsOf = (what: string, option: boolean | Settings | undefined): Settings | undefined => {
  if (option === undefined || option === false) return undefined
  if (option === true) return {}
  Options.check(`${what} (batch)`, option, shape)
  return option
}

const half = (price: number | undefined): number | undefined => (price === undefined ? undefined : price / 2)

/**
 * Returns the price of batched calls, which is half of the list price for each kind of token.
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
  pricing && { ...halfOf(pricing), longPrompts: pricing.longPrompts && halfOf(pricing.longPrompts) }

const halfOf = <Prices extends TokenPrices>(prices: Prices): Prices => ({
  ...prices,
  inputPerMillion: prices.inputPerMillion / 2,
  outputPerMillion: prices.outputPerMillion / 2,
  cachedInputPerMillion: half(prices.cachedInputPerMillion),
  cacheWritePerMillion: half(prices.cacheWritePerMillion)
})

// -------------------------------------------------------------------------------------------------------------------
// Handles
// -------------------------------------------------------------------------------------------------------------------

/** State of a call: its id and its batch or, if the batch is unknown, the time at which it was about to be sent. */
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

/** Creates the id of a call. Vendors accept at most 64 letters, digits, `-` and `_`. */
const idOf = (collector: string, number: number, callId: string | undefined): string => {
  const unique = `${collector}-${number.toString(36)}`
  if (callId === undefined) return unique
  const readable = callId.replaceAll(/[^A-Za-z0-9_]+/g, "_")
  return `${unique}-${readable.slice(-(63 - unique.length))}`
}

// -------------------------------------------------------------------------------------------------------------------
// Calls
// -------------------------------------------------------------------------------------------------------------------

/** Stream of parts produced by a call. */
type PartStream = Stream.Stream<WorkerPart, WorkerError>

const neverSent: WorkerErrorReason = {
  _tag: "InvalidRequest",
  detail: "the process ended before the batch was sent, so the call is sent again"
}

const unknownHandle: WorkerErrorReason = {
  _tag: "InvalidRequest",
  detail: "the journal has no batch of this provider, so the call is sent again"
}

/**
 * Creates the batching of a worker's calls.
 *
 * **Details**
 *
 * A batch is sent once its window has passed since the first call, or when it is full. A call emits one handle before
 * it is sent and another one afterwards, followed by its complete answer. If the vendor rejects a preference, the call
 * is repeated in a later batch, without that preference. An interrupted call leaves its batch; the batch is cancelled
 * if no other call waits for it, unless another process sent it. Requests that a vendor cancelled, or did not process
 * within a day, fail without usage; answers that arrived by then are emitted.
 *
 * Polling is repeated after network errors and if the vendor is overloaded, because the answers are already paid for.
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

  /** Makes a call with an id, and passes its outcome to a function. */
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

  /** Makes a call, and repeats it once for each preference that the vendor rejects. */
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
