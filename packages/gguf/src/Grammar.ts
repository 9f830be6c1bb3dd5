/**
 * Parses grammars in GBNF, llama.cpp's format, and matches strings against them character by character.
 *
 * A grammar is compiled to a state machine. States are created on first use, so repeated steps cost a single lookup. A
 * state is a number; {@link refused} is the state for strings that do not match.
 */
import * as Result from "effect/Result"
import type { GgufError } from "./GgufError.ts"
import * as Errors from "./GgufError.ts"
import { type Automaton, compile } from "./internal/gbnf.ts"

/** A parsed grammar. */
export interface Grammar {
  /** The initial state, before the first character. */
  readonly start: number
  /** Returns the state after one more character, given as a code point. */
  readonly next: (state: number, codePoint: number) => number
  /** Whether a string that ends in this state is a complete match. */
  readonly isWhole: (state: number) => boolean
}

/** The state for strings that do not match the grammar. */
export const refused = -1

/** Converts the automaton to a deterministic one, creating states on demand. */
const determine = ({ edges, end, start }: Automaton): Grammar => {
  const ids = new Map<string, number>()
  const states: Array<{ readonly members: ReadonlyArray<number>; readonly next: Map<number, number> }> = []
  /** Returns the state for a set of nodes, including all nodes reachable from them without a character. */
  const stateOf = (from: ReadonlyArray<number>): number => {
    const members = new Set(from)
    for (const member of members) for (const target of edges[member]!.free) members.add(target)
    const sorted = [...members].sort((left, right) => left - right)
    const key = sorted.join()
    const known = ids.get(key)
    if (known !== undefined) return known
    ids.set(key, states.length)
    states.push({ members: sorted, next: new Map() })
    return states.length - 1
  }
  const next = (state: number, codePoint: number): number => {
    if (state === refused) return refused
    const { members, next: known } = states[state]!
    const found = known.get(codePoint)
    if (found !== undefined) return found
    const targets = members.flatMap((member) => {
      const { accepts, target } = edges[member]!
      return accepts?.(codePoint) === true ? [target] : []
    })
    const after = targets.length === 0 ? refused : stateOf(targets)
    known.set(codePoint, after)
    return after
  }
  return {
    start: stateOf([start]),
    next,
    isWhole: (state) => state !== refused && states[state]!.members.includes(end)
  }
}

/**
 * Parses a grammar. Its start rule is `root`.
 *
 * **Details**
 *
 * Each rule must be on a separate line. Supported GBNF syntax: strings and character classes with escapes, groups, `|`,
 * `?`, `*` and `+`. Recursive rules are not supported.
 *
 * **Example**
 *
 * ```ts
 * import { Grammar } from "@divisi/gguf/browser"
 * import * as Result from "effect/Result"
 *
 * const grammar = Result.getOrThrow(Grammar.read('root ::= "a" [0-9]*'))
 * const after = [..."a1"].reduce((state, letter) => grammar.next(state, letter.codePointAt(0)!), grammar.start)
 * grammar.isWhole(after) // => true
 * grammar.next(after, 98) // => -1
 * ```
 */
export const read = (source: string): Result.Result<Grammar, GgufError> => {
  const automaton = compile(source)
  return typeof automaton === "string"
    ? Result.fail(Errors.make({ _tag: "InvalidGrammar", detail: automaton }))
    : Result.succeed(determine(automaton))
}
