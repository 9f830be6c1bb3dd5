/**
 * Parses an answer in normalized notation. Anything ambiguous is rejected, because a wrong guess is worse than no
 * result.
 *
 * Precedence from lowest to highest: commas and "and"; relations; unions; sums; products; signs; powers; atoms.
 */
import { remembered } from "../internal/remembered.ts"
import { AtomReader } from "./Atoms.ts"
import { Unreadable } from "./Cursor.ts"
import { exact } from "./Evaluate.ts"
import type { Comparison, Expression } from "./Expression.ts"
import { tokens as tokensOf } from "./Lexer.ts"
import * as Rational from "./Rational.ts"
import { factor, isUnit, unitOf } from "./Units.ts"
import { scales, startsAtom } from "./Vocabulary.ts"

type Quantity = Extract<Expression, { readonly type: "quantity" }>

class Reader extends AtomReader {
  all(): Expression {
    const result = this.sequence()
    this.end()
    return result
  }

  // Collections and relations

  /** Parses values joined by commas, "and" or "or". */
  protected sequence(): Expression {
    const items = [this.modular()]
    let join: "," | "and" | "or" = ","
    for (;;) {
      const hasComma = this.take("symbol", ",") || this.take("symbol", ";")
      const conjunction = this.conjunction()
      if (conjunction !== undefined) this.position++
      if (!hasComma && conjunction === undefined) break
      if (join !== "," && conjunction !== undefined && conjunction !== join) throw new Unreadable()
      join = conjunction ?? join
      items.push(this.modular())
    }
    return items.length === 1 ? items[0]! : { type: "list", join, items }
  }

  private modular(): Expression {
    const of = this.relation()
    if (!this.take("command", "pmod") && !this.take("command", "mod")) return of
    return { type: "modular", of, modulus: this.argument() }
  }

  protected relation(): Expression {
    const operands = [this.ratio()]
    const found: Array<Comparison> = []
    for (let next = this.comparison(); next !== undefined; next = this.comparison()) {
      this.position++
      found.push(next)
      operands.push(this.ratio())
    }
    return found.length === 0 ? operands[0]! : { type: "relation", operands, comparisons: found }
  }

  private ratio(): Expression {
    const items = [this.union()]
    while (this.take("symbol", ":")) items.push(this.union())
    return items.length === 1 ? items[0]! : { type: "ratio", items }
  }

  private union(): Expression {
    const items = [this.difference()]
    while (this.take("command", "cup") || this.take("command", "union")) items.push(this.difference())
    return items.length === 1 ? items[0]! : { type: "union", items }
  }

  private difference(): Expression {
    const left = this.sum()
    const isDifference =
      this.take("command", "setminus") || this.take("command", "backslash") || this.take("command", "smallsetminus")
    return isDifference ? { type: "difference", left, right: this.sum() } : left
  }

  // Arithmetic

  protected sum(): Expression {
    return this.nested(() => {
      const items = [this.signed()]
      for (;;) {
        if (this.take("symbol", "+")) items.push(this.product())
        else if (this.take("symbol", "-")) items.push({ type: "negate", of: this.product() })
        else if (this.take("command", "pm")) items.push({ type: "plus-minus", isFlipped: false, of: this.product() })
        else if (this.take("command", "mp")) items.push({ type: "plus-minus", isFlipped: true, of: this.product() })
        else break
      }
      const sum: Expression = items.length === 1 ? items[0]! : { type: "add", items }
      return this.take("command", "choose") ? { type: "binomial", left: sum, right: this.sum() } : sum
    })
  }

  private signed(): Expression {
    if (this.take("symbol", "-")) return { type: "negate", of: this.nested(() => this.signedProduct()) }
    if (this.take("symbol", "+")) return this.signedProduct()
    if (this.take("command", "pm")) return { type: "plus-minus", isFlipped: false, of: this.product() }
    return this.product()
  }

  private signedProduct(): Expression {
    return this.is("symbol", "-") || this.is("symbol", "+") ? this.nested(() => this.signed()) : this.product()
  }

  protected product(): Expression {
    let result = this.factors()
    for (;;) {
      if (this.take("symbol", "*"))
        result = { type: "multiply", items: [result, this.is("symbol", "-") ? this.signedFactors() : this.factors()] }
      else if (this.take("symbol", "/")) result = { type: "divide", left: result, right: this.signedFactors() }
      else if (this.take("command", "bmod")) result = remainder(result, this.signedFactors())
      else return this.withUnit(result)
    }
  }

  private signedFactors(): Expression {
    if (this.take("symbol", "-")) return { type: "negate", of: this.power() }
    return this.power()
  }

  /** Parses implicit products such as `2x` and `3\sqrt{5}`. An integer followed by a fraction is a mixed number. */
  private factors(): Expression {
    const first = this.power()
    const mixed = this.mixedNumber(first)
    const items: Array<Expression> = [mixed ?? first]
    while (this.startsFactor() || (isImaginary(items.at(-1)!) && this.peek()?.type === "number")) {
      items.push(this.power())
    }
    return items.length === 1 ? items[0]! : { type: "multiply", items }
  }

  /** Parses a mixed number. Whatever follows the fraction applies to the whole number as well. */
  private mixedNumber(first: Expression): Expression | undefined {
    if (first.type !== "number" || first.isDecimal || first.value.denominator !== 1n) return undefined
    const fraction = this.plainFraction()
    if (fraction === undefined) return undefined
    if (this.is("symbol", "^") || this.is("symbol", "!")) throw new Unreadable()
    return this.postfixed({ type: "add", items: [first, fraction] })
  }

  /** Parses the fraction of a mixed number: `\frac{1}{2}`, or `1/2` after a space. */
  private plainFraction(): Expression | undefined {
    if (this.is("command", "frac")) {
      const start = this.position
      const fraction = this.atom()
      if (isPlainFraction(fraction)) return fraction
      this.position = start
      return undefined
    }
    const isPlain =
      this.peek()?.type === "number" &&
      this.peek()?.isSpaced === true &&
      this.is("symbol", "/", 1) &&
      this.peek(2)?.type === "number"
    if (!isPlain) return undefined
    const left = this.atom()
    this.position++
    return { type: "divide", left, right: this.atom() }
  }

  private startsFactor(): boolean {
    const token = this.peek()
    if (token === undefined) return false
    switch (token.type) {
      case "letter":
        return true
      case "number":
      case "word":
      case "text":
        return false
      case "command":
        return startsAtom(token.text)
      case "symbol":
        return token.text === "(" || token.text === "{" || (token.text === "|" && this.bars === 0)
    }
  }

  /** Parses a unit in words after a value. */
  private withUnit(value: Expression): Expression {
    const scale = this.peek()?.type === "word" || this.peek()?.type === "text" ? scales[this.peek()!.text] : undefined
    if (scale !== undefined && value.type === "number") {
      this.position++
      return this.withUnit({ ...value, value: Rational.multiply(value.value, Rational.integer(scale))! })
    }
    const unit = this.unit().trim()
    if (unit === "") return value
    const squared = /^(squared|cubed)$/.exec(unit)?.[1]
    if (squared !== undefined) return { type: "power", left: value, right: number(squared === "squared" ? 2 : 3) }
    if (value.type === "text" || !isUnit(unit)) throw new Unreadable()
    if (/^(?:per ?cent|percentage|pct)$/i.test(unit)) return percent(value)
    const temperature = value.type === "degree" ? /^(?:C|F|Celsius|Fahrenheit)$/i.exec(unit) : null
    if (value.type === "degree" && temperature !== null) return celsius(value.of, unit)
    return this.withSmallerUnit({ type: "quantity", of: value, unit: unitOf(unit) })
  }

  /** Converts `2\text{ hours }30\text{ minutes}` to the first unit. */
  private withSmallerUnit(quantity: Quantity): Expression {
    const start = this.position
    if (this.conjunction() === "and") this.position++
    const next = this.peek()?.type === "number" ? this.product() : undefined
    const isSmaller =
      next?.type === "quantity" &&
      [quantity, next].every(
        ({ of, unit }) => of.type === "number" && /^(?:second|metre|month|dollar|euro)$/.test(unit.name)
      ) &&
      next.unit.name === quantity.unit.name &&
      Rational.compare(next.unit.scale, quantity.unit.scale) < 0
    if (!isSmaller) {
      this.position = start
      return quantity
    }
    const value = factor(next.unit, quantity.unit)
    const rest: Expression = { type: "multiply", items: [next.of, { type: "number", value, isDecimal: false }] }
    return { ...quantity, of: { type: "add", items: [quantity.of, rest] } }
  }

  /** Parses unit words with their exponents and divisors. */
  private unit(): string {
    let text = ""
    for (let token = this.peek(); token !== undefined; token = this.peek()) {
      const isWord = token.type === "word" || (token.type === "text" && this.conjunction() === undefined)
      const isSign = token.type === "symbol" && /^[€£¥₹¢]$/.test(token.text)
      if (isWord || isSign || (/[/*]$/.test(text) && token.type === "letter")) {
        text += ` ${token.text}`
        this.position++
      } else if (text !== "" && this.is("symbol", "^")) text += this.unitPower()
      else if (text !== "" && !text.endsWith("/") && this.startsDivisor()) {
        text += " /"
        this.position++
      } else if (text !== "" && this.is("symbol", "*") && /^(?:word|text|letter)$/.test(this.peek(1)?.type ?? "")) {
        text += " *"
        this.position++
      } else if (text === "" && this.take("command", "dollar")) text += " dollar"
      else break
    }
    return text
  }

  private startsDivisor(): boolean {
    return this.is("symbol", "/") && /^(?:word|text|letter)$/.test(this.peek(1)?.type ?? "")
  }

  private unitPower(): string {
    this.position++
    const power = this.is("symbol", "{") ? this.braced() : `${this.take("symbol", "-") ? "-" : ""}${this.covered()}`
    if (!/^-?\d+$/.test(power)) throw new Unreadable()
    return `^{${power}}`
  }

  protected power(): Expression {
    return this.nested(() => {
      return this.postfixed(this.atom())
    })
  }

  /** Parses postfix symbols after a value. */
  private postfixed(of: Expression): Expression {
    let base = of
    for (;;) {
      if (this.take("symbol", "!"))
        base = { type: this.take("symbol", "!") ? "double-factorial" : "factorial", of: base }
      else if (this.take("command", "degree")) base = this.degrees(base)
      else if (this.take("symbol", "%")) base = percent(base)
      else if (this.take("symbol", "‰")) base = { type: "quantity", of: base, unit: unitOf("permille") }
      else if (this.take("symbol", "^")) base = raised(base, this.exponent())
      else if (this.is("symbol", "'")) base = this.primed(base)
      else return base
    }
  }

  /** Parses degrees: `30^\circ`, `25^\circ C` and `30^\circ 15'`. */
  private degrees(of: Expression): Expression {
    const letter = this.peek()
    if (letter?.type === "letter" && /^[CF]$/.test(letter.text) && of.type !== "symbol") {
      this.position++
      return celsius(of, letter.text)
    }
    const minutes = this.peek()
    if (minutes?.type !== "number" || !this.is("symbol", "'", 1) || this.is("symbol", "'", 2))
      return { type: "degree", of }
    this.position += 2
    const sixty: Expression = { type: "divide", left: number(minutes.text), right: number(60) }
    return { type: "degree", of: { type: "add", items: [of, sixty] } }
  }

  /** Parses prime marks: minutes or feet, and seconds or inches. The symbol does not distinguish them. */
  private primed(of: Expression): Expression {
    if (of.type !== "number" && !isPlainFraction(of) && !isMixed(of)) throw new Unreadable()
    let name = "prime"
    this.position++
    while (this.take("symbol", "'")) name += " prime"
    return { type: "quantity", of, unit: { name, scale: Rational.integer(1) } }
  }

  protected exponent(): Expression {
    if (this.is("symbol", "{")) return this.group()
    if (this.take("symbol", "-")) return { type: "negate", of: this.power() }
    return this.power()
  }
}

const number = (text: string | number): Expression => {
  const value = Rational.fromDecimal(String(text))
  if (value === undefined) throw new Unreadable()
  return { type: "number", value, isDecimal: false }
}

const celsius = (of: Expression, name: string): Expression => ({
  type: "quantity",
  of,
  unit: unitOf(/^c/i.test(name) ? "celsius" : "fahrenheit")
})

/** Evaluates `17 \bmod 5` to 2. In `2 \bmod 5`, there is nothing to reduce and 5 is the modulus. */
const remainder = (left: Expression, right: Expression): Expression => {
  const [value, modulus] = [exact(left), exact(right)]
  const isReduced = value !== undefined && modulus !== undefined && Rational.compare(value, modulus) < 0
  return isReduced && value.numerator >= 0n
    ? { type: "modular", of: left, modulus: right }
    : { type: "remainder", left, right }
}

const percent = (of: Expression): Expression => {
  if (of.type === "percent") throw new Unreadable()
  return { type: "percent", of }
}

/** Whether an expression is the imaginary unit. `i5` is a product, whereas `x5` would be a name. */
const isImaginary = (expression: Expression): boolean => expression.type === "symbol" && expression.name === "i"

const isPlainFraction = (expression: Expression): boolean =>
  expression.type === "divide" && expression.left.type === "number" && expression.right.type === "number"

const isMixed = (expression: Expression): boolean =>
  expression.type === "add" &&
  expression.items.length === 2 &&
  expression.items[0]!.type === "number" &&
  isPlainFraction(expression.items[1]!)

/** Creates a power, or a transpose if the exponent is T. */
const raised = (left: Expression, right: Expression): Expression => {
  if (right.type !== "symbol" || right.name !== "T") return { type: "power", left, right }
  if (left.type === "tuple") return { type: "matrix", rows: left.items.map((item) => [item]) }
  if (left.type !== "matrix" || left.rows.some((row) => row.length !== left.rows[0]!.length))
    return { type: "power", left, right }
  return { type: "matrix", rows: (left.rows[0] ?? []).map((_, column) => left.rows.map((row) => row[column]!)) }
}

/** Converts nested square brackets, as in program output, to a matrix. */
const asMatrix = (expression: Expression): Expression => {
  if (expression.type !== "tuple" || expression.open !== "[" || expression.close !== "]") return expression
  const rows = expression.items.map((row) =>
    row.type === "tuple" && row.open === "[" && row.close === "]" ? row.items : undefined
  )
  return rows.every((row) => row !== undefined) ? { type: "matrix", rows } : expression
}

const parsed = (normalised: string, splitsThousands: boolean): Expression | undefined => {
  const input = tokensOf(normalised, splitsThousands)
  if (input === undefined || input.length === 0) return undefined
  try {
    return asMatrix(new Reader(input).all())
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

const parsedWhole = remembered((normalised) => parsed(normalised, false), 64)

/** Parses normalized notation. Returns `undefined` if it is not a formula. */
export const parse = (normalised: string, splitsThousands = false): Expression | undefined =>
  splitsThousands ? parsed(normalised, true) : parsedWhole(normalised)
