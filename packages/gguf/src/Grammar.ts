/**
 * Grammars in GBNF, the format of llama.cpp: parses a grammar and matches texts character by character.
 *
 * A grammar becomes a state machine whose states are created when a text first reaches them, so later steps cost one
 * lookup each. A state is a number; {@link refused} is the state of texts that do not match.
 */
import * as Result from "effect/Result"
import type { GgufError } from "./GgufError.ts"
import * as Errors from "./GgufError.ts"
import { type Automaton, compile } from "./internal/gbnf.ts"

/** A parsed grammar. */
export interface Grammar {
  /** The state before the first character. */
  readonly start: number
  /** Returns the state after one more character, given as a code point. */
  readonly next: (state: number, codePoint: number) => number
  /** Whether a text in this state is complete. */
  readonly isWhole: (state: number) => boolean
}

/** The state of texts that the grammar does not allow. */
export const refused = -1

/** Makes states of sets of the automaton's own. */
const determine = ({ edges, end, start }: Automaton): Grammar => {
  const ids = new Map<string, number>()
  const states: Array<{ readonly members: ReadonlyArray<number>; readonly next: Map<number, number> }> = []
  /** The state of these members and all that they lead to without a character. */
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
 * Parses a grammar. It starts with its rule `root`.
 *
 * **Details**
 *
 * Each rule has its own line. Supported GBNF syntax: strings and classes of characters with escapes, groups, `|`, `?`,
 * `*` and `+`. Rules may not be recursive.
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
