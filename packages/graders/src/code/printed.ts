/** Compares printed output with the expected output by LiveCodeBench's rules: line by line, with exact numbers. */

/**
 * Returns the canonical spelling of a number. Returns `undefined` if the word is not a number or its exponent is beyond
 * the range of Python's decimals.
 */
const canonical = (word: string): string | undefined => {
  const infinite = /^([+-]?)inf(?:inity)?$/i.exec(word)
  if (infinite !== null) return `${infinite[1] === "-" ? "-" : ""}inf`
  const match = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:e([+-]?\d{1,18}))?$/i.exec(word.replaceAll("_", ""))
  if (match === null) return undefined
  const [, sign, whole = "", behind = "", bare = "", exponent = "0"] = match
  const fraction = behind + bare
  const digits = (whole + fraction).replace(/^0+/, "")
  const short = digits.replace(/(?<!0)0+$/, "")
  if (short === "") return "0"
  const scale = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - short.length)
  return `${sign === "-" ? "-" : ""}${short}e${scale}`
}

/** The characters that Python treats as white space. */
const space = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]"

const white = new RegExp(`${space}+`)
const leading = new RegExp(`^${space}+`)
const isSpace = new RegExp(`^${space}$`)

const numbersOf = (line: string): ReadonlyArray<string> | undefined => {
  const numbers = line
    .split(white)
    .filter((word) => word !== "")
    .map(canonical)
  return numbers.every((number) => number !== undefined) ? numbers : undefined
}

const isSameLine = (printed: string, expected: string): boolean => {
  if (printed === expected) return true
  const [a, b] = [numbersOf(printed), numbersOf(expected)]
  return a !== undefined && b !== undefined && a.length === b.length && a.every((number, at) => number === b[at])
}

const trim = (text: string): string => {
  const body = text.replace(leading, "")
  let end = body.length
  while (end > 0 && isSpace.test(body[end - 1]!)) end--
  return body.slice(0, end)
}

const linesOf = (text: string): ReadonlyArray<string> => trim(text).split("\n").map(trim)

/**
 * Whether the outputs have equal lines, ignoring surrounding white space. Lines of numbers may use different spellings.
 */
export const isSame = (printed: string, expected: string): boolean => {
  const [a, b] = [linesOf(printed), linesOf(expected)]
  return a.length === b.length && a.every((line, at) => isSameLine(line, b[at]!))
}
