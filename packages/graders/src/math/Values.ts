/** Whether two formulas have the same value: exactly, to 80 digits, or at every point where they are tried. */
import { type Decision, no, open, verdict, yes } from "./Decision.ts"
import { agree, approximate, exact, isRounding } from "./Evaluate.ts"
import type { Expression } from "./Expression.ts"
import { some, variables } from "./Expression.ts"
import * as Rational from "./Rational.ts"

const isDecimal = (expression: Expression) => some(expression, (node) => node.type === "number" && node.isDecimal)

/** A decimal may stand for a fraction that it rounds to six places; never for one that it could have said exactly. */
const isRounded = (gold: Expression, answer: Expression): boolean => {
  if (isDecimal(gold) === isDecimal(answer)) return false
  const precise = exact(isDecimal(gold) ? answer : gold)
  if (precise !== undefined && Rational.terminatesWithin(precise, 6)) return false
  const [a, b] = [approximate(gold), approximate(answer)]
  return a !== undefined && b !== undefined && isRounding(a, b)
}

const byValue = (gold: Expression, answer: Expression): Decision => {
  const [a, b] = [exact(gold), exact(answer)]
  if (a !== undefined && b !== undefined) {
    if (Rational.equals(a, b)) return yes("rational")
    return isRounded(gold, answer) ? yes("numeric") : no("rational")
  }
  const [x, y] = [approximate(gold), approximate(answer)]
  if (x === undefined || y === undefined) return open
  return verdict(agree(x, y) || isRounded(gold, answer), "numeric")
}

/** Points to try, none of them special: fractions of both signs. */
const samples: ReadonlyArray<readonly [bigint, bigint]> = [
  [7n, 5n],
  [-11n, 7n],
  [13n, 17n],
  [-5n, 13n],
  [31n, 11n],
  [-29n, 19n],
  [3n, 23n],
  [43n, 9n]
]

export const bindingsAt = (names: ReadonlyArray<string>, round: number) =>
  new Map(
    names.map((name, index) => {
      const [top, bottom] = samples[(round + index * 3) % samples.length]!
      const shift = BigInt(index * 2 + 1)
      return [name, Rational.make(top * 10n + shift, bottom * 10n + shift)!] as const
    })
  )

const agreeAt = (a: Expression, b: Expression, bindings: ReadonlyMap<string, Rational.Rational>) => {
  const [p, q] = [exact(a, bindings), exact(b, bindings)]
  if (p !== undefined && q !== undefined) return Rational.equals(p, q)
  const [x, y] = [approximate(a, bindings), approximate(b, bindings)]
  return x === undefined || y === undefined ? undefined : agree(x, y)
}

/** Equal at points that nothing singles out: a false "yes" would need a formula made for these very points. */
export const byIdentity = (gold: Expression, answer: Expression): Decision => {
  const names = [...new Set([...variables(gold), ...variables(answer)])].sort()
  if (names.length === 0 || names.length > 8) return open
  let agreed = 0
  for (let round = 0; round < samples.length && agreed < 4; round++) {
    const isEqual = agreeAt(gold, answer, bindingsAt(names, round))
    if (isEqual === false) return no("identity")
    if (isEqual === true) agreed++
  }
  return agreed >= 3 ? yes("identity") : open
}

const containers = new Set(["tuple", "list", "set", "union", "difference", "matrix", "relation", "text", "based"])

export const isValue = (expression: Expression): boolean => !some(expression, ({ type }) => containers.has(type))

export const compareValues = (gold: Expression, answer: Expression): Decision => {
  if (!isValue(gold) || !isValue(answer)) return open
  const isClosed = variables(gold).length === 0 && variables(answer).length === 0
  return isClosed ? byValue(gold, answer) : byIdentity(gold, answer)
}
