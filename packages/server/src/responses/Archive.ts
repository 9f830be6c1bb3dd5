/** Serializes responses, for stores that outlive this process. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Segment } from "../segment/Segments.ts"
import { ApiError } from "../wire/ApiError.ts"
import { isObject, type JsonObject } from "../wire/Json.ts"
import type { About, Part } from "../wire/Wire.ts"

/** A key-value store for serialized responses. The implementation reports its own read and write errors. */
export interface Archive {
  /** Returns the stored text, or `undefined` if the name is unknown. Fails if the archive cannot be reached. */
  readonly get: (name: string) => Effect.Effect<string | undefined, ApiError>
  readonly set: (name: string, text: string) => Effect.Effect<void>
  readonly remove: (name: string) => Effect.Effect<void>
}

/** A stored response, either complete or in progress at the time of writing. */
export interface Record {
  readonly owner: string
  readonly input: ReadonlyArray<JsonObject>
  readonly segment: Segment
  readonly isCancelled: boolean
  /**
   * True if the response was stored before it was complete. Its run may continue on another server or may have been
   * stopped.
   */
  readonly isBegun?: boolean | undefined
}

/** Version number of the stored format. */
const version = 1

/** Creates a completed segment from stored parts. It is not connected to a run. */
const told = (about: About, parts: ReadonlyArray<Part>): Segment => ({
  about,
  parts,
  isOver: () => true,
  onOver: (hear) => hear(),
  onEnd: (write) => write([]),
  read: Stream.succeed(parts),
  follow: (take) => Effect.sync(() => void take(parts, true, () => {})),
  over: Effect.void,
  begun: () => Effect.void,
  stop: Effect.void
})

/**
 * Creates a completed segment without the request's messages and tools. A stored response contains these only in its
 * input.
 */
export const ended = ({ about, parts }: Pick<Segment, "about" | "parts">): Segment =>
  told({ ...about, request: { ...about.request, messages: [{ role: "user", content: "" }], tools: [] } }, parts)

/** Polling interval for a response that another server is producing, in milliseconds. */
const lookMillis = 250

/** Creates a segment for a response that another server is producing. `look` returns its parts once they are stored. */
export const elsewhere = <E>(
  about: About,
  look: Effect.Effect<ReadonlyArray<Part> | undefined, E>,
  failed: (error: E) => ReadonlyArray<Part>
): Segment => {
  const later: Effect.Effect<ReadonlyArray<Part>> = Effect.flatMap(
    Effect.catch(look, (error) => Effect.succeed(failed(error))),
    (parts) => (parts === undefined ? Effect.andThen(Effect.sleep(lookMillis), later) : Effect.succeed(parts))
  )
  return {
    ...told(about, []),
    isOver: () => false,
    read: Stream.fromEffect(later),
    follow: (take) => Effect.map(later, (parts) => void take(parts, true, () => {})),
    over: Effect.asVoid(later),
    begun: () => Effect.asVoid(later)
  }
}

const plain = (part: Part): unknown => {
  if (part.type !== "error") return part
  const { field, kind, message, retryAfterMillis } = part.error
  return { type: "error", error: { kind, message, field, retryAfterMillis } }
}

/** The data needed to store a response. */
type Written = Omit<Record, "segment"> & { readonly segment: Pick<Segment, "about" | "parts"> }

/** Serializes a response. */
export const encode = ({ input, isBegun, isCancelled, owner, segment }: Written): string => {
  const { about, parts } = ended(segment)
  return JSON.stringify({ version, owner, input, about, parts: parts.map(plain), isCancelled, isBegun })
}

const partOf = (part: Part): Part => (part.type === "error" ? { ...part, error: new ApiError(part.error) } : part)

/** Parses a stored response. Returns `undefined` if it was written in an unsupported format version. */
export const decode = (text: string): Record | undefined => {
  const value: unknown = JSON.parse(text)
  if (!isObject(value) || value.version !== version) return undefined
  const { about, input, isBegun, isCancelled, owner, parts } = value as unknown as Omit<Record, "segment"> &
    Pick<Segment, "about" | "parts">
  return { owner, input, isCancelled, isBegun, segment: told(about, parts.map(partOf)) }
}
