/**
 * Assembles the tool calls in a Chat Completions answer from their chunks. Servers differ: some number the calls and
 * some do not, some repeat the name in each chunk, some give all calls the same number, some omit ids, and some give
 * each chunk a different id.
 */
import type { WorkerPart } from "@divisi/core/Worker"
import { unreadable } from "../../VendorError.ts"
import * as Json from "../../VendorJson.ts"
import * as Arguments from "../arguments.ts"

interface Call {
  /** The index sent by the server. */
  readonly index: unknown
  /** As sent by the server; empty if it sent none. */
  readonly givenId: string
  readonly id: string
  readonly name: string
  readonly arguments: string
  /** Argument pieces received before the name. */
  readonly unnamed: string
  /** The last chunk of the arguments. Some servers repeat all previous text in each chunk. */
  readonly last: string
  readonly scan: Arguments.Scan
  /** Data that the server expects back with the call, such as Gemini's thought signature. */
  readonly extra?: Json.Fields | undefined
}

/** The calls received, in order. */
export type Calls = ReadonlyArray<Call>

/** Maximum number of calls per answer. */
const most = 1024

interface Taken {
  readonly calls: Calls
  readonly parts: ReadonlyArray<WorkerPart>
}

interface Piece {
  readonly index: unknown
  readonly id: string
  readonly name: string
  readonly arguments: string
  readonly extra?: Json.Fields | undefined
}

/**
 * Fields that a server adds to a call and expects back: `extra_content` on Gemini's own endpoint, and LiteLLM's
 * equivalent. https://ai.google.dev/gemini-api/docs/thought-signatures, read in November 2026.
 */
const extraFields = ["extra_content", "provider_specific_fields"] as const

const extraOf = (piece: Json.Fields): Json.Fields | undefined => {
  const found = extraFields.flatMap((name) => {
    const value = piece[name]
    return typeof value === "object" && value !== null ? [[name, value] as const] : []
  })
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

const indexOf = (value: unknown): unknown =>
  typeof value === "string" && /^\d{1,6}$/.test(value) ? Number(value) : (value ?? undefined)

const pieceOf = (value: unknown): Piece => {
  const piece = Json.object(value, "a call of a tool")
  const given = piece.function === undefined ? piece.custom : piece.function
  const called = given === undefined ? piece : Json.object(given ?? undefined, "a called function")
  return {
    index: indexOf(piece.index),
    id: Arguments.idOf(piece.id),
    name: Json.textChunk(called.name, "a tool's name"),
    arguments: Arguments.textOf(called.arguments ?? called.input ?? called.parameters ?? called.args),
    extra: extraOf(piece)
  }
}

/**
 * Whether a piece repeats the received arguments of a call, with or without additional characters. It has the id of the
 * call, or only its index.
 */
const repeats = (call: Call, piece: Piece): boolean =>
  (piece.id === "" ? piece.index !== undefined && piece.index === call.index : piece.id === call.givenId) &&
  [call.arguments, call.last].some((text) => text !== "" && piece.arguments.startsWith(text))

const isPieceOfName = (call: Call, piece: Piece): boolean =>
  piece.id === "" && piece.index !== undefined && call.index === piece.index && call.arguments + piece.arguments === ""

/** Whether a piece may belong to a call. A piece that repeats the name of a complete call starts a new one. */
const continues = (call: Call, piece: Piece): boolean => {
  if (piece.name === "" || call.name === "") return true
  // A name sent in pieces precedes the arguments and has its call's index.
  if (piece.name !== call.name) return isPieceOfName(call, piece)
  if (piece.arguments === "" || call.arguments === "" || repeats(call, piece)) return true
  return !/^\s*\{/.test(piece.arguments) && !call.scan.isWhole
}

/**
 * Returns the position of the call with the id of a piece. Several calls may share an id and differ only in their
 * index.
 */
const placeOfId = (calls: Calls, { id, index, name }: Piece): number =>
  id === ""
    ? -1
    : calls.findLastIndex((call) => call.givenId === id && (index === undefined || call.index === index || name === ""))

/**
 * Returns the position of the call with the index of a piece. A piece without an id and a name belongs to a call that
 * is still incomplete.
 */
const placeOfIndex = (calls: Calls, { id, index, name }: Piece): number => {
  if (index === undefined) return calls.length - 1
  const place = calls.findLastIndex((call) => call.index === index)
  const last = calls.at(-1)
  const isOpen = last !== undefined && last.name !== "" && !last.scan.isWhole
  return place === -1 && id === "" && name === "" && isOpen ? calls.length - 1 : place
}

/**
 * Returns the position of the call that a piece belongs to, or -1 for a new call. `isFirst` is whether the piece is the
 * first one in its chunk.
 */
const placeOf = (calls: Calls, piece: Piece, isFirst: boolean): number => {
  const { id, index, name } = piece
  const known = placeOfId(calls, piece)
  const place = known !== -1 ? known : placeOfIndex(calls, piece)
  const call = calls[place]
  if (call === undefined || !continues(call, piece)) return -1
  if (known !== -1 || name === "") return place
  // A chunk lists each call only once.
  if (id === "" && index === undefined) return isFirst || call.name === "" ? place : -1
  // A different id for the same index is another call, unless this call's arguments are incomplete.
  const isOther = id !== "" && call.givenId !== "" && (call.arguments === "" || piece.arguments === "")
  return isOther ? -1 : place
}

const extended = (call: Call | undefined, piece: Piece): Call => {
  const {
    arguments: before = "",
    givenId = "",
    last = "",
    name = "",
    scan = Arguments.unscanned,
    unnamed = ""
  } = call ?? {}
  const given = givenId === "" ? piece.id : givenId
  const known = name === piece.name || before !== "" || piece.arguments !== "" ? name || piece.name : name + piece.name
  return {
    index: call?.index ?? piece.index,
    givenId: given,
    // An id that has already been emitted does not change.
    id:
      call !== undefined && name !== "" ? call.id : given === "" ? (call?.id ?? `call_${crypto.randomUUID()}`) : given,
    name: known,
    arguments: before + piece.arguments,
    unnamed: known === "" ? unnamed + piece.arguments : "",
    last: piece.arguments || last,
    scan: Arguments.scan(scan, piece.arguments),
    extra: piece.extra ?? call?.extra
  }
}

/** Adds a chunk of a call, and its part to `parts`. */
const take = (calls: Calls, value: unknown, at: number, parts: Array<WorkerPart>): Calls => {
  if (value === null) return calls
  const piece = pieceOf(value)
  const isEmpty = piece.name === "" && piece.id === "" && piece.arguments === ""
  // Gemini's endpoint sends a signature in a separate piece.
  if (isEmpty && calls.length === 0) return calls
  const place = placeOf(calls, piece, at === 0)
  const before = calls[place]
  if (before === undefined && calls.length >= most) throw unreadable("the response contains too many tool calls")
  const call = extended(before, piece)
  const text = (before?.unnamed ?? "") + piece.arguments
  const { id, name } = call
  if (name !== "" && text !== "") parts.push({ type: "tool-call-delta", id, name, arguments: text })
  return before === undefined ? [...calls, call] : calls.with(place, call)
}

/**
 * Returns the pieces as a list. Some servers send a single call, or an empty object or string if there are no calls.
 */
const listOf = (pieces: unknown): ReadonlyArray<unknown> => {
  if (pieces === "" || pieces === null) return []
  if (typeof pieces !== "object" || Array.isArray(pieces)) return Json.array(pieces, "calls of tools")
  return Object.keys(pieces).length === 0 ? [] : [pieces]
}

/** Adds the tool call chunks in a delta. Returns the same calls if there are none. */
export const takeCalls = (before: Calls, pieces: unknown): Taken => {
  const parts: Array<WorkerPart> = []
  let calls = before
  for (const [at, piece] of listOf(pieces).entries()) calls = take(calls, piece, at, parts)
  return { calls, parts }
}

/** Adds the legacy `function_call` of a delta, from before the API had tools. */
export const takeFunction = (calls: Calls, piece: unknown): Taken =>
  takeCalls(calls, piece === undefined || piece === null ? [] : [{ index: "function_call", function: piece }])

/**
 * Returns the calls in a final object, which take precedence over the assembled ones. If the final object has no ids,
 * those of the assembled calls are used.
 */
export const finalCalls = (before: Calls, pieces: unknown): { readonly calls: Calls; readonly isOther: boolean } => {
  const list = listOf(pieces).filter((piece) => piece !== null)
  if (list.length === 0) return { calls: before, isOther: false }
  const calls = list.map((value, at): Call => {
    const piece = pieceOf(value)
    const known = before.find(({ givenId }) => piece.id !== "" && givenId === piece.id) ?? before[at]
    return extended(undefined, { ...piece, id: piece.id || known?.id || "", extra: piece.extra ?? known?.extra })
  })
  const said = (all: Calls) => JSON.stringify(all.map(({ arguments: text, name }) => [name, text]))
  return { calls, isOther: before.length > 0 && said(before) !== said(calls) }
}

/** Returns the data that the server expects back with each call, in order; `undefined` if the server added none. */
export const extrasOf = (calls: Calls): ReadonlyArray<Json.Fields | null> | undefined =>
  calls.some(({ extra }) => extra !== undefined) ? calls.map(({ extra = null }) => extra) : undefined

/**
 * Returns the calls of an answer. A call without arguments gets an empty object, unless the answer was cut and the call
 * is its last one.
 */
export const wholeCalls = (calls: Calls, isCut: boolean): ReadonlyArray<WorkerPart> => {
  const ids = new Set<string>()
  return calls.flatMap((call, at) => {
    const isLast = at === calls.length - 1
    // Some servers end a list of calls with an empty call.
    if (call.name === "" && (isCut ? isLast : call.arguments === "" && calls.length > 1)) return []
    if (call.name === "") throw unreadable("a tool call has no name")
    const texts = isCut && isLast ? Arguments.ofCut(call.arguments) : Arguments.whole(call.arguments, call.last)
    return texts.map((text) => {
      const id = ids.has(call.id) ? `call_${crypto.randomUUID()}` : call.id
      ids.add(id)
      return { type: "tool-call", id, name: call.name, arguments: text } as const
    })
  })
}

/** Whether all calls are complete: they have a name, and their arguments are a JSON object. */
export const areWhole = (calls: Calls): boolean =>
  calls.length > 0 &&
  calls.every(({ arguments: text, last, name }) => name !== "" && Arguments.whole(text, last).every(Arguments.isObject))
