/**
 * Calls a function of a solution and compares what it gives with what it should, by LiveCodeBench's rules.
 *
 * The comparison is made here, on plain data: what is expected never enters the sandbox. So a program can neither look
 * it up nor return an object that claims to equal everything.
 */
import * as Result from "effect/Result"

/** A value of Python as the driver writes it: numbers as text, so that no digit is lost. */
type Encoded =
  | null
  | boolean
  | string
  | readonly ["i" | "f", string]
  | readonly ["l" | "t", ReadonlyArray<Encoded>]
  | readonly ["d", ReadonlyArray<readonly [Encoded, Encoded]>]
  | readonly ["o", string]

/** The program: reads the solution from its folder and what to do from its input. */
export const driver = String.raw`
def drive():
    import json, os, sys, types
    dumps, write, exact = json.dumps, os.write, type
    order = json.loads(sys.stdin.read())
    marker = order["marker"]

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
        if isinstance(value, list):
            return ["l", [encode(one, depth + 1) for one in value]]
        if isinstance(value, tuple):
            return ["t", [encode(one, depth + 1) for one in value]]
        if isinstance(value, dict):
            return ["d", [[encode(key, depth + 1), encode(one, depth + 1)] for key, one in value.items()]]
        return ["o", exact(value).__name__]

    arguments = [json.loads(line) for line in order["input"].split("\n")]
    with open("solution.py", encoding="utf-8") as file:
        code = file.read()
    module = types.ModuleType("solution")
    exec(compile(order["prelude"], "prelude.py", "exec"), vars(module))
    exec(compile(code, "solution.py", "exec", dont_inherit=True), vars(module))
    target = module.Solution() if "class Solution" in code else module
    result = encode(getattr(target, order["function"])(*arguments))
    try:
        sys.stdout.flush()
    except Exception:
        pass
    text = ("\n" + marker + dumps(result) + "\n").encode()
    while text:
        text = text[write(1, text):]

drive()
`

/** What the driver wrote behind its marker; `undefined` when there is nothing. */
export const resultIn = (stdout: string, marker: string): unknown => {
  const at = stdout.lastIndexOf(marker)
  if (at < 0) return undefined
  const line = stdout.slice(at + marker.length).split("\n", 1)[0]!
  return Result.getOrUndefined(Result.try((): unknown => JSON.parse(line)))
}

/** A value of JSON whose whole numbers are `bigint`. */
type Json = null | boolean | string | number | bigint | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** JSON with its numbers as Python reads them: whole ones exactly. */
export const parseExact = (text: string): Result.Result<Json, string> => {
  const revive = (_: string, value: unknown, context?: { readonly source?: string | undefined }) => {
    if (typeof value !== "number") return value
    const source = context?.source ?? String(value)
    return /^-?\d+$/.test(source) ? BigInt(source) : value
  }
  return Result.try({ try: (): Json => JSON.parse(text, revive), catch: () => "what is expected is not JSON" })
}

const bigintOf = (hexadecimal: string): bigint =>
  hexadecimal.startsWith("-") ? -BigInt(`0x${hexadecimal.slice(1)}`) : BigInt(`0x${hexadecimal}`)

const numberOf = (value: Encoded | Json): bigint | number | undefined => {
  if (typeof value === "bigint" || typeof value === "number") return value
  if (typeof value === "boolean") return value ? 1n : 0n
  if (!Array.isArray(value)) return undefined
  const [kind, text] = value as unknown as readonly [string, string]
  if (kind === "i") return bigintOf(text)
  return kind === "f" ? Number(text.replace("inf", "Infinity")) : undefined
}

const isSameNumber = (a: bigint | number, b: bigint | number): boolean =>
  // JavaScript, too, compares a bigint with a number by their values.
  // biome-ignore lint/suspicious/noDoubleEquals: === would tell 1n from 1
  a == b

const isSameDictionary = (pairs: ReadonlyArray<readonly [Encoded, Encoded]>, expected: Json): boolean => {
  if (typeof expected !== "object" || expected === null || Array.isArray(expected)) return false
  const fields = expected as { readonly [key: string]: Json }
  return (
    pairs.length === Object.keys(fields).length &&
    pairs.every(([key, value]) => typeof key === "string" && Object.hasOwn(fields, key) && isSame(value, fields[key]!))
  )
}

/** Whether Python would call them equal. */
const isSame = (given: Encoded, expected: Json): boolean => {
  if (given === null || typeof given === "string") return given === expected
  if (typeof given !== "boolean") {
    const [kind, content] = given
    if (kind === "d") return isSameDictionary(content, expected)
    if (kind === "l") {
      return (
        Array.isArray(expected) &&
        content.length === expected.length &&
        content.every((one, at) => isSame(one, expected[at]))
      )
    }
    if (kind === "t" || kind === "o") return false
  }
  const [a, b] = [numberOf(given), numberOf(expected)]
  return a !== undefined && b !== undefined && isSameNumber(a, b)
}

/** Whether a result is the expected one; a tuple counts as a list when it is the whole result. */
export const isExpected = (result: unknown, expected: Json): boolean => {
  const given = result as Encoded
  return isSame(Array.isArray(given) && given[0] === "t" ? ["l", given[1] as ReadonlyArray<Encoded>] : given, expected)
}
