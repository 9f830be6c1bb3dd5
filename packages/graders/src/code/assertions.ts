/** Evaluates `unittest` assertions on plain data, out of reach of the program under test. */
import { compare, isSame, type PythonValue, ratioOf } from "./PythonValue.ts"
import type { Point } from "./testText.ts"

type Content = ReadonlyArray<PythonValue>

const contentOf = (value: PythonValue, kinds: string): Content | undefined =>
  Array.isArray(value) && kinds.includes(value[0]) ? (value[1] as Content) : undefined

/** Evaluates Python's `in`. Returns `undefined` if the container type is not supported. */
const contains = (container: PythonValue, one: PythonValue): boolean | undefined => {
  if (typeof container === "string") return typeof one === "string" ? container.includes(one) : undefined
  const items = contentOf(container, "lts") ?? contentOf(container, "d")?.map((pair) => (pair as Content)[0]!)
  return items?.some((item) => isSame(item, one))
}

const isOfKind = (kind: string, a: PythonValue, b: PythonValue): boolean =>
  contentOf(a, kind) !== undefined && contentOf(b, kind) !== undefined && isSame(a, b)

const haveSameItems = (a: PythonValue, b: PythonValue): boolean | undefined => {
  const [first, second] = [contentOf(a, "lts"), contentOf(b, "lts")]
  return first && second && isSame(["s", first], ["s", second])
}

/**
 * Whether two numbers differ by at most `delta`, or are equal when their difference is rounded to `places` decimals.
 * Default: 7 places.
 */
const isAlmost = (a: PythonValue, b: PythonValue, { delta, places }: Point): boolean | undefined => {
  if (isSame(a, b)) return true
  const [first, second] = [ratioOf(a), ratioOf(b)]
  if (first === undefined || second === undefined) return undefined
  // Like Python, compute with floats unless both numbers are exact.
  const difference = Math.abs(Number(first[0]) / Number(first[1]) - Number(second[0]) / Number(second[1]))
  const number = (value: PythonValue) => {
    const ratio = ratioOf(value)
    return ratio && Number(ratio[0]) / Number(ratio[1])
  }
  const bound = delta == null ? undefined : number(delta)
  if (bound !== undefined) return difference <= bound
  const digits = places == null ? 7 : number(places)
  return digits === undefined ? undefined : difference <= 0.5 * 10 ** -digits
}

const order = (a: PythonValue, b: PythonValue, holds: (sign: number) => boolean): boolean | undefined => {
  const sign = compare(a, b)
  return sign === undefined ? undefined : holds(sign)
}

const rules: Readonly<Record<string, (a: PythonValue, b: PythonValue, point: Point) => boolean | undefined>> = {
  assertEqual: isSame,
  assertEquals: isSame,
  assertNotEqual: (a, b) => !isSame(a, b),
  assertListEqual: (a, b) => isOfKind("l", a, b),
  assertTupleEqual: (a, b) => isOfKind("t", a, b),
  assertSetEqual: (a, b) => isOfKind("s", a, b),
  assertDictEqual: (a, b) => isOfKind("d", a, b),
  assertCountEqual: haveSameItems,
  assertMultiLineEqual: (a, b) => typeof a === "string" && a === b,
  assertIn: (a, b) => contains(b, a),
  assertNotIn: (a, b) => {
    const found = contains(b, a)
    return found === undefined ? undefined : !found
  },
  assertGreater: (a, b) => order(a, b, (sign) => sign > 0),
  assertGreaterEqual: (a, b) => order(a, b, (sign) => sign >= 0),
  assertLess: (a, b) => order(a, b, (sign) => sign < 0),
  assertLessEqual: (a, b) => order(a, b, (sign) => sign <= 0),
  assertAlmostEqual: isAlmost,
  assertAlmostEquals: isAlmost,
  assertTrue: (a) => a === true,
  assertFalse: (a) => a === false,
  assertIsNone: (a) => a === true,
  assertIsNotNone: (a) => a === false
}

/** Whether a value contains an object that is not plain data and cannot be compared here. */
const isOpaque = (value: PythonValue): boolean => {
  if (!Array.isArray(value)) return false
  const [kind, content] = value as readonly [string, unknown]
  if (kind === "d") return (content as ReadonlyArray<Content>).some((pair) => pair.some(isOpaque))
  return kind === "o" || ("lts".includes(kind) && (content as Content).some(isOpaque))
}

/** Whether the assertion at a point holds for the recorded value. Assertions that cannot be decided fail. */
export const holds = (point: Point, value: PythonValue): boolean => {
  const known = point.known ?? null
  if (isOpaque(value)) return false
  const rule = rules[point.assertion ?? ""]
  return (point.isFirst === true ? rule?.(known, value, point) : rule?.(value, known, point)) === true
}
