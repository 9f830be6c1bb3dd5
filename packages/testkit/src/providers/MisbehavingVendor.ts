/**
 * Misbehavior of vendors, for every dialect: valid answers and refusals with each value of their JSON replaced in turn,
 * impossible usage figures, invalid bodies. It is data: `WireServer` sends it, and the cases of `ProviderContract`
 * whose ids start with `vendor/` apply it to a provider.
 */
import type { ToolCall } from "@divisi/core/Message"
import type { Dialect } from "./Dialect.ts"
import * as Script from "./Script.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** One kind of misbehavior. */
export interface Misbehaviour {
  /** The fault, e.g. `choices.0.delta is null`. */
  readonly name: string
  readonly script: Script.Script
  /** The original value; absent if the whole body is wrong. */
  readonly instead?: unknown
}

/** Replacements for a value, in JSON. */
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

/** Replacements for a figure of a usage report, in JSON; 1e400 is read as infinity. */
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

/** The paths of every value within a JSON value, the value itself first. */
const pathsOf = (value: unknown, path: Path = []): ReadonlyArray<readonly [Path, unknown]> => [
  [path, value],
  ...childrenOf(value).flatMap(([key, child]) => pathsOf(child, [...path, key]))
]

/** Placeholder in JSON for raw replacements: some of them cannot be parsed. */
const mark = "\u0001here\u0001"

const marked = (value: unknown, [key, ...rest]: Path): unknown => {
  if (key === undefined) return mark
  if (Array.isArray(value)) return value.map((item, index) => (index === key ? marked(item, rest) : item))
  return { ...(value as object), [key]: marked((value as Record<string, unknown>)[key], rest) }
}

const written = (value: unknown, path: Path, instead: string): string =>
  JSON.stringify(marked(value, path)).replace(JSON.stringify(mark), () => instead)

/** A JSON line of a stream, and its prefix. */
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

/** The texts of the answer that {@link shapes} changes. */
export const pieces: ReadonlyArray<string> = ["one ", "two "]

const trueAnswer = Script.answer([Script.reasoning("hm"), ...pieces], {
  noise: false,
  usage: { inputTokens: 10, outputTokens: 90, cachedInputTokens: 4, reasoningTokens: 5 }
})

/** The calls in {@link callShapes}. */
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

/** A valid answer, streamed or complete, with each value in turn replaced by the given JSON. */
export const shapes = (dialect: Dialect, instead: string, isStream = true): ReadonlyArray<Misbehaviour> =>
  changed(dialect, instead, isStream, () => true)

/** Like {@link shapes}, for an answer with tool calls. */
export const callShapes = (dialect: Dialect, instead: string, isStream = true): ReadonlyArray<Misbehaviour> =>
  changed(dialect, instead, isStream, () => true, askingAnswer)

const isFigure = (path: Path, value: unknown): boolean =>
  typeof value === "number" && path.some((key) => /usage|_count$/i.test(String(key)))

/** A valid answer, with each usage figure in turn replaced by the given JSON. */
export const usages = (dialect: Dialect, instead: string, isStream = true): ReadonlyArray<Misbehaviour> =>
  changed(dialect, instead, isStream, isFigure)

/** An answer whose packets split characters in the middle of their bytes. */
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

/** Error responses with a status and different bodies: the vendor's own with each value replaced, and an empty one. */
export const refusals = (dialect: Dialect, kind: Script.RefusalKind, status: number): ReadonlyArray<Misbehaviour> => {
  const own = dialect.refuse(Script.refusal(kind), true)?.body ?? "{}"
  const odd = replacements.flatMap((instead) => replaced(own, instead, () => true))
  return [
    ...odd.map(({ text, ...rest }) => ({ ...rest, script: refusalOf(status, text) })),
    ...bodyless.map((body) => ({ name: body.slice(0, 80), script: refusalOf(status, body) }))
  ]
}

/** An error in the middle of a stream, with each value in turn replaced. */
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

/** Invalid answers with status 2xx. */
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

/** Endless answers: of text, of comments, of one event, and of an error. */
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
