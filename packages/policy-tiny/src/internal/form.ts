/** Constrains generated text to the grammar of a workflow, token by token. */
import type { WorkflowFormat } from "@divisi/core/Worker"
import { Grammar, WorkflowGrammar } from "@divisi/gguf/browser"
import * as Result from "effect/Result"

/** A position in the grammar: the state, and the number of bytes missing from the last character. */
interface Place {
  readonly state: number
  readonly lacking: number
}

/** The grammar state of a text during generation. */
export interface Form {
  /** Whether a token, given as its bytes, may follow. */
  readonly accepts: (bytes: Uint8Array) => boolean
  /** Advances by an accepted token. */
  readonly push: (bytes: Uint8Array) => void
  /** Whether the text is complete, so that nothing may follow. */
  readonly isWhole: () => boolean
  /** Ends the reasoning: after the given text, only the lists are accepted. */
  readonly endReasoning: (text: string) => void
  /** The rules of the workflow grammar. */
  readonly rules: Omit<WorkflowFormat, "type">
}

/** Compiled grammars, keyed by their text. All questions for a pool use the same grammar. */
const grammars = new Map<string, Grammar.Grammar>()

/** Maximum number of cached grammars; older entries belong to pools that are no longer in use. */
const most = 64

const grammarOf = (source: string): Grammar.Grammar => {
  const known = grammars.get(source)
  if (known !== undefined) return known
  if (grammars.size === most) grammars.clear()
  const grammar = Result.getOrThrow(Grammar.read(source))
  grammars.set(source, grammar)
  return grammar
}

/** Represents all characters beyond ASCII, which the grammar does not distinguish. */
const beyondAscii = 0xfffd

const after = (grammar: Grammar.Grammar, { lacking, state }: Place, byte: number): Place | undefined => {
  const isContinuation = byte >= 0x80 && byte < 0xc0
  if (isContinuation !== lacking > 0) return undefined
  if (isContinuation) return { state, lacking: lacking - 1 }
  const next = grammar.next(state, byte < 0x80 ? byte : beyondAscii)
  if (next === Grammar.refused) return undefined
  return { state: next, lacking: byte < 0x80 ? 0 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3 }
}

/** Creates the grammar state at the start of a workflow's text. */
export const make = ({ type: _, ...rules }: WorkflowFormat): Form => {
  let grammar = grammarOf(WorkflowGrammar.make(rules))
  let place: Place = { state: grammar.start, lacking: 0 }
  const follow = (bytes: Uint8Array): Place | undefined => {
    let at: Place | undefined = place
    for (let index = 0; index < bytes.length && at !== undefined; index++) at = after(grammar, at, bytes[index]!)
    return at
  }
  return {
    accepts: (bytes) => follow(bytes) !== undefined,
    push: (bytes) => {
      place = follow(bytes)!
    },
    rules,
    isWhole: () => grammar.isWhole(place.state),
    endReasoning: (text) => {
      // An incomplete character belongs to the line, but is not yet in the text.
      const rest = WorkflowGrammar.afterReasoning(rules, place.lacking > 0 ? `${text}\ufffd` : text)
      if (rest === undefined) return
      grammar = grammarOf(rest)
      place = { state: grammar.start, lacking: 0 }
    }
  }
}
