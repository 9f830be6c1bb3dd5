/**
 * Stores responses for `previous_response_id`, for retrieval, and for background responses. They are held in memory,
 * where the oldest are evicted when a size limit is exceeded, and in an archive if one is configured.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Failure from "../segment/Failure.ts"
import type { Segment } from "../segment/Segments.ts"
import { ApiError, invalid } from "../wire/ApiError.ts"
import { isObject, type JsonObject, name } from "../wire/Json.ts"
import * as Steps from "../wire/Steps.ts"
import type { Part } from "../wire/Wire.ts"
import * as Archive from "./Archive.ts"
import * as CompactionItem from "./CompactionItem.ts"
import { whole } from "./ResponsesWriter.ts"
import type { SharedResponses } from "./SharedResponses.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A stored response. */
export interface Kept {
  readonly id: string
  readonly owner: string
  /** The complete input, including the input of earlier responses in the conversation. */
  readonly input: ReadonlyArray<JsonObject>
  readonly segment: Segment
  readonly characters: number
  isCancelled: boolean
  /** True if the response was stored by this or another server before it was complete. */
  readonly isBegun?: boolean | undefined
}

/** A store for responses. */
export interface ResponseStore {
  /** Returns the body with its complete input. Fails if it refers to a response that is not stored. */
  readonly recall: (body: JsonObject, owner: string) => Effect.Effect<JsonObject, ApiError>
  /** Stores a response, unless the client set `store: false`. The body must have been returned by `recall`. */
  readonly keep: (segment: Segment, body: JsonObject, owner: string, bytes: number) => Effect.Effect<void, ApiError>
  /** Returns a response by id. Fails if it does not exist or has a different owner. */
  readonly get: (id: string, owner: string) => Effect.Effect<Kept, ApiError>
  readonly has: (id: string, owner: string) => Effect.Effect<boolean, ApiError>
  readonly forget: (id: string) => Effect.Effect<void>
}

/** Options for the response store. */
export interface Options {
  /** Maximum total size of all responses, in characters. Beyond this, the oldest completed responses are evicted. */
  readonly maxCharacters: number
  /** Whether to store responses even if the client set `store: false`. Default: false. */
  readonly keepsAll?: boolean | undefined
  /** A persistent store in addition to memory. Default: none. */
  readonly archive?: Archive.Archive | undefined
  /** Returns whether another server is still expected to store the response of a run. Defaults to always false. */
  readonly isAwaited?: ((run: string) => Effect.Effect<boolean, ApiError>) | undefined
  /** Waits until the run of a background response is recorded in the journal. Defaults to not waiting. */
  readonly recorded?: ((segment: Segment) => Effect.Effect<unknown>) | undefined
  /** Responses shared between servers. Default: none. */
  readonly shared?: SharedResponses | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Items
// -------------------------------------------------------------------------------------------------------------------

const partsOf = ({ content, role }: JsonObject): unknown =>
  typeof content === "string" ? [{ type: role === "assistant" ? "output_text" : "input_text", text: content }] : content

const prefixes: Readonly<Record<string, string>> = {
  message: "msg",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
  reasoning: "rs",
  compaction: "cmp"
}

/** Returns an item as it appears in lists, with an id and a type. */
const listed = (item: JsonObject, id: string): JsonObject => {
  const type = typeof item.type === "string" ? item.type : "message"
  const named = {
    ...item,
    type,
    id: item.id ?? `${prefixes[type] ?? "item"}_${id}`,
    status: item.status ?? "completed"
  }
  return type === "message" ? { ...named, content: partsOf(item) } : named
}

/** Number of items listed in one step. */
const stepItems = 500

/** Returns an input as it appears in lists, in steps. */
function* listedOf(input: unknown, id: string): Steps.Steps<ReadonlyArray<JsonObject>> {
  const items: Array<JsonObject> = []
  for (const [at, item] of itemsOf(input).entries()) {
    items.push(listed(item, `${id}_in${at}`))
    if (at % stepItems === stepItems - 1) yield
  }
  return items
}

/** Returns an input as a list of items. A string is treated as a user message. */
export const itemsOf = (input: unknown): ReadonlyArray<JsonObject> => {
  if (typeof input === "string") return [{ role: "user", content: input }]
  return Array.isArray(input) ? input.filter(isObject) : []
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Returns the current response body for a stored response. */
export const bodyOf = ({ isCancelled, segment }: Kept): JsonObject => {
  const body = whole(segment.about, segment.parts)
  return isCancelled ? { ...body, status: "cancelled", error: null } : body
}

/** Estimated size of a response in addition to its text, in characters, based on measurements of small responses. */
const overhead = 4096

const sizeOf = (parts: ReadonlyArray<Part>): number =>
  parts.reduce((sum, part) => sum + 64 + ("text" in part ? part.text.length : 0), 0)

const stopped: Part = { type: "error", error: Failure.stopped }

const unknown = (id: string): ApiError =>
  new ApiError({ kind: "not-found", field: "response_id", message: `Response with id '${id}' not found.` })

const gone = (id: string): ApiError =>
  invalid("previous_response_id", `Previous response with id '${id}' not found. Send the whole conversation.`)

/** Creates a response store. */
export const make = Effect.fnUntraced(function* ({
  archive,
  isAwaited = () => Effect.succeed(false),
  keepsAll = false,
  maxCharacters,
  recorded = () => Effect.void,
  shared
}: Options): Effect.fn.Return<ResponseStore, never, Scope.Scope> {
  const scope = yield* Effect.scope
  /** Responses by id, in insertion order. */
  const all = new Map<string, Kept>()
  /** Ids of responses that were running when last checked. */
  const running = new Set<string>()
  let characters = 0

  const forget = (id: string) => {
    characters -= all.get(id)?.characters ?? 0
    all.delete(id)
    running.delete(id)
  }

  const put = (kept: Kept) => {
    all.set(kept.id, kept)
    characters += kept.characters
  }

  const settle = () => {
    for (const id of running) {
      const kept = all.get(id)
      if (kept === undefined || !kept.segment.isOver()) continue
      forget(id)
      const segment = Archive.ended(kept.segment)
      put({ ...kept, segment, characters: kept.characters + sizeOf(segment.parts) })
    }
    for (const kept of all.values()) {
      if (characters <= maxCharacters) return
      if (kept.segment.isOver()) forget(kept.id)
    }
  }

  /** Loads a response from the archive, after it was evicted from memory or stored by another process. */
  const recalled = (id: string): Effect.Effect<Kept | undefined, ApiError> => {
    if (archive === undefined || !/^resp_[0-9A-Za-z]{1,64}$/.test(id)) return Effect.undefined
    const stored = Effect.map(archive.get(id), (text) => {
      const record = text === undefined ? undefined : Archive.decode(text)
      return record && { ...record, id, characters: 0 }
    })
    return Effect.flatMap(stored, (kept) => (kept?.isBegun === true ? continued(kept, stored) : Effect.succeed(kept)))
  }

  /**
   * Resolves a response that was archived before it was complete: its run continues on another server, has completed
   * since, or was stopped.
   */
  const continued = (
    kept: Kept,
    stored: Effect.Effect<Kept | undefined, ApiError>
  ): Effect.Effect<Kept | undefined, ApiError> => {
    const { about } = kept.segment
    if (about.shared !== undefined && shared !== undefined) {
      return Effect.map(shared.segmentOf(about), (segment) => ({ ...kept, segment }))
    }
    const ended: Effect.Effect<Kept | undefined, ApiError> = Effect.flatMap(isAwaited(about.runId), (isAwaited) =>
      Effect.map(isAwaited ? stored : Effect.succeed(kept), (now) =>
        isAwaited && now?.isBegun === true ? undefined : now
      )
    )
    const parts = Effect.map(ended, (kept) => kept?.segment.parts)
    const failed = (error: ApiError): ReadonlyArray<Part> => [{ type: "error", error }]
    return Effect.map(ended, (now) => now ?? { ...kept, segment: Archive.elsewhere(about, parts, failed) })
  }

  const find = (id: string, owner: string): Effect.Effect<Kept | undefined, ApiError> =>
    Effect.suspend(() => {
      const here = all.get(id)
      return Effect.map(here === undefined ? recalled(id) : Effect.succeed(here), (kept) =>
        kept?.owner === owner ? kept : undefined
      )
    })

  /** Archives a response when it completes, before the client is notified. */
  const write = (archive: Archive.Archive, kept: Kept) =>
    kept.segment.onEnd((last) =>
      Effect.suspend(() => {
        if (all.get(kept.id) !== kept) return Effect.void
        const { about, parts } = kept.segment
        return archive.set(kept.id, Archive.encode({ ...kept, segment: { about, parts: [...parts, ...last] } }))
      })
    )

  /** Returns an item by its id, which contains the id of its response. */
  const itemOf = (id: string, owner: string): Effect.Effect<JsonObject, ApiError> => {
    const [, response] = /^[a-z]+_([0-9A-Za-z]{22})_(?:in)?\d+$/.exec(id) ?? []
    return Effect.flatMap(response === undefined ? Effect.undefined : find(`resp_${response}`, owner), (kept) => {
      const output = kept === undefined ? [] : (bodyOf(kept).output as ReadonlyArray<JsonObject>)
      const item = [...(kept?.input ?? []), ...output].find((one) => one.id === id)
      return item === undefined
        ? Effect.fail(invalid("input", `Item with id '${id}' not found. Send the item itself.`))
        : Effect.succeed(item)
    })
  }

  /** Replaces item references in the body's input with the items. */
  const resolved = (body: JsonObject, owner: string): Effect.Effect<JsonObject, ApiError> => {
    const { input } = body
    /** OpenAI allows the type of an item reference to be omitted or null. */
    const isReference = (item: unknown): item is JsonObject =>
      isObject(item) &&
      (item.type === "item_reference" ||
        (item.type == null && item.id != null && !("role" in item || "content" in item)))
    if (!Array.isArray(input) || !input.some(isReference)) return Effect.succeed(body)
    const items = Effect.forEach(input, (item: unknown) =>
      isReference(item)
        ? Effect.flatMap(
            Steps.attempt(() => name(item.id, "input.id")),
            (id) => itemOf(id, owner)
          )
        : Effect.succeed(item)
    )
    return Effect.map(items, (input) => ({ ...body, input }))
  }

  const recall = Effect.fnUntraced(function* (
    given: JsonObject,
    owner: string
  ): Effect.fn.Return<JsonObject, ApiError> {
    const body = yield* resolved(given, owner)
    const { previous_response_id: previous } = body
    if (previous === undefined || previous === null || previous === "") {
      if (body.conversation !== undefined && body.conversation !== null) {
        return yield* invalid(
          "conversation",
          "This server does not store conversations. Use previous_response_id, or send the whole conversation."
        )
      }
      return body
    }
    const kept = yield* find(yield* Steps.attempt(() => name(previous, "previous_response_id")), owner)
    if (kept === undefined) return yield* gone(String(previous))
    if (!kept.segment.isOver()) {
      return yield* invalid("previous_response_id", `Response '${kept.id}' is not complete yet.`)
    }
    const output = bodyOf(kept).output as ReadonlyArray<JsonObject>
    // A compaction summary replaces all earlier items.
    const before = CompactionItem.isTriggered(kept.input) ? [] : kept.input
    return { ...body, input: [...before, ...output, ...itemsOf(body.input)] }
  })

  const keep = (segment: Segment, body: JsonObject, owner: string, bytes: number) =>
    Effect.suspend(() => {
      settle()
      const { about } = segment
      const id = `resp_${about.id}`
      if ((about.body.store === false && !keepsAll) || all.has(id)) return Effect.void
      return Effect.flatMap(
        Steps.paced(() => listedOf(body.input, about.id)),
        (input) => add(id, segment, { owner, input }, bytes)
      )
    })

  const add = (
    id: string,
    segment: Segment,
    { input, owner }: Pick<Kept, "input" | "owner">,
    bytes: number
  ): Effect.Effect<void, ApiError> =>
    Effect.suspend(() => {
      const { about } = segment
      if (all.has(id)) return Effect.void
      if (shared !== undefined && about.shared !== undefined) return shared.keep(id, segment, { owner, input })
      const kept = {
        id,
        owner,
        input,
        segment,
        characters: overhead + bytes,
        isCancelled: false
      }
      put(kept)
      running.add(id)
      const isInBackground = about.body.background === true
      const reading = !isInBackground
        ? Effect.void
        : // A reader that reads to the end keeps it running after its client has disconnected.
          Effect.asVoid(Effect.forkIn(segment.over, scope))
      if (archive === undefined) return reading
      // Other servers load this record as "in progress", or as stopped if this process was killed.
      const told = () => Archive.encode({ ...kept, isBegun: true, segment: { ...segment, parts: [stopped] } })
      const isOpen = isInBackground && !segment.isOver()
      // Archives the response first, since the run may end or the client may disconnect while waiting for the journal.
      const steps = [isOpen ? archive.set(id, told()) : Effect.void, write(archive, kept), reading]
      return Effect.andThen(
        Effect.all(steps, { discard: true }),
        isOpen ? Effect.asVoid(recorded(segment)) : Effect.void
      )
    })

  const get = (id: string, owner: string): Effect.Effect<Kept, ApiError> =>
    Effect.flatMap(find(id, owner), (kept) => (kept === undefined ? Effect.fail(unknown(id)) : Effect.succeed(kept)))

  return {
    recall,
    keep,
    get,
    has: (id, owner) => Effect.map(find(id, owner), (kept) => kept !== undefined),
    forget: (id) =>
      Effect.suspend(() => {
        forget(id)
        return archive === undefined ? Effect.void : archive.remove(id)
      })
  }
})
