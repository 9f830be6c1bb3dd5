/** Parses the arguments of tool calls: a JSON object in a string, in the variants that servers and models produce. */
import * as Json from "../VendorJson.ts"

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether a string is a JSON object. */
export const isObject = (text: string): boolean => {
  const value = parsed(text)
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** The state of a scan of arguments that arrive in chunks. */
export interface Scan {
  /** Number of open brackets. */
  readonly depth: number
  readonly isInText: boolean
  readonly isEscaped: boolean
  /** Whether the characters up to here are a complete object, judged by the brackets. */
  readonly isWhole: boolean
}

/** The scan of an empty string. */
export const unscanned: Scan = { depth: 0, isInText: false, isEscaped: false, isWhole: false }

/** Scans the next chunk. Parsing all arguments after each chunk would take quadratic time. */
export const scan = (before: Scan, piece: string): Scan => {
  let { depth, isEscaped, isInText, isWhole } = before
  for (let at = 0; at < piece.length; at++) {
    const sign = piece[at]
    if (isEscaped) isEscaped = false
    else if (sign === '"') isInText = !isInText
    else if (isInText) isEscaped = sign === "\\"
    else if (sign === "{" || sign === "[") depth += 1
    else if (sign === "}" || sign === "]") depth -= 1
    else if (sign === " " || sign === "\n" || sign === "\r" || sign === "\t") continue
    isWhole = sign === "}" && depth === 0 && !isInText
  }
  return { depth, isInText, isEscaped, isWhole }
}

/**
 * Converts arguments, or a chunk of them, to a string. Some servers send the object itself; PHP servers send an empty
 * object as a list.
 */
export const textOf = (value: unknown): string => {
  if (Array.isArray(value) && value.length === 0) return "{}"
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? JSON.stringify(value)
    : Json.textChunk(value, "a call's arguments")
}

/** Strings that models and servers send for a tool call without arguments. */
const nothing: ReadonlySet<string> = new Set(["", "null", "None", '""', "[]"])

/** Text within a Markdown code fence. */
const fenced = /^```(?:json)?\s*([\s\S]*?)\s*```$/i

/** Maximum length in characters; longer strings are not split. */
const longest = 1_000_000

/**
 * Returns the distinct JSON objects concatenated in a string, or an empty array if the string contains anything else.
 */
export const several = (text: string): ReadonlyArray<string> => {
  if (text.length > longest || !/\}\s{0,8}\{/.test(text)) return []
  const objects = new Set<string>()
  let start = 0
  let depth = 0
  let isInText = false
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]
    if (isInText) {
      if (sign === "\\") at += 1
      else if (sign === '"') isInText = false
    } else if (sign === '"') isInText = true
    else if (sign === "{") depth += 1
    else if (sign === "}" && --depth === 0) {
      objects.add(text.slice(start, at + 1).trim())
      start = at + 1
    }
  }
  const all = [...objects]
  return text.slice(start).trim() === "" && all.every(isObject) ? all : []
}

const onlyOf = (texts: ReadonlyArray<string>): string | undefined => (texts.length === 1 ? texts[0] : undefined)

/** The start of an object, up to its first value. */
const opening = /^\{\s{0,8}"[^"\\]{0,200}"\s{0,8}:/

/**
 * Returns the object at the end of a string if everything before it repeats its beginning: some servers send all
 * previous text again with each chunk.
 */
const grown = (text: string): string | undefined => {
  const start = text.length > longest ? undefined : opening.exec(text)?.[0]
  if (start === undefined) return undefined
  const [, ...parts] = text.split(start)
  const last = start + parts.at(-1)
  return parts.length > 1 && parts.every((part) => last.startsWith(start + part)) && isObject(last) ? last : undefined
}

/**
 * Returns the complete arguments of a call: a JSON object if one can be recovered, otherwise the unchanged string. Some
 * servers send an empty object before or after the real one, repeat all previous text in each chunk, repeat the whole
 * text at the end, duplicate it, nest JSON in a JSON string, or wrap it in a Markdown fence. `last` is the last chunk
 * received.
 */
const wholeOf = (text: string, last: string): string => {
  const trimmed = text.trim()
  if (nothing.has(trimmed)) return "{}"
  if (isObject(text)) return text
  const candidates = [
    parsed(text),
    fenced.exec(trimmed)?.[1],
    onlyOf(several(trimmed)),
    trimmed.replace(/^\{\}/, ""),
    trimmed.replace(/\{\}$/, ""),
    grown(trimmed),
    last
  ]
  return candidates.find((one): one is string => typeof one === "string" && isObject(one)) ?? text
}

/**
 * Returns the complete arguments of calls that a server merged into one. Usually, there is only one call. `last` is the
 * last chunk received.
 */
export const whole = (text: string, last = ""): readonly [string, ...Array<string>] => {
  const [first, ...others] = several(text.trim()).filter((one) => one !== "{}")
  return first === undefined || others.length === 0 ? [wholeOf(text, last)] : [first, ...others]
}

/**
 * Returns the complete arguments of the call at the end of an answer that was cut, or an empty string. Without
 * arguments, the answer may have been cut before them.
 */
export const ofCut = (text: string): ReturnType<typeof whole> => {
  const texts = whole(text)
  return texts.every((one) => one !== "{}" && isObject(one)) ? texts : [""]
}

/** Returns the id of a call as a string; some servers send a number. */
export const idOf = (value: unknown): string =>
  typeof value === "number" ? String(value) : Json.textChunk(value, "a call's id")
