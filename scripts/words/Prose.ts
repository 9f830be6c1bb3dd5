/** Extracts prose from a repository: sentences with their lines, from Markdown, comments, strings and test names. */

/** A piece of text without code: a paragraph, list item, table cell, comment or string. */
export interface Passage {
  readonly text: string
  /** Line numbers in the file: each entry applies to characters of `text` from its offset up to the next entry's. */
  readonly lines: ReadonlyArray<readonly [offset: number, line: number]>
  readonly isHeading?: boolean | undefined
}

export interface Sentence {
  readonly text: string
  readonly line: number
  readonly isHeading: boolean
}

const lineAt = ({ lines }: Passage, offset: number): number => {
  let line = lines[0]?.[1] ?? 1
  for (const [from, at] of lines) {
    if (from > offset) break
    line = at
  }
  return line
}

/** Removes code and short quotations, which are terms that a sentence is about. */
const withoutCode = (text: string): string =>
  text
    .replace(/\{@link\s+([^}|\s]+)[^}]*\}/g, (found) => "CODE".padEnd(found.length))
    .replace(/(`+)(?:(?!\1)[\s\S])*?\1/g, (found) => "CODE".padEnd(found.length))
    .replace(/"[^"\n]{1,40}"/g, (found) => "QUOTE".padEnd(found.length))
    .replace(/\]\([^)\s]*\)/g, (found) => "".padEnd(found.length))

/** Splits a passage into sentences, which end with a full stop, a question mark or an exclamation mark. */
export const sentences = (passage: Passage): ReadonlyArray<Sentence> => {
  const text = withoutCode(passage.text)
  const found: Array<Sentence> = []
  const end = /(?<!\b(?:e\.g|i\.e|vs|cf|etc|No|St))[.!?]["”')\]*_]*(?=\s+["“'([*_]*[A-Z0-9C]|\s*$)/g
  let from = 0
  const add = (to: number) => {
    const raw = text.slice(from, to)
    const start = from + raw.search(/[^\s*_>[(#-]|$/)
    const sentence = text.slice(start, to).replace(/\s+/g, " ").trim()
    if (/[a-z]/i.test(sentence)) {
      found.push({ text: sentence, line: lineAt(passage, start), isHeading: passage.isHeading === true })
    }
    from = to
  }
  for (const match of text.matchAll(end)) add(match.index + match[0].length)
  add(text.length)
  return found
}

/** Joins lines into one passage. */
const joined = (parts: ReadonlyArray<readonly [text: string, line: number]>): Passage => {
  const lines: Array<readonly [number, number]> = []
  let text = ""
  for (const [part, line] of parts) {
    lines.push([text.length, line])
    text += `${part} `
  }
  return { text, lines }
}

/** Returns the passages on a Markdown page, without front matter, code blocks, comments and generated text. */
export const ofMarkdown = (page: string): ReadonlyArray<Passage> => {
  const passages: Array<Passage> = []
  let open: Array<readonly [string, number]> = []
  const close = () => {
    if (open.length > 0) passages.push(joined(open))
    open = []
  }
  const blank = (found: string) => found.replace(/[^\n]/g, "")
  const lines = page
    .replace(/^---\n[\s\S]*?\n---\n/, blank)
    .replace(/<!-- (figures|tiny):[\s\S]*?<!-- \/\1[\s\S]*?-->/g, blank)
    .replace(/<!--[\s\S]*?-->/g, blank)
    .split("\n")
  let fence: string | undefined
  for (const [index, raw] of lines.entries()) {
    const line = index + 1
    const mark = /^\s*(`{3,}|~{3,})/.exec(raw)?.[1]
    if (fence !== undefined || mark !== undefined) {
      close()
      if (fence === undefined) fence = mark
      else if (mark?.startsWith(fence)) fence = undefined
      continue
    }
    const text = raw.trim()
    if (text === "") close()
    else if (text.startsWith("#")) {
      close()
      passages.push({ ...joined([[text, line]]), isHeading: true })
    } else if (text.startsWith("|")) {
      close()
      for (const cell of text.split(/(?<!\\)\|/)) if (cell.trim() !== "") passages.push(joined([[cell, line]]))
    } else {
      if (/^(?:[-*+]|\d+\.)\s/.test(text)) close()
      open.push([text, line])
    }
  }
  close()
  return passages
}

/** A token in a program. */
export interface Token {
  readonly kind: "comment" | "string"
  readonly text: string
  readonly line: number
  /** The preceding code, at most 40 characters. */
  readonly before: string
}

/**
 * Returns the comments and strings in TypeScript code. The code before a slash determines whether it starts a regular
 * expression or is a division.
 */
export const tokens = (code: string): ReadonlyArray<Token> => {
  const found: Array<Token> = []
  let line = 1
  let at = 0
  const templates: Array<number> = []
  let depth = 0
  const take = (to: number): string => {
    const text = code.slice(at, to)
    for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) line += 1
    at = to
    return text
  }
  const token = (kind: Token["kind"], to: number) => {
    const before = code.slice(Math.max(0, at - 40), at)
    const start = line
    found.push({ kind, text: take(to), line: start, before })
  }
  const endOf = (quote: string, from: number): number => {
    for (let index = from; index < code.length; index++) {
      if (code[index] === "\\") index++
      else if (code[index] === quote || (quote !== "`" && code[index] === "\n")) return index + 1
      else if (quote === "`" && code.startsWith("${", index)) return index + 2
    }
    return code.length
  }
  const template = (from: number) => {
    const to = endOf("`", from)
    if (code.startsWith("${", to - 2) && code[to - 1] === "{") templates.push(depth++)
    token("string", to)
  }
  while (at < code.length) {
    const next = code.slice(at).search(/["'`/{}]/)
    if (next === -1) break
    take(at + next)
    const character = code[at]!
    if (character === "{") {
      depth += 1
      at += 1
    } else if (character === "}") {
      depth -= 1
      if (templates.at(-1) === depth) {
        templates.pop()
        template(at + 1)
      } else at += 1
    } else if (character === "`") template(at + 1)
    else if (character !== "/") token("string", endOf(character, at + 1))
    else if (code[at + 1] === "/") {
      const end = code.indexOf("\n", at)
      token("comment", end === -1 ? code.length : end)
    } else if (code[at + 1] === "*") {
      const end = code.indexOf("*/", at + 2)
      token("comment", end === -1 ? code.length : end + 2)
    } else if (
      /(?:[=(,:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|of|in))\s*$/.test(code.slice(Math.max(0, at - 20), at))
    ) {
      const regular = /^\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\//.exec(code.slice(at, at + 2000))
      take(at + (regular?.[0].length ?? 1))
    } else at += 1
  }
  return found
}

/** Returns the comments in a program. Consecutive `//` lines are combined. Tool directives are omitted. */
export const ofComments = (all: ReadonlyArray<Token>): ReadonlyArray<Passage> => {
  const passages: Array<Passage> = []
  let open: Array<readonly [string, number]> = []
  const close = () => {
    if (open.length > 0) passages.push(joined(open))
    open = []
  }
  for (const { kind, line, text } of all) {
    if (kind !== "comment") continue
    if (text.startsWith("//")) {
      const words = text.replace(/^\/+/, "").trim()
      if (open.at(-1)?.[1] !== line - 1) close()
      if (!/^(?:biome-|@ts-|eslint|#|=>|-{5,})/.test(words)) open.push([words, line])
    } else {
      close()
      const body = text.slice(2, -2).replace(/^\*/, "")
      const page = body.replace(/^[ \t]*\*[ \t]?/gm, "").replace(/^[ \t]*@\w+(?:[ \t]+\{[^}]*\})?/gm, "")
      passages.push(
        ...ofMarkdown(page).map(({ lines, ...passage }) => ({
          ...passage,
          lines: lines.map(([offset, at]) => [offset, at + line - 1] as const)
        }))
      )
    }
  }
  close()
  return passages
}

/** Returns strings that are human-readable sentences, with at least four words. */
export const ofStrings = (all: ReadonlyArray<Token>): ReadonlyArray<Passage> =>
  all
    .filter(({ before, kind, text }) => kind === "string" && text.split(/\s+/).length > 3 && !isTestName(before))
    .map(({ line, text }) => joined([[text.replace(/^["'`}]|["'`]$|\$\{$/g, ""), line]]))

const isTestName = (before: string): boolean => /\b(?:it|test|describe)(?:\.\w+)*(?:\([^()]*\))?\(\s*$/.test(before)

/** Returns the names of tests. */
export const ofTests = (all: ReadonlyArray<Token>): ReadonlyArray<Passage> =>
  all
    .filter(({ before, kind }) => kind === "string" && isTestName(before))
    .map(({ line, text }) => joined([[text.slice(1, -1), line]]))
