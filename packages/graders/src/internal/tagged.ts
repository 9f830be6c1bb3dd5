/**
 * Returns the content of the first `<answer>…</answer>`. Opening and closing tags are matched separately, because a
 * combined pattern takes quadratic time on many unclosed tags.
 */
export const firstTagged = (text: string): string | undefined => {
  const open = /<answer>/i.exec(text)
  if (open === null) return undefined
  const rest = text.slice(open.index + open[0].length)
  const close = /<\/answer>/i.exec(rest)
  return close === null ? undefined : rest.slice(0, close.index)
}
