/** Generates values for a JSON Schema from a question: its numbers, names and quoted words. */
import type { Tool } from "@divisi/core"

const isObject = (value: unknown): value is Tool.JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const numbersIn = (question: string): ReadonlyArray<number> =>
  (question.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number).filter(Number.isFinite)

/** Quoted words first, then capitalised words within a sentence: names, including those such as "Portland, OR". */
const namesIn = (question: string): ReadonlyArray<string> => {
  const quoted = [...question.matchAll(/["'`]([^"'`]{1,80})["'`]/g)].map(([, text = ""]) => text)
  const names = [...question.matchAll(/(?<=[\p{Ll}\d,;:]\s)\p{Lu}[\p{L}\d-]*(?:,?\s\p{Lu}[\p{L}\d-]*)*/gu)].map(
    ([text]) => text
  )
  return [...quoted, ...names.filter((name) => name !== "I")]
}

/** The values of a question. Each is used once, and the last one again if there are no more. */
interface Source {
  readonly question: string
  readonly numbers: ReadonlyArray<number>
  readonly names: ReadonlyArray<string>
  number: number
  name: number
}

const taken = <A>(things: ReadonlyArray<A>, at: number): A | undefined => things[Math.min(at, things.length - 1)]

const textOf = (schema: Tool.JsonSchema, source: Source, field: string): string => {
  const text = taken(source.names, source.name++) ?? (source.question.slice(0, 200).trim() || field)
  const least = typeof schema.minLength === "number" ? schema.minLength : 0
  const most = typeof schema.maxLength === "number" ? schema.maxLength : 1_000
  return text.padEnd(least, ".").slice(0, most)
}

const numberOf = (schema: Tool.JsonSchema, source: Source): number => {
  const number = taken(source.numbers, source.number++) ?? 1
  const least = typeof schema.minimum === "number" ? schema.minimum : Number.NEGATIVE_INFINITY
  const most = typeof schema.maximum === "number" ? schema.maximum : Number.POSITIVE_INFINITY
  const within = Math.max(least, Math.min(most, number))
  return schema.type === "integer" ? Math.round(within) : within
}

const resolved = (schema: Tool.JsonSchema, root: Tool.JsonSchema): Tool.JsonSchema => {
  const parts = typeof schema.$ref === "string" ? schema.$ref.split("/").slice(1) : undefined
  const found = parts?.reduce<unknown>((at, part) => (isObject(at) ? at[part] : undefined), root)
  return isObject(found) ? found : schema
}

const typeOf = ({ properties, type }: Tool.JsonSchema): unknown => {
  const first = Array.isArray(type) ? type.find((one) => one !== "null") : type
  return first ?? (properties === undefined ? "string" : "object")
}

const valueOf = (
  given: Tool.JsonSchema,
  root: Tool.JsonSchema,
  source: Source,
  field: string,
  depth: number
): unknown => {
  const schema = resolved(given, root)
  if (depth > 8) return null
  if ("const" in schema) return schema.const
  if (Array.isArray(schema.enum)) {
    const asked = source.question.toLowerCase()
    return schema.enum.find((one) => typeof one === "string" && asked.includes(one.toLowerCase())) ?? schema.enum[0]
  }
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf
  if (Array.isArray(choices) && choices.length > 0) {
    const choice = choices.find((one) => isObject(one) && one.type !== "null") ?? choices[0]
    return valueOf(choice, root, source, field, depth + 1)
  }
  switch (typeOf(schema)) {
    case "object": {
      const properties = isObject(schema.properties) ? schema.properties : {}
      const required = Array.isArray(schema.required) ? schema.required : Object.keys(properties)
      const wanted = Object.entries(properties).filter(([name]) => required.includes(name))
      return Object.fromEntries(
        wanted.map(([name, one]) => [name, valueOf(isObject(one) ? one : {}, root, source, name, depth + 1)])
      )
    }
    case "array": {
      const length = Math.max(1, typeof schema.minItems === "number" ? Math.min(schema.minItems, 20) : 1)
      const items = isObject(schema.items) ? schema.items : {}
      return Array.from({ length }, () => valueOf(items, root, source, field, depth + 1))
    }
    case "integer":
    case "number":
      return numberOf({ ...schema, type: typeOf(schema) }, source)
    case "boolean":
      return true
    case "null":
      return null
    default:
      return textOf(schema, source, field)
  }
}

/** A value for a schema, from the values of the question. `from` skips the first names, for another call. */
export const make = (schema: Tool.JsonSchema, question: string, from = 0): unknown => {
  const source: Source = { question, numbers: numbersIn(question), names: namesIn(question), number: 0, name: from }
  return valueOf(schema, schema, source, "value", 0)
}

/** How often a tool is called: once, or once per name if it takes a single name. */
export const times = ({ properties, required }: Tool.JsonSchema, question: string): number => {
  const wanted = Array.isArray(required) ? required.length : Object.keys(isObject(properties) ? properties : {}).length
  return wanted === 1 ? Math.max(1, Math.min(4, namesIn(question).length)) : 1
}
