/** Holds what a model writes to the grammar of a workflow, token by token. */
import type { WorkflowFormat } from "@divisi/core/Worker"
import { Grammar, WorkflowGrammar } from "@divisi/gguf/browser"
import * as Result from "effect/Result"

/** The position of a text in a grammar: a state, and the number of bytes missing from its last character. */
interface Place {
  readonly state: number
  readonly lacking: number
}

/** A text that is being written. */
export interface Form {
  /** Whether a token may be next, given as its bytes. */
  readonly accepts: (bytes: Uint8Array) => boolean
  /** Advances by an accepted token. */
  readonly push: (bytes: Uint8Array) => void
  /** Whether nothing may follow. */
  readonly isWhole: () => boolean
  /** From here on, given the text so far, only the lists may follow. */
  readonly endReasoning: (text: string) => void
  /** The rules of its grammar. */
  readonly rules: Omit<WorkflowFormat, "type">
}

/** Grammars by their text: a pool has the same one for every question. */
const grammars = new Map<string, Grammar.Grammar>()

/** Older entries belong to pools that are not in use any more. */
const most = 64

const grammarOf = (source: string): Grammar.Grammar => {
  const known = grammars.get(source)
  if (known !== undefined) return known
  if (grammars.size === most) grammars.clear()
  const grammar = Result.getOrThrow(Grammar.read(source))
  grammars.set(source, grammar)
  return grammar
}

/** Stands for every character beyond ASCII: the grammar makes no difference between them. */
const beyondAscii = 0xfffd

const after = (grammar: Grammar.Grammar, { lacking, state }: Place, byte: number): Place | undefined => {
  const isContinuation = byte >= 0x80 && byte < 0xc0
  if (isContinuation !== lacking > 0) return undefined
  if (isContinuation) return { state, lacking: lacking - 1 }
  const next = grammar.next(state, byte < 0x80 ? byte : beyondAscii)
  if (next === Grammar.refused) return undefined
  return { state: next, lacking: byte < 0x80 ? 0 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3 }
}

/** A text in the form of a workflow, from its start. */
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
      // An incomplete character is part of the line, but not of the text.
      const rest = WorkflowGrammar.afterReasoning(rules, place.lacking > 0 ? `${text}\ufffd` : text)
      if (rest === undefined) return
      grammar = grammarOf(rest)
      place = { state: grammar.start, lacking: 0 }
    }
  }
}
