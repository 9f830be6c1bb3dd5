/** Parses atoms: numbers, names, functions and bracketed expressions. */
import { Cursor, Unreadable } from "./Cursor.ts"
import type { Expression, FunctionName } from "./Expression.ts"
import { print, some, variables } from "./Expression.ts"
import type { Token } from "./Lexer.ts"
import * as Rational from "./Rational.ts"
import { unitOf } from "./Units.ts"
import { baseNames, functions, greek, symbolCommands } from "./Vocabulary.ts"

export const symbol = (name: string): Expression => ({ type: "symbol", name })

const whole = (value: number): Expression => ({ type: "number", value: Rational.integer(value), isDecimal: false })

/** Whether a token is a name for corner points that the lexer read as a word. */
const isCorners = (token: Token | undefined): boolean => token?.type === "word" && /^[A-Z]{2,4}$/.test(token.text)

/** Computes the determinant of a small square matrix by expanding its first row. */
const determinant = (rows: ReadonlyArray<ReadonlyArray<Expression>>): Expression => {
  if (rows.length === 0 || rows.length > 4 || rows.some((row) => row.length !== rows.length)) throw new Unreadable()
  if (rows.length === 1) return rows[0]![0]!
  const items = rows[0]!.map((cell, column): Expression => {
    const minor = rows.slice(1).map((row) => row.filter((_, at) => at !== column))
    const term: Expression = { type: "multiply", items: [cell, determinant(minor)] }
    return column % 2 === 0 ? term : { type: "negate", of: term }
  })
  return { type: "add", items }
}

/** Normalizes words, ignoring case and a leading article. */
const words = (text: string): string =>
  text
    .toLowerCase()
    .replace(/\s+/g, " ")
    .trim()
    .replace(/^(?:an?|the) (?=[a-z]{3})/, "")

/** Returns a value with its condition. */
const piece = ([value, condition, ...rest]: ReadonlyArray<Expression>): readonly [Expression, Expression] => {
  if (value === undefined || condition === undefined || rest.length > 0) throw new Unreadable()
  return [value, condition]
}

/** A parser for atoms. Subclasses parse the contents of brackets, which may use the full notation. */
export abstract class AtomReader extends Cursor {
  /** Nesting depth of absolute value bars. Within bars, a bar is a closing one. */
  protected bars = 0

  protected abstract sequence(): Expression
  protected abstract relation(): Expression
  protected abstract sum(): Expression
  protected abstract product(): Expression
  protected abstract power(): Expression
  protected abstract exponent(): Expression

  protected atom(): Expression {
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

  protected number(text: string): Expression {
    const value = Rational.fromDecimal(text)
    if (value === undefined) throw new Unreadable()
    const base = this.is("symbol", "_") ? this.subscript() : undefined
    if (base === undefined) return { type: "number", value, isDecimal: /[.eE]/.test(text) }
    const named = baseNames.indexOf(base.toLowerCase())
    return { type: "based", digits: text, base: named === -1 ? base : String(named) }
  }

  protected named(name: string): Expression {
    const subscript = this.is("symbol", "_") ? `_${this.subscript()}` : ""
    let primes = ""
    while (this.take("symbol", "'")) primes += "'"
    const whole = `${name}${subscript}${primes}`
    return (
      (/^(?:[fghFGHpPqQSTuVE]|phi|sigma|tau|zeta|Gamma|psi|Phi|Psi|mu)$/.test(name)
        ? this.functionValue(whole, name)
        : undefined) ?? symbol(whole)
    )
  }

  /**
   * Parses `f(2)` and `f^{-1}(x)`. The value of a function is treated as a name, not a product. `P(1 + r)` may be a
   * product.
   */
  private functionValue(whole: string, name: string): Expression | undefined {
    const start = this.position
    const exponent = this.take("symbol", "^") ? print(this.exponent()) : ""
    if (this.is("symbol", "(")) {
      const of = this.group()
      const isSurely = /^(?:[fgFG]|phi|zeta|Gamma)$/.test(name)
      if (of.type === "number" || of.type === "symbol" || (isSurely && !(of.type === "list" && /^[A-Z]$/.test(name)))) {
        return symbol(`${whole}${exponent === "" ? "" : `^${exponent}`}(${print(of)})`)
      }
    }
    this.position = start
    return undefined
  }

  protected command(name: string): Expression {
    const constant = symbolCommands[name]
    if (constant !== undefined) return symbol(constant)
    if (greek.has(name)) return this.named(name)
    switch (name) {
      case "frac":
        return { type: "divide", left: this.argument(), right: this.argument() }
      case "binom":
        return { type: "binomial", left: this.argument(), right: this.argument() }
      case "perm":
        return { type: "permutations", left: this.argument(), right: this.argument() }
      case "repeating":
        return this.repeating()
      case "overline":
        return this.overlined()
      case "arrow":
        return symbol(`arrow(${this.covered()})`)
      case "angle":
      case "triangle":
        return this.corners(name)
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
        return this.numbers()
      case "lfloor":
        return { type: "call", name: "floor", of: this.until("rfloor") }
      case "lceil":
        return { type: "call", name: "ceil", of: this.until("rceil") }
      default:
        return this.call(functions[name])
    }
  }

  protected currency(): Expression {
    return { type: "quantity", of: this.product(), unit: unitOf("dollar") }
  }

  /** Parses a repeating decimal such as `0.1\overline{6}`, as normalized by `Notation`. */
  protected repeating(): Expression {
    const value = Rational.fromRepeating(this.braced(), this.braced())
    if (value === undefined) throw new Unreadable()
    return { type: "number", value, isDecimal: false, isRepeating: true }
  }

  /** Returns the text under an accent. */
  protected covered(): string {
    if (this.is("symbol", "{")) return this.braced()
    const token = this.peek()
    if (token === undefined) throw new Unreadable()
    this.position++
    return token.text
  }

  /** Parses an overline: the conjugate of a number, otherwise a name for a segment, digits, a conjugate or a mean. */
  protected overlined(): Expression {
    const start = this.position
    const inner = this.is("symbol", "{") ? this.group() : symbol("x")
    if (variables(inner).length === 0 && some(inner, (node) => node.type === "symbol" && node.name === "i")) {
      return { type: "call", name: "conjugate", of: inner }
    }
    this.position = start
    const name = this.covered()
    return symbol(`overline(${/^[A-Z]{2}$/.test(name) ? [...name].sort().join("") : name})`)
  }

  /** Parses corner points. `\angle ABC` equals `\angle CBA`, and a triangle may start at any corner. */
  protected corners(kind: "angle" | "triangle"): Expression {
    let name = ""
    for (let token = this.peek(); token?.type === "letter" || isCorners(token); token = this.peek()) {
      name += token!.text
      this.position++
      if (this.is("symbol", "_")) name += `_${this.subscript()}`
    }
    if (name === "" && this.peek()?.type === "number") {
      name = this.peek()!.text
      this.position++
    }
    if (name === "") throw new Unreadable()
    const letters = [...name]
    if (kind === "triangle") return symbol(`triangle(${letters.sort().join("")})`)
    const back = [...letters].reverse().join("")
    return symbol(`angle(${/^[A-Z]{3}$/.test(name) && back < name ? back : name})`)
  }

  protected until(command: string): Expression {
    const inner = this.sum()
    this.expect("command", command)
    return inner
  }

  protected numbers(): Expression {
    this.take("symbol", "{")
    const set = this.peek()?.text
    this.position++
    this.take("symbol", "}")
    if (set !== "R" && set !== "Z") throw new Unreadable()
    return symbol(set === "R" ? "reals" : "integers")
  }

  /** Parses the argument of a command: one digit or letter, or a group in braces. `\frac12` is `\frac{1}{2}`. */
  protected argument(): Expression {
    const token = this.peek()
    if (token === undefined) throw new Unreadable()
    if (token.type === "symbol" && (token.text === "{" || token.text === "(")) return this.group()
    if (token.type === "number") return this.digit(token)
    this.position++
    if (token.type === "letter") return symbol(token.text)
    if (token.type === "command") return this.command(token.text)
    throw new Unreadable()
  }

  /** Takes the first digit of a number and leaves the rest. */
  protected digit(token: Token): Expression {
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

  protected group(): Expression {
    const close = this.is("symbol", "{") ? "}" : ")"
    this.position++
    const { bars } = this
    this.bars = 0
    const inner = this.nested(() => this.sequence())
    this.bars = bars
    this.expect("symbol", close)
    return inner
  }

  protected root(): Expression {
    if (!this.take("symbol", "[")) return { type: "call", name: "sqrt", of: this.argument() }
    const degree = this.sum()
    this.expect("symbol", "]")
    return { type: "root", degree, of: this.argument() }
  }

  protected logarithm(): Expression {
    if (!this.take("symbol", "_")) return { type: "log", base: whole(10), of: this.applied() }
    const base = this.argument()
    return { type: "log", base, of: this.applied() }
  }

  protected call(name: FunctionName | undefined): Expression {
    if (name === undefined) throw new Unreadable()
    const exponent = this.take("symbol", "^") ? this.exponent() : undefined
    const call: Expression = { type: "call", name, of: this.applied() }
    return exponent === undefined ? call : { type: "power", left: call, right: exponent }
  }

  /** Parses the argument of a function without brackets: `\sin 2x`, `\cos^2 \theta`, `\ln(x + 1)`. */
  protected applied(): Expression {
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

  protected bracketed(open: string): Expression {
    switch (open) {
      case "{":
        this.position--
        return this.group()
      case "|":
        return this.absolute()
      case "(":
      case "[":
        return this.tuple(open)
      case "]":
        return this.tuple("(")
      case "€":
      case "£":
      case "¥":
      case "₹":
        return { type: "quantity", of: this.product(), unit: unitOf(open) }
      default:
        throw new Unreadable()
    }
  }

  protected absolute(): Expression {
    this.bars++
    const inner = this.sum()
    this.bars--
    this.expect("symbol", "|")
    if (inner.type === "matrix") return determinant(inner.rows)
    return { type: "call", name: "abs", of: inner }
  }

  protected tuple(open: string): Expression {
    const { bars } = this
    this.bars = 0
    const inner = this.nested(() => this.sequence())
    this.bars = bars
    const close = this.close()
    if (close === undefined) throw new Unreadable()
    if (inner.type === "list") return { type: "tuple", open, close, items: inner.items }
    if ((open === "(" && close === ")") || inner.type === "matrix") return inner
    return { type: "tuple", open, close, items: [inner] }
  }

  /** Takes a closing bracket. A reversed bracket excludes its endpoint: `[0,1[`. */
  protected close(): string | undefined {
    if (this.take("symbol", ")") || this.take("symbol", "[")) return ")"
    return this.take("symbol", "]") ? "]" : undefined
  }

  /** Takes the domain in a set definition, such as `x \in \mathbb{R} :`. */
  private takeDomain(): boolean {
    const start = this.position
    if (this.peek()?.type === "letter" && this.is("command", "in", 1) && this.is("command", "mathbb", 2)) {
      this.position += 3
      const domain = this.numbers()
      const isBuilder = domain.type === "symbol" && domain.name === "reals"
      if (isBuilder && (this.take("symbol", "|") || this.take("symbol", ":"))) return true
    }
    this.position = start
    return false
  }

  protected set(): Expression {
    if (this.take("command", "}")) return symbol("empty")
    if (this.peek()?.type === "letter" && (this.is("symbol", "|", 1) || this.is("symbol", ":", 1))) {
      this.position += 2
      const of = this.sequence()
      this.expect("command", "}")
      return { type: "set-builder", of }
    }
    if (this.takeDomain()) {
      const of = this.sequence()
      this.expect("command", "}")
      return { type: "set-builder", of }
    }
    const inner = this.nested(() => this.sequence())
    this.expect("command", "}")
    return { type: "set", items: inner.type === "list" ? inner.items : [inner] }
  }

  /** Takes a symbol or word that separates a value from its condition. */
  private betweenPieces(): boolean {
    const token = this.peek()
    const isSign = token?.type === "symbol" && /^[,;.]$/.test(token.text)
    const isWord =
      (token?.type === "text" || token?.type === "word") && /^,?\s*(?:if|for|when|where)$/i.test(token.text)
    if (isSign || isWord) this.position++
    return isSign || isWord
  }

  protected matrix(): Expression {
    const name = this.environment()
    if (name === "array" && this.is("symbol", "{")) this.braced()
    const rows: Array<Array<Expression>> = [[]]
    while (!this.take("command", "end")) {
      if (this.take("command", "row")) rows.push([])
      else if (this.take("symbol", "&") || (name === "cases" && this.betweenPieces())) continue
      else rows.at(-1)!.push(this.relation())
    }
    if (this.environment() !== name) throw new Unreadable()
    const filled = rows.filter((row) => row.length > 0)
    if (
      name === "cases" &&
      filled.length > 1 &&
      filled.every(([first, ...rest]) => rest.length === 0 && first?.type === "relation")
    ) {
      return { type: "list", join: "and", items: filled.map(([first]) => first!) }
    }
    if (name === "cases") return { type: "cases", pieces: filled.map(piece) }
    return name === "vmatrix" ? determinant(filled) : { type: "matrix", rows: filled }
  }
}
