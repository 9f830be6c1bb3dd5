/** Values with their units: `5 m`, `30°`, `10 %`. */
import { exact } from "./Evaluate.ts"
import { type Expression, variables } from "./Expression.ts"
import * as Rational from "./Rational.ts"
import { factor, isKnown, none, type Unit, unitOf } from "./Units.ts"

/** A value, and the unit behind it. */
export interface Measured {
  readonly value: Expression
  readonly unit: Unit
}

/** Takes an expression apart into its value and its unit; {@link none} where it has none. */
export const measured = (expression: Expression): Measured => {
  switch (expression.type) {
    case "quantity": {
      const inner = measured(expression.of)
      return { value: inner.value, unit: inner.unit.name === "" ? expression.unit : inner.unit }
    }
    case "degree":
      return { value: expression.of, unit: unitOf("degree") }
    case "percent":
      return { value: expression.of, unit: unitOf("percent") }
    case "negate": {
      const inner = measured(expression.of)
      return inner.unit.name === ""
        ? { value: expression, unit: none }
        : { ...inner, value: { type: "negate", of: inner.value } }
    }
    default:
      return { value: expression, unit: none }
  }
}

const lastName = (expression: Expression): string => {
  const last = expression.type === "multiply" ? expression.items.at(-1) : undefined
  return last?.type === "symbol" ? last.name : ""
}

/** `5 m` beside `5\text{ m}`: a letter behind a number may be the symbol of a unit. */
export const withLetterUnit = (one: Measured, other: Measured): Measured => {
  if (one.unit.name !== "" || other.unit.name === "") return one
  if (one.value.type === "divide" && one.value.right.type === "symbol" && isKnown(one.value.right.name)) {
    const top = withLetterUnit({ value: one.value.left, unit: none }, other)
    const read = /^[a-zA-Z]$/.test(one.value.right.name) && top.unit.name !== ""
    return read ? { value: top.value, unit: unitOf(`${lastName(one.value.left)}/${one.value.right.name}`) } : one
  }
  if (one.value.type !== "multiply") return one
  const last = one.value.items.at(-1)
  const items = one.value.items.slice(0, -1)
  if (last?.type !== "symbol" || !isKnown(last.name) || items.some((item) => variables(item).length > 0)) return one
  return { value: items.length === 1 ? items[0]! : { type: "multiply", items }, unit: unitOf(last.name) }
}

const hundred: Expression = { type: "number", value: Rational.integer(100), isDecimal: false }

/** A hundredth of a value. */
export const hundredth = (left: Expression): Expression => ({ type: "divide", left, right: hundred })

/** Below 1, a percentage is no other way to write the number: 0.5 % is not 0.5. */
export const isFraction = (expression: Expression): boolean => {
  const value = exact(expression)
  const one = Rational.integer(1)
  return value !== undefined && Rational.compare(value, one) < 0 && Rational.compare(value, Rational.negate(one)) > 0
}

/** A value in one unit as the value in another of the same kind. */
export const inUnit = (of: Expression, from: Unit, to: Unit): Expression => {
  const value = factor(from, to)
  if (value.numerator === value.denominator) return of
  return { type: "multiply", items: [of, { type: "number", value, isDecimal: false }] }
}

/** Whether the unit is per cent. */
export const isPercent = ({ unit }: Measured) => unit.name === "percent"

/** Degrees beside radians are compared as angles. */
export const asAngle = ({ unit, value }: Measured): Expression =>
  unit.name === "degree" ? { type: "degree", of: inUnit(value, unit, unitOf("degree")) } : value
