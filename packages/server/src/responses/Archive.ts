/** Responses as text, for what keeps them longer than this process. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Segment } from "../segment/Segments.ts"
import { ApiError } from "../wire/ApiError.ts"
import { isObject, type JsonObject } from "../wire/Json.ts"
import type { About, Part } from "../wire/Wire.ts"

/** Stores texts by name. The implementation reports its own failures to store or read. */
export interface Archive {
  /** Fails if the archive currently cannot determine whether the text exists. */
  readonly get: (name: string) => Effect.Effect<string | undefined, ApiError>
  readonly set: (name: string, text: string) => Effect.Effect<void>
  readonly remove: (name: string) => Effect.Effect<void>
}

/** A response that is over, or that was in progress when it was written. */
export interface Record {
  readonly owner: string
  readonly input: ReadonlyArray<JsonObject>
  readonly segment: Segment
  readonly isCancelled: boolean
  /** True if it was written before its end: its run continues on some server, or was stopped. */
  readonly isBegun?: boolean | undefined
}

/** The version of what is written. */
const version = 1

/** A segment restored from the archive: its parts only, without the run that produced it. */
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

/** A segment that is over: a response says nothing of the messages and tools of its request but in its input. */
export const ended = ({ about, parts }: Pick<Segment, "about" | "parts">): Segment =>
  told({ ...about, request: { ...about.request, messages: [{ role: "user", content: "" }], tools: [] } }, parts)

/** How often a response of another server is looked at again, in milliseconds. */
const lookMillis = 250

/** A segment that continues on another server. `look` returns its parts once they are stored. */
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

/** The stored form of a segment. */
type Written = Omit<Record, "segment"> & { readonly segment: Pick<Segment, "about" | "parts"> }

/** A response as text. */
export const encode = ({ input, isBegun, isCancelled, owner, segment }: Written): string => {
  const { about, parts } = ended(segment)
  return JSON.stringify({ version, owner, input, about, parts: parts.map(plain), isCancelled, isBegun })
}

const partOf = (part: Part): Part => (part.type === "error" ? { ...part, error: new ApiError(part.error) } : part)

/** A response that was written; `undefined` of what this version does not read. */
export const decode = (text: string): Record | undefined => {
  const value: unknown = JSON.parse(text)
  if (!isObject(value) || value.version !== version) return undefined
  const { about, input, isBegun, isCancelled, owner, parts } = value as unknown as Omit<Record, "segment"> &
    Pick<Segment, "about" | "parts">
  return { owner, input, isCancelled, isBegun, segment: told(about, parts.map(partOf)) }
}
