/**
 * The tools that an answer of Chat Completions asks for, from its pieces. Servers differ: some number calls and some do
 * not, some name them in each piece, some give all calls the same number, and some give them no id.
 */
import type { WorkerPart } from "@divisi/core/Worker"
import { unreadable } from "@divisi/provider-kit/VendorError"
import * as Json from "@divisi/provider-kit/VendorJson"

interface Call {
  /** The number that the server gives it. */
  readonly index: unknown
  /** As the server gave it; empty where it gave none. */
  readonly givenId: string
  readonly id: string
  readonly name: string
  readonly arguments: string
  /** Pieces that came before the name. */
  readonly untold: string
}

/** The calls so far, in order. */
export type Calls = ReadonlyArray<Call>

/** More calls than this no answer has. */
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
}

const pieceOf = (value: unknown): Piece => {
  const piece = Json.object(value, "a call of a tool")
  const called = Json.object(piece.function, "a called function")
  return {
    index: piece.index,
    id: Json.said(piece.id, "a call's id"),
    name: Json.said(called.name, "a tool's name"),
    arguments: Json.said(called.arguments, "a call's arguments")
  }
}

/** Which call a piece is of: one with its number and id, else the last one; -1 for a new one. */
const placeOf = (calls: Calls, { id, index }: Piece): number => {
  if (index === undefined && id === "") return calls.length - 1
  return calls.findLastIndex(
    (call) => (index === undefined || call.index === index) && (id === "" || call.givenId === "" || call.givenId === id)
  )
}

const extended = (call: Call | undefined, piece: Piece): Call => {
  const { arguments: before = "", givenId = "", name = "", untold = "" } = call ?? {}
  const given = givenId === "" ? piece.id : givenId
  const known = name === "" ? piece.name : name
  return {
    index: piece.index ?? call?.index,
    givenId: given,
    // An id that was told in a piece stays.
    id:
      call !== undefined && name !== "" ? call.id : given === "" ? (call?.id ?? `call_${crypto.randomUUID()}`) : given,
    name: known,
    arguments: before + piece.arguments,
    untold: known === "" ? untold + piece.arguments : ""
  }
}

const take = ({ calls, parts }: Taken, value: unknown): Taken => {
  const piece = pieceOf(value)
  const place = placeOf(calls, piece)
  const before = calls[place]
  if (before === undefined && calls.length >= most) throw unreadable("it asks for too many tools")
  const call = extended(before, piece)
  const told = (before?.untold ?? "") + piece.arguments
  const { id, name } = call
  return {
    calls: before === undefined ? [...calls, call] : calls.with(place, call),
    parts: name === "" || told === "" ? parts : [...parts, { type: "tool-call-delta", id, name, arguments: told }]
  }
}

/** Takes the pieces of a delta; the calls are the same ones where there are none. */
export const takeCalls = (calls: Calls, pieces: unknown): Taken =>
  Json.array(pieces ?? undefined, "calls of tools").reduce<Taken>(take, { calls, parts: [] })

/** The whole calls of an answer that has ended. A tool without arguments is called with an empty object. */
export const wholeCalls = (calls: Calls): ReadonlyArray<WorkerPart> =>
  calls.map(({ arguments: text, id, name }) => {
    if (name === "") throw unreadable("a call of a tool has no name")
    return { type: "tool-call", id, name, arguments: text === "" ? "{}" : text }
  })
