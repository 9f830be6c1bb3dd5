/**
 * Votes for majority decisions. The vote of a text is its final answer, so that answers with different reasoning but
 * the same conclusion count together.
 */

/** Returns the content of the last `\boxed{…}`, including nested braces. */
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

/** Returns the content of the last `<answer>…</answer>`. */
const tagged = (text: string): string | undefined => {
  const end = text.lastIndexOf("</answer>")
  const start = text.lastIndexOf("<answer>", end)
  return start < 0 || end < 0 ? undefined : text.slice(start + "<answer>".length, end)
}

const marker = /\banswer(?: is|\s*:|\s*=)\s*/gi

/** Returns the remainder of the line after the last "answer:" or "answer is". */
const marked = (text: string): string | undefined => {
  const last = [...text.matchAll(marker)].at(-1)
  return last === undefined ? undefined : text.slice(last.index + last[0].length).split("\n")[0]
}

/**
 * Strips emphasis, dollar signs, brackets and full stops from both ends of a text. The lookbehind anchors the match at
 * the first trailing character; otherwise, it would take quadratic time.
 */
const bare = (text: string): string =>
  text.replace(/^[\s*_$("'`]+/, "").replace(/(?<![\s*_$)"'`.!])[\s*_$)"'`.!]+$/, "")

/**
 * Returns the key under which a text's vote is counted: the content of its last box or answer tags, the text after
 * "answer:" or "answer is", or else the whole text. Whitespace and case are ignored.
 */
export const voteOf = (text: string): string => {
  const final = [boxed(text), tagged(text), marked(text)].find((part) => part !== undefined && bare(part) !== "")
  return bare(final ?? text)
    .replace(/\s+/g, " ")
    .toLowerCase()
}
