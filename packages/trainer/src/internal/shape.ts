/** Compares the structure of a parsed value with a known valid example. */

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const kindOf = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value)

/**
 * Returns the path of the first field of the example that the value lacks or that has a different type, or `undefined`
 * if the value matches. Additional fields are allowed. If two objects have different `type` fields, their other fields
 * are not compared.
 */
export const flaw = (value: unknown, example: unknown, at: string): string | undefined => {
  if (kindOf(value) !== kindOf(example)) return `${at} must have the type ${kindOf(example)}`
  if (!isFields(value) || !isFields(example)) return undefined
  if (typeof example.type === "string" && example.type !== value.type) {
    return typeof value.type === "string" ? undefined : `${at}.type must be a string`
  }
  for (const [name, one] of Object.entries(example)) {
    if (one === undefined) continue
    const found = flaw(value[name], one, at === "" ? name : `${at}.${name}`)
    if (found !== undefined) return found
  }
  return undefined
}

/** Applies {@link flaw} to each element of an array. */
export const flawOfEach = (values: unknown, exampleOf: (value: unknown) => unknown, at: string): string | undefined => {
  if (!Array.isArray(values)) return `${at} must be an array`
  for (const [index, value] of values.entries()) {
    const found = flaw(value, exampleOf(value), `${at}[${index}]`)
    if (found !== undefined) return found
  }
  return undefined
}
