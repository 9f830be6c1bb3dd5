/**
 * Detects answer content other than text: images, audio, citations, and unknown blocks. The answer of a run is text, so
 * this content is dropped and the client gets a notice.
 */
import type * as Json from "../VendorJson.ts"

const none: ReadonlyArray<string> = []

/** Whether a field has any content. Servers also send empty objects and lists of `null`. */
const isAny = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.values(value).some((one) => one !== null)

/** Returns the kinds of omitted content in an object's fields, using a table keyed by field name. */
export const kindsIn = (value: Json.Fields, fields: Readonly<Record<string, string>>): ReadonlyArray<string> => {
  let kinds = none
  for (const name in value) {
    const kind = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (kind !== undefined && isAny(value[name])) kinds = [...kinds, kind]
  }
  return kinds
}

/**
 * Substrings of part types, block types and media types, for all vendors, and the kind of content that each identifies.
 */
const words: ReadonlyArray<readonly [word: RegExp, kind: string]> = [
  [/image|picture/, "pictures"],
  [/audio|speech/, "audio"],
  [/video/, "video"],
  [/citation|annotation|grounding/, "citations"],
  [/file|document|^application\/|^text\//, "files"]
]

/** Returns the kind of a part or block from its type or media type. */
export const kindOf = (type: unknown): string => {
  const name = String(type).slice(0, 40)
  return words.find(([word]) => word.test(name))?.[1] ?? `content of type ${JSON.stringify(name)}`
}

/** Returns the notice for a call of a tool that a limit cut. */
export const cutCallOf = (name: string): string =>
  `The answer was cut within a call of the tool ${JSON.stringify(name.slice(0, 100))}, which was left out.`

/** Returns the notice for a kind of omitted content. */
export const noticeOf = (kind: string): string =>
  `The model's answer contained ${kind}. Answers are text, so it was left out.`
