/**
 * Truncates text at the first stop sequence. Text that may be the start of a stop sequence is held back until it is
 * clear.
 */

/** State for one text. */
export interface StopText {
  readonly sequences: ReadonlyArray<string>
  readonly held: string
  /** The stop sequence that was found, if any. */
  readonly stoppedBy: string | undefined
}

/** Creates the initial state. */
export const start = (sequences: ReadonlyArray<string> = []): StopText => ({
  sequences,
  held: "",
  stoppedBy: undefined
})

/** Returns the number of trailing characters that may be the start of a stop sequence. */
const mayBegin = (text: string, sequences: ReadonlyArray<string>): number => {
  const longest = Math.max(...sequences.map(({ length }) => length)) - 1
  for (let length = Math.min(longest, text.length); length > 0; length -= 1) {
    const end = text.slice(-length)
    if (sequences.some((sequence) => sequence.startsWith(end))) return length
  }
  return 0
}

/** Adds a chunk of text and returns the text to emit. Returns an empty string after a stop sequence. */
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

/** Returns the text that is still held back at the end of the input. */
export const end = ({ held }: StopText): string => held
