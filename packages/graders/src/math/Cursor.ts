/** The parser's position in a list of tokens. It looks ahead, takes expected tokens, and throws on anything else. */
import type { Comparison } from "./Expression.ts"
import type { Token } from "./Lexer.ts"
import { comparisons, environments } from "./Vocabulary.ts"

/** Maximum depth of an expression tree. */
const maxDepth = 40

/**
 * Thrown if a text is not a formula, and caught by the parser. It has no stack trace, because collecting one takes
 * time.
 */
export class Unreadable {}

/** A position in a list of tokens. */
export class Cursor {
  protected position = 0
  private depth = 0
  protected readonly input: Array<Token>

  constructor(input: ReadonlyArray<Token>) {
    this.input = [...input]
  }

  protected peek(ahead = 0): Token | undefined {
    return this.input[this.position + ahead]
  }

  protected is(type: Token["type"], text: string, ahead = 0): boolean {
    const token = this.peek(ahead)
    return token?.type === type && token.text === text
  }

  protected take(type: Token["type"], text: string): boolean {
    if (!this.is(type, text)) return false
    this.position++
    return true
  }

  protected expect(type: Token["type"], text: string): void {
    if (!this.take(type, text)) throw new Unreadable()
  }

  protected nested<A>(read: () => A): A {
    if (++this.depth > maxDepth) throw new Unreadable()
    const result = read()
    this.depth--
    return result
  }

  /** Throws unless all tokens were read. */
  protected end(): void {
    if (this.position < this.input.length) throw new Unreadable()
  }

  /** Returns a subscript as text. */
  protected subscript(): string {
    this.position++
    if (this.is("symbol", "{")) return this.braced()
    return this.peek() === undefined ? "" : this.input[this.position++]!.text
  }

  /** Returns the content of braces as text. */
  protected braced(): string {
    this.expect("symbol", "{")
    let text = ""
    for (let depth = 1; ; this.position++) {
      const token = this.peek()
      if (token === undefined) throw new Unreadable()
      if (this.is("symbol", "{")) depth++
      if (this.is("symbol", "}") && --depth === 0) break
      text += token.text
    }
    this.position++
    return text
  }

  protected commandAhead(): string {
    const token = this.peek()
    return token?.type === "command" ? token.text : ""
  }

  /** Returns the conjunction at the current position, if any. */
  protected conjunction(): "and" | "or" | undefined {
    const token = this.peek()
    if (token?.type !== "text" && token?.type !== "command" && token?.type !== "word") return undefined
    const found = /^(?:,\s*)?(and|or)$/i.exec(token.text.trim())?.[1]?.toLowerCase()
    return found === "and" || found === "or" ? found : undefined
  }

  /** Returns the comparison at the current position, if any. */
  protected comparison(): Comparison | undefined {
    const token = this.peek()
    if (token?.type === "symbol") return comparisons[token.text]
    return token?.type === "command" && token.text === "in" ? "in" : undefined
  }

  /** Takes the name of an environment in braces. */
  protected environment(): string {
    const name = this.braced()
    if (!environments.has(name)) throw new Unreadable()
    return name
  }
}
