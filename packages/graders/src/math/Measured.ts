/** Values with units: `5 m`, `30°`, `10 %`. */
import { exact } from "./Evaluate.ts"
import { type Expression, variables } from "./Expression.ts"
import * as Rational from "./Rational.ts"
import { factor, isKnown, none, type Unit, unitOf } from "./Units.ts"

/** A value with its unit. */
export interface Measured {
  readonly value: Expression
  readonly unit: Unit
}

/** Splits an expression into a value and a unit. The unit is {@link none} if there is no unit. */
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

/** Reads a letter after a number as a unit symbol if the other side has that unit: `5 m` for `5\text{ m}`. */
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

/** Divides a value by 100. */
export const hundredth = (left: Expression): Expression => ({ type: "divide", left, right: hundred })

/**
 * Whether a value is strictly between -1 and 1. Such a percentage is not another way to write the number: 0.5 % is not
 * 0.5.
 */
export const isFraction = (expression: Expression): boolean => {
  const value = exact(expression)
  const one = Rational.integer(1)
  return value !== undefined && Rational.compare(value, one) < 0 && Rational.compare(value, Rational.negate(one)) > 0
}

/** Converts a value to another unit of the same dimension. */
export const inUnit = (of: Expression, from: Unit, to: Unit): Expression => {
  const value = factor(from, to)
  if (value.numerator === value.denominator) return of
  return { type: "multiply", items: [of, { type: "number", value, isDecimal: false }] }
}

/** Whether the unit is percent. */
export const isPercent = ({ unit }: Measured) => unit.name === "percent"

/**
 * Marks a value as an angle if its unit is degrees, so that it can be compared with one in radians. Other values are
 * returned unchanged.
 */
export const asAngle = ({ unit, value }: Measured): Expression =>
  unit.name === "degree" ? { type: "degree", of: inUnit(value, unit, unitOf("degree")) } : value
