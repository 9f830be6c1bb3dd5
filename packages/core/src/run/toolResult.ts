/**
 * Converts a tool's return value to content for the worker. A value of an unsupported type is rejected with the name of
 * its type, instead of being serialized as `{}`.
 */
import * as Effect from "effect/Effect"
import { unheard } from "../Callback.ts"
import { isObject } from "../Fields.ts"
import { isA, messageOf } from "../Thrown.ts"
import { problemOf } from "../task/ContentProblem.ts"
import { type ContentInput, content as toContent } from "../task/Message.ts"
import type { ToolResult } from "../task/Tool.ts"
import { failed } from "./failedResult.ts"

/** Limits for reading a value: chunks of a stream, characters or bytes, values within an object, and nesting depth. */
const maxPieces = 100_000
const maxRead = 10_000_000
const maxValues = 200_000
const maxDepth = 200

const tooMany = `more than ${maxValues} values`

/** Thrown for a value that cannot be converted. The message starts with its type. */
class Unreadable extends Error {}

const refuse = (what: string): never => {
  throw new Unreadable(what)
}

const hasMethod = <K extends PropertyKey>(value: unknown, name: K): value is Record<K, () => unknown> =>
  isObject(value) && typeof (value as Record<PropertyKey, unknown>)[name] === "function"

/** Whether a value is an error, including errors from another realm. */
const isError = (value: object): value is Error =>
  isA(value, Error) || Object.prototype.toString.call(value) === "[object Error]"

/** Returns a value's type name for error messages. */
const nameOf = (value: object): string => {
  const name = Object.prototype.toString.call(value).slice(8, -1)
  const maker = (value as { readonly constructor?: { readonly name?: unknown } }).constructor?.name
  return name === "Object" && typeof maker === "string" && maker !== "" ? maker : name
}

/** Returns a value's type name with its article. */
const kindOf = (value: object): string => {
  const name = nameOf(value)
  return `${/^[AEIO]/.test(name) ? "an" : "a"} ${name}`
}

// -------------------------------------------------------------------------------------------------------------------
// JSON
// -------------------------------------------------------------------------------------------------------------------

const isBytes = (value: object): value is ArrayBuffer | ArrayBufferView =>
  value instanceof ArrayBuffer ||
  (typeof SharedArrayBuffer !== "undefined" && value instanceof SharedArrayBuffer) ||
  value instanceof Uint8Array ||
  value instanceof Uint8ClampedArray ||
  value instanceof DataView

/** Returns a description of a value that must be awaited, or cannot be read at all; `undefined` for any other value. */
const pendingName = (value: object): string | undefined => {
  if (hasMethod(value, "then")) {
    unheard(value)
    return "a promise (await it)"
  }
  if (Effect.isEffect(value)) return "an Effect (yield it)"
  if (isA(value, Response) || isA(value, Blob) || isA(value, Request)) return `${kindOf(value)} (read it)`
  if (hasMethod(value, Symbol.asyncIterator)) return `a stream (${nameOf(value)})`
  if (isA(value, WeakMap) || isA(value, WeakSet) || isA(value, WeakRef)) return kindOf(value)
  return undefined
}

const ofMap = (map: Iterable<readonly [unknown, unknown]>): unknown => {
  const entries = taken(map)
  return entries.every(([key]) => typeof key === "string") ? Object.fromEntries(entries) : entries
}

/** Returns the contents of an object that has no enumerable fields, such as a `Map` or a `Date`. */
const heldBy = (value: object): unknown => {
  if (isA(value, Map) || isA(value, Headers) || isA(value, FormData)) return ofMap(value as Map<unknown, unknown>)
  if (isA(value, URLSearchParams) || isA(value, RegExp)) return String(value)
  if (isA(value, Date)) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString()
  if (isError(value)) return { error: messageOf(value) }
  if (isA(value, Number) || isA(value, String) || isA(value, Boolean)) return value.valueOf()
  if (hasMethod(value, "toJSON")) return value.toJSON()
  if (ArrayBuffer.isView(value) || hasMethod(value, Symbol.iterator)) return taken(value as Iterable<unknown>)
  return value
}

/** Collects the values of an iterable. Fails if there are too many, because the iterable may be infinite. */
const taken = <A>(values: Iterable<A>): ReadonlyArray<A> => {
  const all: Array<A> = []
  for (const value of values) {
    if (all.push(value) > maxPieces) refuse(`${kindOf(values)} of more than ${maxPieces} values`)
  }
  return all
}

/** Converts a value to one that can be serialized as JSON. */
const jsonOf = (root: unknown): unknown => {
  let count = 0
  const above = new Set<object>()

  const walk = (value: unknown, path: string): unknown => {
    count += 1
    if (count > maxValues) refuse(tooMany)
    if (typeof value === "bigint") return String(value)
    if (typeof value === "number") return Number.isFinite(value) ? value : String(value)
    if (typeof value === "function" || typeof value === "symbol") return undefined
    if (!isObject(value)) return value
    const at = path === "" ? "" : ` at ${path}`
    const pending = pendingName(value)
    if (pending !== undefined) refuse(`${pending}${at}`)
    if (isBytes(value)) refuse(`bytes (${nameOf(value)})${at}`)
    if (above.has(value)) refuse(`an object that contains itself${at}`)
    if (above.size >= maxDepth) refuse(`an object of more than ${maxDepth} levels`)
    above.add(value)
    const held = Array.isArray(value) ? value : heldBy(value)
    const read =
      held === value ? (Array.isArray(value) ? list(value, path) : fields(value, path, at)) : walk(held, path)
    above.delete(value)
    return read
  }

  const list = (values: ReadonlyArray<unknown>, path: string) =>
    Array.from(values, (value, index) => walk(value, `${path}[${index}]`) ?? null)

  const fields = (value: object, path: string, at: string) => {
    const all = Object.entries(value)
    const read = all.flatMap(([key, inner]) => {
      const json = walk(inner, path === "" ? key : `${path}.${key}`)
      return json === undefined ? [] : [[key, json] as const]
    })
    const prototype: unknown = Object.getPrototypeOf(value)
    const isPlain = prototype === null || prototype === Object.prototype
    if (read.length === 0 && !isPlain) refuse(`${kindOf(value)} without fields${at}`)
    if (read.length === 0 && all.some(([, inner]) => inner !== undefined)) refuse(`an object with only functions${at}`)
    return Object.fromEntries(read)
  }

  return walk(root, "")
}

const isMedia = (value: unknown): boolean =>
  isObject(value) && "type" in value && (value.type === "image" || value.type === "file")

/** Returns the tool result for a value that needs no awaiting. */
const ofValue = (value: unknown): ToolResult => {
  if (typeof value === "string") return { content: value }
  if (value === undefined) return { content: "(nothing)" }
  if (typeof value === "function" || typeof value === "symbol") return refuse(`a ${typeof value}`)
  if (isObject(value) && isError(value)) return ofError(value)
  // The checks below read the whole list.
  if (Array.isArray(value) && value.length > maxValues) refuse(tooMany)
  const problem = problemOf(value)
  if (problem === undefined) return { content: toContent(value as ContentInput) }
  if (Array.isArray(value) && value.some(isMedia))
    return failed(`The tool returned content that cannot be used: ${problem}.`)
  const json = jsonOf(value)
  return { content: typeof json === "string" ? json : JSON.stringify(json) }
}

const ofError = (error: Error): ToolResult => {
  const { errors } = error as { readonly errors?: unknown }
  const others = Array.isArray(errors) ? errors.slice(0, 10).map((one) => `\n- ${messageOf(one)}`) : []
  return failed(`The tool failed: ${messageOf(error)}${others.join("")}`)
}

// -------------------------------------------------------------------------------------------------------------------
// Bytes
// -------------------------------------------------------------------------------------------------------------------

/** Image formats by their leading bytes, as Latin-1. */
const pictures: ReadonlyArray<readonly [RegExp, string]> = [
  [/^\x89PNG\r\n/, "image/png"],
  [/^\xff\xd8\xff/, "image/jpeg"],
  [/^GIF8/, "image/gif"],
  [/^RIFF[\s\S]{4}WEBP/, "image/webp"]
]

const pictureType = (bytes: Uint8Array): string | undefined => {
  const head = String.fromCharCode(...bytes.subarray(0, 12))
  return pictures.find(([first]) => first.test(head))?.[1]
}

const base64 = (bytes: Uint8Array): string => {
  const size = 0x8000
  let binary = ""
  for (let at = 0; at < bytes.length; at += size) binary += String.fromCharCode(...bytes.subarray(at, at + size))
  return btoa(binary)
}

/** Returns bytes as an image or as text, depending on their content. */
const ofBytes = (bytes: Uint8Array, what: string): ToolResult => {
  const mediaType = pictureType(bytes)
  if (mediaType !== undefined) return { content: [{ type: "image", data: base64(bytes), mediaType }] }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes)
    if (!text.includes("\0")) return { content: text }
  } catch {}
  return refuse(`${what} of ${bytes.length} bytes that are not text`)
}

const bytesOf = (value: ArrayBuffer | ArrayBufferView): Uint8Array =>
  ArrayBuffer.isView(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : new Uint8Array(value)

// -------------------------------------------------------------------------------------------------------------------
// Streams
// -------------------------------------------------------------------------------------------------------------------

/** Reads a stream's chunks up to the size limits. Anything beyond is not read. */
const piecesOf = async (stream: AsyncIterable<unknown>, signal: AbortSignal): Promise<ReadonlyArray<unknown>> => {
  const pieces: Array<unknown> = []
  const iterator = stream[Symbol.asyncIterator]()
  const stop = () => unheard(iterator.return?.())
  signal.addEventListener("abort", stop)
  try {
    for (let size = 0; !signal.aborted; ) {
      const { done, value } = await iterator.next()
      if (done === true) return pieces
      size += typeof value === "string" ? value.length : isObject(value) && isBytes(value) ? value.byteLength : 1
      if (size > maxRead || pieces.length >= maxPieces) {
        stop()
        return pieces
      }
      pieces.push(value)
    }
    return pieces
  } finally {
    signal.removeEventListener("abort", stop)
  }
}

const joined = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

/** Concatenates text chunks or byte chunks. Chunks of any other type are returned as a list. */
const ofPieces = (pieces: ReadonlyArray<unknown>, what: string): ToolResult => {
  if (pieces.length === 0) return { content: "(nothing)" }
  if (pieces.every((piece) => typeof piece === "string")) return { content: pieces.join("") }
  if (pieces.every((piece) => isObject(piece) && isBytes(piece))) {
    return ofBytes(joined(pieces.map((piece) => bytesOf(piece as ArrayBufferView))), what)
  }
  return ofValue([...pieces])
}

const ofStream = async (stream: AsyncIterable<unknown>, signal: AbortSignal): Promise<ToolResult> =>
  ofPieces(await piecesOf(stream, signal), kindOf(stream))

const ofResponse = async (response: Response, signal: AbortSignal): Promise<ToolResult> => {
  if (response.bodyUsed) return refuse("a Response whose body was already read")
  const { body, ok, status, statusText } = response
  const read = body === null ? { content: "(nothing)" } : await ofStream(body as never, signal)
  if (ok) return read
  const text = typeof read.content === "string" ? read.content : ""
  return failed(`The tool failed: HTTP ${status} ${statusText}${text === "(nothing)" ? "" : `: ${text}`}`)
}

/** Reads a value whose content is available only asynchronously. */
const later = (value: object, signal: AbortSignal): Promise<ToolResult> | undefined => {
  if (isA(value, Response)) return ofResponse(value, signal)
  if (isA(value, Blob)) return ofStream(value.stream() as never, signal)
  if (hasMethod(value, Symbol.asyncIterator)) return ofStream(value as never, signal)
  return undefined
}

const isIterator = (value: object): value is Iterable<unknown> =>
  hasMethod(value, Symbol.iterator) && hasMethod(value, "next")

const atOnce = (value: unknown): ToolResult => {
  if (!isObject(value) || Array.isArray(value)) return ofValue(value)
  if (isBytes(value)) return ofBytes(bytesOf(value as ArrayBufferView), kindOf(value))
  return isIterator(value) ? ofPieces(taken(value), "a generator") : ofValue(value)
}

const refusal = (error: unknown): ToolResult =>
  isA(error, Unreadable)
    ? failed(`The tool returned ${error.message}, which cannot be converted to text.`)
    : failed(`The result of the tool cannot be read: ${messageOf(error)}`)

/**
 * Converts a tool's return value to a tool result. Never fails: an unreadable value becomes an error result with the
 * reason.
 */
export const read = (value: unknown): Effect.Effect<ToolResult> => {
  if (typeof value === "string") return Effect.succeed({ content: value })
  return Effect.catch(
    Effect.tryPromise({
      try: async (signal) => (isObject(value) ? later(value, signal) : undefined) ?? atOnce(value),
      catch: (error) => error
    }),
    (error) => Effect.succeed(refusal(error))
  )
}
