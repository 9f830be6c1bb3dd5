/**
 * Python values as plain data outside the interpreter, and equality as Python defines it.
 *
 * Values are compared outside the sandbox. For objects that are not plain data, only the name of the type is
 * transferred, so an object that claims to equal everything equals nothing here.
 */
import * as Result from "effect/Result"

/** A Python value. Numbers are exact: integers as hexadecimal digits, fractions as a pair of integers. */
export type PythonValue =
  | null
  | boolean
  | string
  | readonly ["i" | "f" | "b" | "o", string]
  | readonly ["q", string, string]
  | readonly ["l" | "t" | "s", ReadonlyArray<PythonValue>]
  | readonly ["d", ReadonlyArray<readonly [PythonValue, PythonValue]>]

/**
 * Python source that defines `encode(value)`, which converts a value to JSON-compatible data. It calls methods of the
 * built-in types directly, never overrides in a subclass. A malicious object can only affect its own encoding.
 */
export const encoder = `
def make_encode():
    import decimal, fractions
    exact = type

    def encode(value, depth=0):
        if value is None or value is True or value is False:
            return value
        if depth > 100:
            return ["o", "too deep"]
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            return ["i", format(int(value), "x")]
        if isinstance(value, float):
            return ["f", float.__repr__(value)]
        if isinstance(value, (decimal.Decimal, fractions.Fraction)):
            try:
                above, below = value.as_integer_ratio()
            except (ValueError, OverflowError):
                return ["f", float.__repr__(float(value))]
            return ["q", format(above, "x"), format(below, "x")]
        if isinstance(value, list):
            return ["l", [encode(one, depth + 1) for one in list.__iter__(value)]]
        if isinstance(value, tuple):
            return ["t", [encode(one, depth + 1) for one in tuple.__iter__(value)]]
        if isinstance(value, dict):
            return ["d", [[encode(key, depth + 1), encode(one, depth + 1)] for key, one in dict.items(value)]]
        if isinstance(value, (set, frozenset)):
            return ["s", [encode(one, depth + 1) for one in exact(value).__iter__(value)]]
        if isinstance(value, bytes):
            return ["b", bytes.hex(value)]
        if exact(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
            # A scalar of numpy: the number that it is.
            plain = value.item()
            return encode(plain, depth + 1) if isinstance(plain, (bool, int, float)) else ["o", exact(value).__name__]
        return ["o", exact(value).__name__]

    return encode
`

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const maxDepth = 110

const isWhole = (text: unknown): text is string => typeof text === "string" && /^-?[\da-f]+$/.test(text)

const isFloat = (text: unknown): text is string =>
  typeof text === "string" && /^-?(?:inf|nan|\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/.test(text)

const areAll = (content: unknown, isOne: (one: unknown) => boolean): boolean =>
  Array.isArray(content) && content.every(isOne)

/**
 * Whether a value has the format that {@link encoder} produces. This check is needed because a program can write
 * anything.
 */
export const isValue = (value: unknown, depth = 0): value is PythonValue => {
  if (value === null || typeof value === "boolean" || typeof value === "string") return true
  if (!Array.isArray(value) || depth > maxDepth) return false
  const [kind, content, below] = value as ReadonlyArray<unknown>
  const isOne = (one: unknown) => isValue(one, depth + 1)
  switch (kind) {
    case "i":
      return isWhole(content)
    case "f":
      return isFloat(content)
    case "q":
      return isWhole(content) && isWhole(below) && !/^-?0*$/.test(below)
    case "b":
    case "o":
      return typeof content === "string"
    case "l":
    case "t":
    case "s":
      return areAll(content, isOne)
    case "d":
      return areAll(content, (pair) => Array.isArray(pair) && pair.length === 2 && pair.every(isOne))
    default:
      return false
  }
}

/** Parses a value from JSON. Returns `undefined` if it does not have the expected format. */
export const parse = (text: string): PythonValue | undefined => {
  const value = Result.getOrUndefined(Result.try((): unknown => JSON.parse(text)))
  return isValue(value) ? value : undefined
}

/** Converts JSON to the Python value that it represents. Integers are exact. */
export const fromJson = (text: string): Result.Result<PythonValue, string> => {
  const revive = (_: string, value: unknown, context?: { readonly source?: string | undefined }): unknown => {
    if (typeof value === "number") {
      const source = context?.source ?? String(value)
      return /^-?\d+$/.test(source) ? ["i", BigInt(source).toString(16)] : ["f", floatText(value)]
    }
    if (Array.isArray(value)) return ["l", value]
    return typeof value === "object" && value !== null ? ["d", Object.entries(value)] : value
  }
  return Result.try({
    try: (): PythonValue => JSON.parse(text, revive),
    catch: () => "the expected value is not JSON"
  })
}

const floatText = (value: number): string => (Number.isFinite(value) ? String(value) : value > 0 ? "inf" : "-inf")

// -------------------------------------------------------------------------------------------------------------------
// Comparison
// -------------------------------------------------------------------------------------------------------------------

const wholeOf = (hexadecimal: string): bigint =>
  hexadecimal.startsWith("-") ? -BigInt(`0x${hexadecimal.slice(1)}`) : BigInt(`0x${hexadecimal}`)

const floatOf = (text: string): number => Number(text.replace("inf", "Infinity"))

/** Returns a finite float as an exact fraction. The denominator is a power of two. */
const fractionOf = (value: number): readonly [bigint, bigint] => {
  const bits = new DataView(new ArrayBuffer(8))
  bits.setFloat64(0, Math.abs(value))
  const word = bits.getBigUint64(0)
  const raised = word >> 52n
  const digits = (word & ((1n << 52n) - 1n)) | (raised === 0n ? 0n : 1n << 52n)
  const exponent = (raised === 0n ? 1n : raised) - 1075n
  const above = value < 0 ? -digits : digits
  return exponent >= 0n ? [above << exponent, 1n] : [above, 1n << -exponent]
}

const commonFactor = (a: bigint, b: bigint): bigint => {
  let [large, small] = [a < 0n ? -a : a, b]
  while (small > 0n) [large, small] = [small, large % small]
  return large
}

let unlike = 0

const canonicalNumber = (above: bigint, below: bigint): string => {
  if (below === 1n) return `n${above.toString(36)}`
  const [a, b] = below < 0n ? [-above, -below] : [above, below]
  const factor = commonFactor(a, b)
  return b === factor ? `n${(a / factor).toString(36)}` : `n${(a / factor).toString(36)}/${(b / factor).toString(36)}`
}

const canonicalFloat = (text: string): string => {
  const value = floatOf(text)
  if (Number.isNaN(value)) return `nan${++unlike}`
  if (!Number.isFinite(value)) return `n${value}`
  return Number.isInteger(value) ? canonicalNumber(BigInt(value), 1n) : canonicalNumber(...fractionOf(value))
}

/** Returns a canonical string that is equal for two values exactly if Python considers them equal. */
const canonical = (value: PythonValue): string => {
  if (value === null) return "none"
  if (typeof value === "boolean") return value ? "n1" : "n0"
  if (typeof value === "string") return JSON.stringify(value)
  switch (value[0]) {
    case "i":
      return canonicalNumber(wholeOf(value[1]), 1n)
    case "q":
      return canonicalNumber(wholeOf(value[1]), wholeOf(value[2]))
    case "f":
      return canonicalFloat(value[1])
    case "b":
      return `b${value[1]}`
    case "l":
      return `[${value[1].map(canonical).join(",")}]`
    case "t":
      return `(${value[1].map(canonical).join(",")})`
    case "s":
      return `{${value[1].map(canonical).toSorted().join(",")}}`
    case "d":
      return `d{${value[1]
        .map(([key, one]) => `${canonical(key)}:${canonical(one)}`)
        .toSorted()
        .join(",")}}`
    case "o":
      return `o${++unlike}`
  }
}

/** Whether Python would consider two values equal. Objects that are not plain data are not equal to anything. */
export const isSame = (a: PythonValue, b: PythonValue): boolean => canonical(a) === canonical(b)

/**
 * Compares two numbers. The result is positive if the first is larger, and `undefined` if either value is not a number.
 */
export const compare = (a: PythonValue, b: PythonValue): number | undefined => {
  const [first, second] = [ratioOf(a), ratioOf(b)]
  if (first === undefined || second === undefined) return undefined
  const difference = first[0] * second[1] - second[0] * first[1]
  return difference > 0n ? 1 : difference < 0n ? -1 : 0
}

/** Returns a finite number as a fraction with a positive denominator. */
export const ratioOf = (value: PythonValue): readonly [bigint, bigint] | undefined => {
  if (typeof value === "boolean") return [value ? 1n : 0n, 1n]
  if (!Array.isArray(value)) return undefined
  const [kind, text, below] = value as readonly [string, string, string]
  if (kind === "i") return [wholeOf(text), 1n]
  if (kind === "q") return [wholeOf(text), wholeOf(below)]
  if (kind !== "f" || !Number.isFinite(floatOf(text))) return undefined
  return fractionOf(floatOf(text))
}
