/** Lists that steps return: their shape, and their items as strings. */
import type { AnswerShape, Read } from "../run/Toolbox.ts"
import { messageOf } from "../Thrown.ts"
import { jsonText } from "../task/jsonText.ts"

const textOf = (item: unknown): string => (typeof item === "string" ? item : JSON.stringify(item))

/** The schema that vendors receive. The list is inside an object, because vendors accept only objects. */
const schemaOf = (most: number) => ({
  type: "object",
  properties: { items: { type: "array", maxItems: most, items: { type: "string" } } },
  required: ["items"],
  additionalProperties: false
})

/** Returns the items of a list as JSON values; `undefined` for any other JSON. */
const itemsIn = (text: string): ReadonlyArray<unknown> | undefined => {
  const value: unknown = JSON.parse(jsonText(text))
  const items = Array.isArray(value) ? value : (value as { readonly items?: unknown } | null)?.items
  return Array.isArray(items) ? items : undefined
}

/**
 * Returns the items of an answer with the shape of a list; `undefined` for any other answer, such as one that was cut
 * off.
 */
export const itemsOf = (text: string): ReadonlyArray<string> | undefined => {
  try {
    return itemsIn(text)?.map(textOf)
  } catch {
    return undefined
  }
}

/** Parses a list. Rejects a list that is too long, because truncating it would lose work. */
const read =
  (most: number) =>
  (text: string): Read => {
    try {
      const items = itemsIn(text)
      if (items === undefined) return { isRight: false, why: 'it is not a list, { "items": ["one", "two"] }' }
      if (items.length > most)
        return { isRight: false, why: `it has ${items.length} items; at most ${most} are allowed` }
      return { isRight: true, text: JSON.stringify(items), value: items }
    } catch (error) {
      return { isRight: false, why: `it is not JSON: ${messageOf(error)}` }
    }
  }

/** Returns the shape of a list of at most `most` items. */
export const listShape = (most: number): AnswerShape => ({
  format: { type: "json-schema", name: "list", schema: schemaOf(most) },
  read: read(most)
})
