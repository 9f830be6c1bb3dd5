/**
 * Contents of answers that are no text: pictures, audio, citations, blocks that are not known. An answer of a run is text,
 * so they are left out, and a notice reaches the client.
 */
import type * as Json from "../VendorJson.ts"

const none: ReadonlyArray<string> = []

/** Whether a field has a content: servers also write empty objects and lists of `null`. */
const isAny = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.values(value).some((one) => one !== null)

/** Returns the kinds of contents in the fields of an object, by a table of the names of fields. */
export const kindsIn = (value: Json.Fields, fields: Readonly<Record<string, string>>): ReadonlyArray<string> => {
  let kinds = none
  for (const name in value) {
    const kind = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (kind !== undefined && isAny(value[name])) kinds = [...kinds, kind]
  }
  return kinds
}

/** Words in the types of parts and blocks, and in media types, of all vendors. */
const words: ReadonlyArray<readonly [word: RegExp, kind: string]> = [
  [/image|picture/, "pictures"],
  [/audio|speech/, "audio"],
  [/video/, "video"],
  [/citation|annotation|grounding/, "citations"],
  [/file|document|^application\/|^text\//, "files"]
]

/** Returns the kind of a part or block by its type or media type. */
export const kindOf = (type: unknown): string => {
  const name = String(type).slice(0, 40)
  return words.find(([word]) => word.test(name))?.[1] ?? `content of type ${JSON.stringify(name)}`
}

/** Returns the notice for a kind. */
export const noticeOf = (kind: string): string =>
  `The answer of the model had ${kind}. Answers are text, so the rest was left out.`
