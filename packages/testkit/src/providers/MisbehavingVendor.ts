/**
 * Misbehaviour of vendors, for every dialect: valid answers and refusals in which each JSON value is replaced in turn,
 * impossible usage figures, and invalid bodies. `WireServer` sends this data, and the cases of `ProviderContract` whose
 * ids start with `vendor/` use it to test a provider.
 */
import type { ToolCall } from "@divisi/core/Message"
import type { Dialect } from "./Dialect.ts"
import * as Script from "./Script.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** One kind of misbehavior. */
export interface Misbehaviour {
  /** Description of the fault, such as `choices.0.delta is null`. */
  readonly name: string
  readonly script: Script.Script
  /** The original value. Not set if the whole body is invalid. */
  readonly instead?: unknown
}

/** Values that replace the original one, in JSON. */
export const replacements: ReadonlyArray<string> = [
  "null",
  "7",
  '"odd"',
  '{"odd":true}',
  "[]",
  "[null]",
  '"constructor"',
  '"__proto__"'
]

/** Values that replace a usage figure, in JSON. 1e400 is parsed as infinity. */
export const figures: ReadonlyArray<string> = [
  "-1",
  "-1000000000",
  "0.5",
  "1e9",
  "1e308",
  "1e400",
  '"07"',
  "null",
  "{}",
  "[1]",
  "true"
]

// -------------------------------------------------------------------------------------------------------------------
// Replacing
// -------------------------------------------------------------------------------------------------------------------

type Path = ReadonlyArray<string | number>

const childrenOf = (value: unknown): ReadonlyArray<readonly [string | number, unknown]> => {
  if (Array.isArray(value)) return value.map((item, index) => [index, item])
  return typeof value === "object" && value !== null ? Object.entries(value) : []
}

/** Returns the paths of all values in a JSON value, starting with the value itself. */
const pathsOf = (value: unknown, path: Path = []): ReadonlyArray<readonly [Path, unknown]> => [
  [path, value],
  ...childrenOf(value).flatMap(([key, child]) => pathsOf(child, [...path, key]))
]

/** Placeholder for raw replacements in JSON, because some of them cannot be parsed. */
const mark = "\u0001here\u0001"

const marked = (value: unknown, [key, ...rest]: Path): unknown => {
  if (key === undefined) return mark
  if (Array.isArray(value)) return value.map((item, index) => (index === key ? marked(item, rest) : item))
  return { ...(value as object), [key]: marked((value as Record<string, unknown>)[key], rest) }
}

const written = (value: unknown, path: Path, instead: string): string =>
  JSON.stringify(marked(value, path)).replace(JSON.stringify(mark), () => instead)

/** A line of a stream: JSON and its prefix. */
interface Line {
  readonly prefix: string
  readonly value: unknown
}

const lineOf = (text: string): Line | undefined => {
  const [, prefix = "", json = ""] = /^(data: ?)?(\{.*\})\r?$/.exec(text) ?? []
  return json === "" ? undefined : { prefix, value: JSON.parse(json) }
}

const replaced = (
  text: string,
  instead: string,
  isMeant: (path: Path, value: unknown) => boolean
): ReadonlyArray<{ readonly name: string; readonly text: string; readonly instead: unknown }> => {
  const lines = text.split("\n")
  return lines.flatMap((line, index) => {
    const parsed = lineOf(line)
    if (parsed === undefined) return []
    const { prefix, value } = parsed
    return pathsOf(value).flatMap(([path, before]) => {
      if (!isMeant(path, before)) return []
      const changed = `${prefix}${written(value, path, instead)}${line.endsWith("\r") ? "\r" : ""}`
      const name = `line ${index}, ${path.join(".") || "all of it"}: ${instead}`
      return [{ name, text: lines.with(index, changed).join("\n"), instead: before }]
    })
  })
}

const answerText = (dialect: Dialect, answer: Script.Answer, isStream: boolean): string => {
  if (!isStream) return JSON.stringify(dialect.whole(answer, "model-1"))
  const { closing, deltas, opening } = dialect.stream(answer, "model-1")
  return [...opening, ...deltas, ...closing].join("")
}

const success = (dialect: Dialect, body: string | Uint8Array, isStream: boolean): Script.Script => ({
  type: "raw",
  status: 200,
  contentType: isStream ? dialect.contentType : "application/json",
  body
})

// -------------------------------------------------------------------------------------------------------------------
// Answers
// -------------------------------------------------------------------------------------------------------------------

/** The text deltas of the answer that {@link shapes} modifies. */
export const pieces: ReadonlyArray<string> = ["one ", "two "]

const trueAnswer = Script.answer([Script.reasoning("hm"), ...pieces], {
  noise: false,
  usage: { inputTokens: 10, outputTokens: 90, cachedInputTokens: 4, reasoningTokens: 5 }
})

/**
 * The calls of the answer that {@link callShapes} modifies.
 *
 * @internal
 */
export const calls: ReadonlyArray<ToolCall> = [
  { id: "call_1", name: "weather", arguments: '{"city":"Ulm"}' },
  { id: "call_2", name: "clock", arguments: "{}" }
]

const askingAnswer = Script.answer(
  [Script.reasoning("hm"), ...calls.flatMap(({ arguments: text, id, name }) => Script.call(id, name, text))],
  { noise: false, ending: "tool-calls", signature: "c2lnbmVk" }
)

const changed = (
  dialect: Dialect,
  instead: string,
  isStream: boolean,
  isMeant: (path: Path, value: unknown) => boolean,
  answer = trueAnswer
): ReadonlyArray<Misbehaviour> =>
  replaced(answerText(dialect, answer, isStream), instead, isMeant).map(({ text, ...rest }) => ({
    ...rest,
    script: success(dialect, text, isStream)
  }))

/**
 * Returns variants of a valid answer, streamed or complete, in each of which one value is replaced by the given JSON.
 */
export const shapes = (dialect: Dialect, instead: string, isStream = true): ReadonlyArray<Misbehaviour> =>
  changed(dialect, instead, isStream, () => true)

/**
 * Like {@link shapes}, for an answer with tool calls.
 *
 * @internal
 */
export const callShapes = (dialect: Dialect, instead: string, isStream = true): ReadonlyArray<Misbehaviour> =>
  changed(dialect, instead, isStream, () => true, askingAnswer)

const isFigure = (path: Path, value: unknown): boolean =>
  typeof value === "number" && path.some((key) => /usage|_count$/i.test(String(key)))

/**
 * Returns variants of a valid answer, in each of which one usage figure is replaced by the given JSON.
 *
 * @internal
 */
export const usages = (dialect: Dialect, instead: string, isStream = true): ReadonlyArray<Misbehaviour> =>
  changed(dialect, instead, isStream, isFigure)

/**
 * Returns an answer whose packets split multi-byte characters.
 *
 * @internal
 */
export const halfCharacters = (dialect: Dialect, isStream = true): ReadonlyArray<Misbehaviour> => {
  const bytes = new TextEncoder().encode(answerText(dialect, Script.answer(["a🌍b"], { noise: false }), isStream))
  const at = bytes.findIndex((byte) => byte >= 0xf0)
  return [1, 2, 3].map((kept) => ({
    name: `${kept} of 4 bytes of a character`,
    script: success(dialect, Buffer.concat([bytes.subarray(0, at + kept), bytes.subarray(at + 4)]), isStream)
  }))
}

// -------------------------------------------------------------------------------------------------------------------
// Refusals
// -------------------------------------------------------------------------------------------------------------------

const bodyless = [
  "",
  "null",
  "7",
  '"odd"',
  "[]",
  "[null]",
  "{}",
  '{"error":null}',
  '{"error":7}',
  '{"error":"odd"}',
  '{"error":[null]}',
  '{"error":{"code":429,"message":{"a":1},"details":"nope"}}',
  '{"error":{"code":"constructor","type":"constructor","status":"__proto__","message":null,"details":[null]}}',
  '{"error":{"details":[{"violations":"q","reason":7,"retryDelay":{}}]}}',
  '{"error":{"details":[{"violations":[null,7,{"quotaId":{}}]},{"retryDelay":"1e400s"}]}}',
  '{"__proto__":{"message":"odd"},"error":{"__proto__":null}}',
  `${"[".repeat(50_000)}`,
  `${"[".repeat(50_000)}${"]".repeat(50_000)}`,
  '{"error":{"message":"\\ud800 \\u0000 \\u001b]52;c;eA==\\u0007 \\u202e \\u009b2J"}}',
  "\u0000\u001b[2J\u202e",
  "<html>"
]

const refusalOf = (status: number, body: string): Script.Script => ({
  type: "raw",
  status,
  contentType: "application/json",
  body,
  headers: { "retry-after": "9".repeat(400) }
})

/**
 * Returns error responses with the given status and different bodies: the vendor's body with each value replaced, and
 * an empty body.
 */
export const refusals = (dialect: Dialect, kind: Script.RefusalKind, status: number): ReadonlyArray<Misbehaviour> => {
  const own = dialect.refuse(Script.refusal(kind), true)?.body ?? "{}"
  const odd = replacements.flatMap((instead) => replaced(own, instead, () => true))
  return [
    ...odd.map(({ text, ...rest }) => ({ ...rest, script: refusalOf(status, text) })),
    ...bodyless.map((body) => ({ name: body.slice(0, 80), script: refusalOf(status, body) }))
  ]
}

/** Returns variants of an error in the middle of a stream, in each of which one value is replaced. */
export const failures = (dialect: Dialect): ReadonlyArray<Misbehaviour> => {
  const own = dialect.refuseInStream(Script.refusal("server-error"))
  if (own === undefined) return []
  const { deltas, opening } = dialect.stream(trueAnswer, "model-1")
  const before = [...opening, ...deltas].join("")
  return replacements
    .flatMap((instead) => replaced(own, instead, () => true))
    .map(({ text, ...rest }) => ({ ...rest, script: success(dialect, before + text, true) }))
}

// -------------------------------------------------------------------------------------------------------------------
// Bodies
// -------------------------------------------------------------------------------------------------------------------

/** Returns invalid answers with a 2xx status. */
export const bodies = (dialect: Dialect): ReadonlyArray<Misbehaviour> => {
  const raw = (status: number, contentType: string, body: string): Misbehaviour => ({
    name: `${status} ${contentType} ${body.slice(0, 60)}`,
    script: { type: "raw", status, contentType, body }
  })
  const refused = dialect.refuse(Script.refusal("server-error"), true)?.body ?? "{}"
  return [
    ...[204, 205].map((status) => raw(status, dialect.contentType, "")),
    ...["application/json", "text/html", "text/plain", "application/octet-stream", dialect.contentType].flatMap(
      (contentType) => [refused, "<html>", "\u0000\u001b[2J"].map((body) => raw(200, contentType, body))
    ),
    ...["data: null\n\n", "data: 7\n\n", "data: []\n\n", "data: \n\n", ":\n\n".repeat(100), "data: {}\n\n"].map(
      (body) => raw(200, dialect.contentType, body)
    )
  ]
}

/** Returns endless answers: of text, of comments, of one repeated event, and of an error. */
export const endless = (dialect: Dialect): ReadonlyArray<Misbehaviour> => {
  const answer = Script.answer(["x".repeat(1000), "y".repeat(1000)], { noise: false })
  const [, piece = ""] = dialect.stream(answer, "model-1").deltas
  return [
    { name: "text", script: { type: "endless", answer, piece } },
    { name: "comments", script: { type: "endless", answer, piece: ": ping\n\n" } },
    { name: "empty lines", script: { type: "endless", answer, piece: "\n" } },
    { name: "an event", script: { type: "endless", answer, piece: "data: x" } },
    { name: "an error", script: { type: "endless", status: 500, piece: '{"error":' } }
  ]
}
