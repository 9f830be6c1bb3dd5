/**
 * Ends a text before the first of several sequences. A possible start of a sequence is held back until it is resolved.
 */

/** The state of a text. */
export interface StopText {
  readonly sequences: ReadonlyArray<string>
  readonly held: string
  /** The sequence that ended it. */
  readonly stoppedBy: string | undefined
}

/** The state before the first chunk. */
export const start = (sequences: ReadonlyArray<string> = []): StopText => ({
  sequences,
  held: "",
  stoppedBy: undefined
})

/** Returns how many characters at the end of a text may be the start of a sequence. */
const mayBegin = (text: string, sequences: ReadonlyArray<string>): number => {
  const longest = Math.max(...sequences.map(({ length }) => length)) - 1
  for (let length = Math.min(longest, text.length); length > 0; length -= 1) {
    const end = text.slice(-length)
    if (sequences.some((sequence) => sequence.startsWith(end))) return length
  }
  return 0
}

/** Adds a chunk of the text, and returns the text that can be emitted. After a stop sequence, it returns nothing. */
export const take = (state: StopText, piece: string): readonly [state: StopText, text: string] => {
  const { held, sequences, stoppedBy } = state
  if (stoppedBy !== undefined) return [state, ""]
  if (sequences.length === 0) return [state, piece]
  const text = held + piece
  const found = sequences
    .map((sequence) => ({ sequence, at: text.indexOf(sequence) }))
    .filter(({ at }) => at >= 0)
    .sort((left, right) => left.at - right.at)[0]
  if (found !== undefined) return [{ sequences, held: "", stoppedBy: found.sequence }, text.slice(0, found.at)]
  const kept = mayBegin(text, sequences)
  return [{ ...state, held: text.slice(text.length - kept) }, text.slice(0, text.length - kept)]
}

/** Returns the text held back, at the end of the input. */
export const end = ({ held }: StopText): string => held
