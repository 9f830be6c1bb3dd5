/** The vote of a text is its final answer, so that texts with different reasons for one answer count together. */

/** The content of the last `\boxed{…}`, with the braces within it. */
const boxed = (text: string): string | undefined => {
  const start = text.lastIndexOf("\\boxed{")
  if (start < 0) return undefined
  const from = start + "\\boxed{".length
  let depth = 1
  for (let index = from; index < text.length; index++) {
    if (text[index] === "{") depth += 1
    else if (text[index] === "}" && --depth === 0) return text.slice(from, index)
  }
  return undefined
}

/** The content of the last `<answer>…</answer>`. */
const tagged = (text: string): string | undefined => {
  const end = text.lastIndexOf("</answer>")
  const start = text.lastIndexOf("<answer>", end)
  return start < 0 || end < 0 ? undefined : text.slice(start + "<answer>".length, end)
}

const marker = /\banswer(?: is|\s*:|\s*=)\s*/gi

/** The rest of the line after the last "answer:" or "answer is". */
const marked = (text: string): string | undefined => {
  const last = [...text.matchAll(marker)].at(-1)
  return last === undefined ? undefined : text.slice(last.index + last[0].length).split("\n")[0]
}

/**
 * Removes emphasis, dollar signs, brackets and full stops around a text. The search for trailing characters starts only
 * at the beginning of a run: a search from each character would be quadratic in the length of the run.
 */
const bare = (text: string): string =>
  text.replace(/^[\s*_$("'`]+/, "").replace(/(?<![\s*_$)"'`.!])[\s*_$)"'`.!]+$/, "")

/**
 * Returns the key that a text is counted under, ignoring white space and case: its last box, the content of its answer
 * tags, the text after "answer:" or "answer is", or the whole text.
 */
export const voteOf = (text: string): string => {
  const final = [boxed(text), tagged(text), marked(text)].find((part) => part !== undefined && bare(part) !== "")
  return bare(final ?? text)
    .replace(/\s+/g, " ")
    .toLowerCase()
}
