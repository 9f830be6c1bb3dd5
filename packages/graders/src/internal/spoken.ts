/** What a model says to others: not what it thinks, and of long texts the end, where answers stand. */

/** As much of the end as can hold an answer. It bounds the time that reading hostile texts takes. */
const maxLength = 20_000

const close = "</think>"

/** The text behind the last thought; a thought that never ends is left out with all that follows it. */
export const spoken = (text: string): string => {
  const closed = text.lastIndexOf(close)
  const after = (closed === -1 ? text : text.slice(closed + close.length)).trim()
  const opened = after.indexOf("<think>")
  const said = opened === -1 ? after : after.slice(0, opened)
  return said.slice(-maxLength).trim()
}
