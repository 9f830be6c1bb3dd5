/** Lists returned by steps: their output format, and their items as strings. */
import { counted } from "../Counted.ts"
import type { AnswerShape, Read } from "../run/Toolbox.ts"
import { messageOf } from "../Thrown.ts"
import { jsonText } from "../task/jsonText.ts"

const textOf = (item: unknown): string => (typeof item === "string" ? item : JSON.stringify(item))

/** Returns the schema sent to vendors. The list is wrapped in an object, because vendors only accept objects. */
const schemaOf = (most: number) => ({
  type: "object",
  properties: { items: { type: "array", maxItems: most, items: { type: "string" } } },
  required: ["items"],
  additionalProperties: false
})

/** Returns a list's items as JSON values, or `undefined` if the JSON is not a list. */
const itemsIn = (text: string): ReadonlyArray<unknown> | undefined => {
  const value: unknown = JSON.parse(jsonText(text))
  const items = Array.isArray(value) ? value : (value as { readonly items?: unknown } | null)?.items
  return Array.isArray(items) ? items : undefined
}

/**
 * Parses an answer as a list of items. Returns `undefined` if it is not a valid list, e.g. because it was truncated.
 */
export const itemsOf = (text: string): ReadonlyArray<string> | undefined => {
  try {
    return itemsIn(text)?.map(textOf)
  } catch {
    return undefined
  }
}

/** Parses a list. A list that is too long is rejected, because truncating it would discard work. */
const read =
  (most: number) =>
  (text: string): Read => {
    try {
      const items = itemsIn(text)
      if (items === undefined) return { isRight: false, why: 'it is not a list, { "items": ["one", "two"] }' }
      if (items.length > most)
        return { isRight: false, why: `it has ${counted(items.length, "item")}; the maximum is ${most}` }
      return { isRight: true, text: JSON.stringify(items), value: items }
    } catch (error) {
      return { isRight: false, why: `it is not JSON: ${messageOf(error)}` }
    }
  }

/** Returns the output format for a list of at most `most` items. */
export const listShape = (most: number): AnswerShape => ({
  format: { type: "json-schema", name: "list", schema: schemaOf(most) },
  read: read(most)
})
