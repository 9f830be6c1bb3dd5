/** The arguments of a call of a tool: JSON of an object in a text, in the forms in which servers and models write it. */
import * as Json from "../VendorJson.ts"

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether a text is the JSON of an object. */
export const isObject = (text: string): boolean => {
  const value = parsed(text)
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Arguments, or a piece of them, as a text. Some servers give the object itself, in PHP an empty one as a list. */
export const textOf = (value: unknown): string => {
  if (Array.isArray(value) && value.length === 0) return "{}"
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? JSON.stringify(value)
    : Json.said(value, "a call's arguments")
}

/** How models and servers say that a tool is called with nothing. */
const nothing: ReadonlySet<string> = new Set(["", "null", "None", '""', "[]"])

/** The text within a fence of Markdown. */
const fenced = /^```(?:json)?\s*([\s\S]*?)\s*```$/i

/** Longer texts are not taken apart. */
const longest = 1_000_000

/** Returns the objects that follow one another in a text, each once; empty if the text has anything else. */
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

/**
 * The whole arguments of a call, as the JSON of an object where they can be read as one, else as they came. Servers send an
 * empty object before or after the real one, all that has come so far in each piece, all once more at the end, all of it
 * several times, JSON within the JSON of a text, or a fence of Markdown around it. `last` is the last piece.
 */
export const whole = (text: string, last = ""): string => {
  const trimmed = text.trim()
  if (nothing.has(trimmed)) return "{}"
  if (isObject(text)) return text
  const candidates = [
    parsed(text),
    fenced.exec(trimmed)?.[1],
    onlyOf(several(trimmed)),
    trimmed.replace(/^\{\}/, ""),
    trimmed.replace(/\{\}$/, ""),
    last
  ]
  return candidates.find((one): one is string => typeof one === "string" && isObject(one)) ?? text
}

/** The id of a call; some servers give a number. */
export const idOf = (value: unknown): string =>
  typeof value === "number" ? String(value) : Json.said(value, "a call's id")
