/**
 * Returns all matches of a global pattern. `String.matchAll` would copy the pattern at every call, which takes longer
 * than a typical search.
 */
export const matches = (text: string, pattern: RegExp): ReadonlyArray<RegExpExecArray> => {
  const found: Array<RegExpExecArray> = []
  pattern.lastIndex = 0
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    found.push(match)
    if (match[0] === "") pattern.lastIndex += pattern.unicode && text.codePointAt(match.index)! > 0xffff ? 2 : 1
  }
  return found
}
