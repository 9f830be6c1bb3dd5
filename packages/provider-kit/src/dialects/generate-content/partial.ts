/**
 * Assembles function calls whose arguments arrive in chunks, each with a JSON path for its value.
 *
 * Source: https://googleapis.github.io/js-genai/release_docs/interfaces/types.PartialArg.html, read in November 2026.
 */
import { unreadable } from "../../VendorError.ts"
import * as Json from "../../VendorJson.ts"

/** The chunks received, most recent first, because an answer may contain very many. */
interface Pieces {
  readonly values: ReadonlyArray<unknown>
  readonly before: Pieces | undefined
}

/** A call that has started but is not complete. */
export interface Open {
  readonly id: unknown
  readonly name: string
  readonly signature: string | undefined
  readonly pieces: Pieces | undefined
}

/** Whether a call differs from the open one, which is then complete. */
export const isOther = ({ id, name }: Json.Fields, open: Open | undefined): boolean =>
  open !== undefined && ((Json.text(name) ?? open.name) !== open.name || (Json.text(id) ?? open.id) !== (open.id ?? id))

/**
 * Whether a call is only a piece: it announces further pieces, has partial arguments, or has no name while a call is
 * open.
 */
export const isPiece = (call: Json.Fields, open: Open | undefined): boolean =>
  call.willContinue === true ||
  Json.items(call.partialArgs).length > 0 ||
  (open !== undefined && Json.text(call.name) === undefined)

/** Adds a piece to a call. */
export const take = (open: Open | undefined, call: Json.Fields, signature: string | undefined): Open => {
  const name = open?.name ?? Json.textChunk(call.name, "a function's name")
  if (name === "") throw unreadable("a function call has no name")
  const values = Json.items(call.partialArgs)
  return {
    id: open?.id ?? call.id,
    name,
    signature: open?.signature ?? signature,
    pieces: values.length === 0 ? open?.pieces : { values, before: open?.pieces }
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Arguments
// -------------------------------------------------------------------------------------------------------------------

/** Limits for the depth of paths and the length of lists. */
const deepest = 64
const longest = 100_000

const segment = /\.([^.[\]]+)|\[(\d{1,6})\]|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/gy

type Segment = string | number

const segmentsOf = (path: unknown): ReadonlyArray<Segment> => {
  const text = Json.text(path)?.replace(/^\$/, "") ?? ""
  const segments: Array<Segment> = []
  let length = 0
  for (const [whole, dotted, index, single, double] of text.matchAll(segment)) {
    length += whole.length
    segments.push(index === undefined ? (dotted ?? single ?? double ?? "").replaceAll(/\\(.)/g, "$1") : Number(index))
  }
  if (segments.length === 0 || segments.length > deepest || length < text.length)
    throw unreadable("a fragment of a tool call's arguments has no JSON path")
  return segments
}

/** A list, or an object without a prototype so that names such as `__proto__` are safe. */
type Node = Record<string, unknown> | Array<unknown>

const emptyFor = (next: Segment | undefined): Node => (typeof next === "number" ? [] : Object.create(null))

const at = (node: Node, key: Segment): unknown => (node as Record<Segment, unknown>)[key]

const put = (node: Node, key: Segment, value: unknown): void => {
  if (Array.isArray(node) !== (typeof key === "number"))
    throw unreadable("the fragments of a tool call's arguments contradict each other")
  if (Array.isArray(node) && ((key as number) > node.length || (key as number) >= longest))
    throw unreadable("a list in a tool call's arguments has gaps")
  const nodes = node as Record<Segment, unknown>
  nodes[key] = value
}

/** Returns the value of a piece, under the field names of Google's JSON or of its `.proto` files. */
const valueOf = (piece: Json.Fields): unknown =>
  piece.stringValue ??
  piece.string_value ??
  piece.numberValue ??
  piece.number_value ??
  piece.boolValue ??
  piece.bool_value ??
  null

const add = (root: Node, value: unknown): void => {
  const piece = Json.object(value, "a piece of a call's arguments")
  const segments = segmentsOf(piece.jsonPath ?? piece.json_path)
  let node = root
  for (const [depth, key] of segments.slice(0, -1).entries()) {
    const inner = at(node, key)
    if (typeof inner === "object" && inner !== null) node = inner as Node
    else {
      const made = emptyFor(segments[depth + 1])
      put(node, key, made)
      node = made
    }
  }
  const last = segments.at(-1) as Segment
  const [before, next] = [at(node, last), valueOf(piece)]
  put(node, last, typeof before === "string" && typeof next === "string" ? before + next : next)
}

/** Assembles the arguments of a call from its pieces. */
export const argumentsOf = ({ pieces }: Open): Json.Fields => {
  const all: Array<ReadonlyArray<unknown>> = []
  for (let one = pieces; one !== undefined; one = one.before) all.push(one.values)
  const root: Record<string, unknown> = Object.create(null)
  for (const values of all.reverse()) for (const value of values) add(root, value)
  return root
}
