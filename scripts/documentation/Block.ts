/** Fenced code blocks in pages and docstrings. */

/** A fenced block and its location. */
export interface Block {
  /** File that contains the block. */
  readonly file: string
  /** Line in the file at which the block's text starts, counted from 1. */
  readonly line: number
  /** First word after the fence, such as `ts`. Empty if there is none. */
  readonly language: string
  /** The rest of that line, such as `no-run` or `title="divisi.config.ts"`. */
  readonly info: string
  readonly text: string
}

const opening = /^(\s*(?:\*\s?)?)(`{3,}|~{3,})(\S*)[ \t]*(.*?)\s*$/

/**
 * Returns the blocks in a file, in order. The prefix of the fence, such as ` * ` in a docstring, is removed from each
 * line.
 */
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

/** Returns the name of the file that a block shows, if its fence has a title: `title="divisi.config.ts"`. */
export const title = ({ info }: Block): string | undefined => /\btitle="([^"]+)"/.exec(info)?.[1]
