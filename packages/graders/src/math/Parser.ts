/**
 * Reads an answer in normalised notation, or gives up on it: no guess is better than a wrong one.
 *
 * From loose to tight: commas and "and"; relations; unions; sums; products; signs; powers; atoms.
 */
import { Cursor, Unreadable } from "./Cursor.ts"
import type { Comparison, Expression, FunctionName } from "./Expression.ts"
import type { Token } from "./Lexer.ts"
import { tokens as tokensOf } from "./Lexer.ts"
import * as Rational from "./Rational.ts"
import { isUnit, unitName } from "./Units.ts"
import { baseNames, functions, greek, startsAtom, symbolCommands } from "./Vocabulary.ts"

const symbol = (name: string): Expression => ({ type: "symbol", name })

const whole = (value: number): Expression => ({ type: "number", value: Rational.integer(value), isDecimal: false })

class Reader extends Cursor {
  /** Inside bars, a bar closes. */
  private bars = 0

  all(): Expression {
    const result = this.sequence()
    this.end()
    return result
  }

  // Collections and relations

  /** Values with commas or "and" between them. */
  private sequence(): Expression {
    const items = [this.relation()]
    let isUnordered = false
    for (;;) {
      const hasComma = this.take("symbol", ",") || this.take("symbol", ";")
      const hasConjunction = this.isConjunction()
      if (hasConjunction) this.position++
      if (!hasComma && !hasConjunction) break
      isUnordered ||= hasConjunction
      items.push(this.relation())
    }
    return items.length === 1 ? items[0]! : { type: "list", isUnordered, items }
  }

  private relation(): Expression {
    const operands = [this.union()]
    const found: Array<Comparison> = []
    for (let next = this.comparison(); next !== undefined; next = this.comparison()) {
      this.position++
      found.push(next)
      operands.push(this.union())
    }
    return found.length === 0 ? operands[0]! : { type: "relation", operands, comparisons: found }
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

  private sum(): Expression {
    return this.nested(() => {
      const items = [this.signed()]
      for (;;) {
        if (this.take("symbol", "+")) items.push(this.product())
        else if (this.take("symbol", "-")) items.push({ type: "negate", of: this.product() })
        else if (this.take("command", "pm")) items.push({ type: "plus-minus", isFlipped: false, of: this.product() })
        else if (this.take("command", "mp")) items.push({ type: "plus-minus", isFlipped: true, of: this.product() })
        else break
      }
      return items.length === 1 ? items[0]! : { type: "add", items }
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

  private product(): Expression {
    let result = this.factors()
    for (;;) {
      if (this.take("symbol", "*")) result = { type: "multiply", items: [result, this.signedFactors()] }
      else if (this.take("symbol", "/")) result = { type: "divide", left: result, right: this.signedFactors() }
      else return this.withUnit(result)
    }
  }

  private signedFactors(): Expression {
    if (this.take("symbol", "-")) return { type: "negate", of: this.power() }
    return this.power()
  }

  /** Factors side by side, as in `2x` and `3\sqrt{5}`; a whole number before a fraction is a mixed number. */
  private factors(): Expression {
    const first = this.power()
    const mixed = this.mixedNumber(first)
    const items: Array<Expression> = [mixed ?? first]
    while (this.startsFactor()) items.push(this.power())
    return items.length === 1 ? items[0]! : { type: "multiply", items }
  }

  private mixedNumber(first: Expression): Expression | undefined {
    if (first.type !== "number" || first.isDecimal || first.value.denominator !== 1n) return undefined
    if (this.is("command", "frac")) {
      const start = this.position
      const fraction = this.power()
      if (isPlainFraction(fraction)) return { type: "add", items: [first, fraction] }
      this.position = start
      return undefined
    }
    const isPlain =
      this.peek()?.type === "number" &&
      this.peek()?.isSpaced === true &&
      this.is("symbol", "/", 1) &&
      this.peek(2)?.type === "number"
    if (!isPlain) return undefined
    const left = this.power()
    this.position++
    return { type: "add", items: [first, { type: "divide", left, right: this.power() }] }
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

  /** A unit in words after a value. */
  private withUnit(value: Expression): Expression {
    const words: Array<string> = []
    while (this.peek()?.type === "word" || (this.peek()?.type === "text" && !this.isConjunction())) {
      words.push(this.peek()!.text)
      this.position++
      if (this.is("symbol", "^") && this.peek(1)?.type === "number") this.position += 2
      else if (this.is("symbol", "^") && this.is("symbol", "{", 1) && this.is("symbol", "}", 3)) this.position += 4
    }
    const unit = words.join(" ").trim()
    if (unit === "") return value
    if (value.type === "text" || !isUnit(unit)) throw new Unreadable()
    if (/^percent$/i.test(unit)) return percent(value)
    return { type: "quantity", of: value, unit: unitName(unit) }
  }

  private power(): Expression {
    return this.nested(() => {
      let base = this.atom()
      for (;;) {
        if (this.take("symbol", "!")) base = { type: "factorial", of: base }
        else if (this.take("command", "degree")) base = { type: "degree", of: base }
        else if (this.take("symbol", "%")) base = percent(base)
        else if (this.take("symbol", "^")) base = { type: "power", left: base, right: this.exponent() }
        else return base
      }
    })
  }

  private exponent(): Expression {
    if (this.is("symbol", "{")) return this.group()
    if (this.take("symbol", "-")) return { type: "negate", of: this.power() }
    return this.power()
  }

  // Atoms

  private atom(): Expression {
    const token = this.peek()
    if (token === undefined) throw new Unreadable()
    this.position++
    switch (token.type) {
      case "number":
        return this.number(token.text)
      case "letter":
        return this.named(token.text)
      case "word":
      case "text":
        return { type: "text", text: words(token.text) }
      case "command":
        return this.command(token.text)
      case "symbol":
        return this.bracketed(token.text)
    }
  }

  private number(text: string): Expression {
    const value = Rational.fromDecimal(text)
    if (value === undefined) throw new Unreadable()
    const base = this.is("symbol", "_") ? this.subscript() : undefined
    if (base === undefined) return { type: "number", value, isDecimal: /[.eE]/.test(text) }
    const named = baseNames.indexOf(base.toLowerCase())
    return { type: "based", digits: text, base: named === -1 ? base : String(named) }
  }

  private named(name: string): Expression {
    const subscript = this.is("symbol", "_") ? `_${this.subscript()}` : ""
    let primes = ""
    while (this.take("symbol", "'")) primes += "'"
    return symbol(`${name}${subscript}${primes}`)
  }

  private command(name: string): Expression {
    const constant = symbolCommands[name]
    if (constant !== undefined) return symbol(constant)
    if (greek.has(name)) return this.named(name)
    switch (name) {
      case "frac":
        return { type: "divide", left: this.argument(), right: this.argument() }
      case "binom":
        return { type: "binomial", left: this.argument(), right: this.argument() }
      case "sqrt":
        return this.root()
      case "log":
        return this.logarithm()
      case "dollar":
        return this.currency()
      case "{":
        return this.set()
      case "begin":
        return this.matrix()
      case "mathbb":
        return this.reals()
      case "lfloor":
        return { type: "call", name: "floor", of: this.until("rfloor") }
      case "lceil":
        return { type: "call", name: "ceil", of: this.until("rceil") }
      default:
        return this.call(functions[name])
    }
  }

  private currency(): Expression {
    return { type: "quantity", of: this.product(), unit: "dollar" }
  }

  private until(command: string): Expression {
    const inner = this.sum()
    this.expect("command", command)
    return inner
  }

  private reals(): Expression {
    this.take("symbol", "{")
    const set = this.peek()?.text
    this.position++
    this.take("symbol", "}")
    if (set !== "R") throw new Unreadable()
    return symbol("reals")
  }

  /** One digit or letter, or a group in braces: `\frac12` is `\frac{1}{2}`. */
  private argument(): Expression {
    const token = this.peek()
    if (token === undefined) throw new Unreadable()
    if (token.type === "symbol" && (token.text === "{" || token.text === "(")) return this.group()
    if (token.type === "number") return this.digit(token)
    this.position++
    if (token.type === "letter") return symbol(token.text)
    if (token.type === "command") return this.command(token.text)
    throw new Unreadable()
  }

  /** Takes the first digit of a number, and leaves the rest of it. */
  private digit(token: Token): Expression {
    const rest = token.text.slice(1)
    if (token.text.startsWith(".")) throw new Unreadable()
    if (rest === "") this.position++
    else {
      if (!/^\d+$/.test(rest)) throw new Unreadable()
      const remaining: Token = { type: "number", text: rest, isSpaced: false }
      this.input[this.position] = remaining
    }
    return whole(Number(token.text[0]))
  }

  private group(): Expression {
    const close = this.is("symbol", "{") ? "}" : ")"
    this.position++
    const { bars } = this
    this.bars = 0
    const inner = this.nested(() => this.sequence())
    this.bars = bars
    this.expect("symbol", close)
    return inner
  }

  private root(): Expression {
    if (!this.take("symbol", "[")) return { type: "call", name: "sqrt", of: this.argument() }
    const degree = this.sum()
    this.expect("symbol", "]")
    return { type: "root", degree, of: this.argument() }
  }

  private logarithm(): Expression {
    if (!this.take("symbol", "_")) return { type: "log", base: whole(10), of: this.applied() }
    const base = this.argument()
    return { type: "log", base, of: this.applied() }
  }

  private call(name: FunctionName | undefined): Expression {
    if (name === undefined) throw new Unreadable()
    const exponent = this.take("symbol", "^") ? this.exponent() : undefined
    const call: Expression = { type: "call", name, of: this.applied() }
    return exponent === undefined ? call : { type: "power", left: call, right: exponent }
  }

  /** What a function written without brackets is of: `\sin 2x`, `\cos^2 \theta`, `\ln(x + 1)`. */
  private applied(): Expression {
    if (this.is("symbol", "(") || this.is("symbol", "{")) {
      const inner = this.group()
      if (inner.type === "list") throw new Unreadable()
      return this.take("symbol", "^") ? { type: "power", left: inner, right: this.exponent() } : inner
    }
    const items = [this.power()]
    while (this.peek()?.type === "letter" || greek.has(this.commandAhead()) || this.commandAhead() === "pi") {
      items.push(this.power())
    }
    return items.length === 1 ? items[0]! : { type: "multiply", items }
  }

  // Brackets

  private bracketed(open: string): Expression {
    switch (open) {
      case "{":
        this.position--
        return this.group()
      case "|":
        return this.absolute()
      case "(":
      case "[":
        return this.tuple(open)
      case "€":
      case "£":
        return { type: "quantity", of: this.product(), unit: unitName(open) }
      default:
        throw new Unreadable()
    }
  }

  private absolute(): Expression {
    this.bars++
    const inner = this.sum()
    this.bars--
    this.expect("symbol", "|")
    return { type: "call", name: "abs", of: inner }
  }

  private tuple(open: string): Expression {
    const { bars } = this
    this.bars = 0
    const inner = this.nested(() => this.sequence())
    this.bars = bars
    const close = this.take("symbol", ")") ? ")" : this.take("symbol", "]") ? "]" : undefined
    if (close === undefined) throw new Unreadable()
    if (inner.type === "list") return { type: "tuple", open, close, items: inner.items }
    if (open === "(" && close === ")") return inner
    return { type: "tuple", open, close, items: [inner] }
  }

  private set(): Expression {
    if (this.take("command", "}")) return symbol("empty")
    const inner = this.nested(() => this.sequence())
    this.expect("command", "}")
    return { type: "set", items: inner.type === "list" ? inner.items : [inner] }
  }

  private matrix(): Expression {
    const name = this.environment()
    if (name === "array" && this.is("symbol", "{")) this.braced()
    const rows: Array<Array<Expression>> = [[]]
    while (!this.take("command", "end")) {
      if (this.take("command", "row")) rows.push([])
      else if (!this.take("symbol", "&")) rows.at(-1)!.push(this.relation())
    }
    if (this.environment() !== name) throw new Unreadable()
    return { type: "matrix", rows: rows.filter((row) => row.length > 0) }
  }
}

const percent = (of: Expression): Expression => {
  if (of.type === "percent") throw new Unreadable()
  return { type: "percent", of }
}

/** Words, without regard to capitals and an article before them. */
const words = (text: string): string =>
  text
    .toLowerCase()
    .replace(/\s+/g, " ")
    .trim()
    .replace(/^(?:an?|the) (?=[a-z]{3})/, "")

const isPlainFraction = (expression: Expression): boolean =>
  expression.type === "divide" && expression.left.type === "number" && expression.right.type === "number"

/** Nested square brackets, as programs write matrices. */
const asMatrix = (expression: Expression): Expression => {
  if (expression.type !== "tuple" || expression.open !== "[" || expression.close !== "]") return expression
  const rows = expression.items.map((row) =>
    row.type === "tuple" && row.open === "[" && row.close === "]" ? row.items : undefined
  )
  return rows.every((row) => row !== undefined) ? { type: "matrix", rows } : expression
}

/** Reads normalised notation; `undefined` when it is not a formula. */
export const parse = (normalised: string, splitsThousands = false): Expression | undefined => {
  const input = tokensOf(normalised, splitsThousands)
  if (input === undefined || input.length === 0) return undefined
  try {
    return asMatrix(new Reader(input).all())
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}
