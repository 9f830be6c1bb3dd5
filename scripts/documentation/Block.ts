/** The fenced blocks of pages and docstrings. */

/** A fenced block and where it stands. */
export interface Block {
  /** The file it stands in. */
  readonly file: string
  /** The line of that file (from 1) on which its text begins. */
  readonly line: number
  /** The first word behind the fence, such as `ts`; empty where there is none. */
  readonly language: string
  /** The rest of that line, such as `no-run`, or `title="divisi.config.ts"`. */
  readonly info: string
  readonly text: string
}

const opening = /^(\s*(?:\*\s?)?)(`{3,}|~{3,})(\S*)[ \t]*(.*?)\s*$/

/** The blocks of a file, in order. What stands before the fence, such as a docstring's ` * `, is taken off each line. */
export const extract = (file: string, text: string): ReadonlyArray<Block> => {
  const lines = text.split("\n")
  const blocks: Array<Block> = []
  for (let at = 0; at < lines.length; at++) {
    const found = opening.exec(lines[at]!)
    if (found === null) continue
    const [, before = "", fence = "", language = "", info = ""] = found
    const strip = (line: string) =>
      line.startsWith(before) ? line.slice(before.length) : line.slice(before.trimEnd().length)
    const first = at + 1
    const content: Array<string> = []
    for (at = first; at < lines.length; at++) {
      const line = strip(lines[at]!)
      if (line.trim().startsWith(fence) && line.trim().replaceAll(fence[0]!, "") === "") break
      content.push(line)
    }
    blocks.push({ file, line: first + 1, language, info, text: `${content.join("\n")}\n` })
  }
  return blocks
}

/** The name of the file that a block shows, where its fence says one: `title="divisi.config.ts"`. */
export const title = ({ info }: Block): string | undefined => /\btitle="([^"]+)"/.exec(info)?.[1]
