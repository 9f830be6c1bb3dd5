/**
 * What the first `<answer>…</answer>` of a text holds. Tags are looked for one by one: a pattern of both takes time
 * quadratic in a text of tags that are never closed.
 */
export const firstTagged = (text: string): string | undefined => {
  const open = /<answer>/i.exec(text)
  if (open === null) return undefined
  const rest = text.slice(open.index + open[0].length)
  const close = /<\/answer>/i.exec(rest)
  return close === null ? undefined : rest.slice(0, close.index)
}
