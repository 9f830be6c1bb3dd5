/** What a model says to others: its text without its thoughts. Of a long text only the end, where answers stand. */

/** Characters of the end that are read. The limit bounds the time that a hostile text takes. */
const maxLength = 20_000

const close = "</think>"

/** The text behind the last thought. A thought that never ends hides everything after it. */
export const spoken = (text: string): string => {
  const closed = text.lastIndexOf(close)
  const after = (closed === -1 ? text : text.slice(closed + close.length)).trim()
  const opened = after.indexOf("<think>")
  const said = opened === -1 ? after : after.slice(0, opened)
  return said.slice(-maxLength).trim()
}
