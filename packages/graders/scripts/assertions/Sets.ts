/**
 * Sets of texts that were written to be graded once before the grader was changed with what they showed. In a file, each
 * text follows a line `=== + gold | kind`; `-` instead of `+` means that the text does not assert its gold answer.
 */
import fs from "node:fs"
import type { Pair } from "../pairs/Pairs.ts"

const folder = new URL("../../suites/asserted/", import.meta.url)

const parse = (text: string): ReadonlyArray<Pair> =>
  text
    .split(/^=== /m)
    .slice(1)
    .map((block) => {
      const [head, ...lines] = block.split("\n")
      const at = head!.lastIndexOf(" | ")
      const answer = lines.join("\n").replace(/\n$/, "")
      return { kind: head!.slice(at + 3), gold: head!.slice(2, at), answer, expected: head!.startsWith("+") }
    })

/** Every set by its name. */
export const sets: Readonly<Record<string, ReadonlyArray<Pair>>> = Object.fromEntries(
  fs
    .readdirSync(folder)
    .sort()
    .map((file) => [file.replace(".txt", ""), parse(fs.readFileSync(new URL(file, folder), "utf8"))])
)

/** A text and the letter that it chooses. Null if it does not choose any. */
export interface Lettered {
  readonly text: string
  readonly letter: string | null
}

const letterFolder = new URL("../../suites/letters/", import.meta.url)

/** Every set of texts that choose a letter, or only mention some, by its name. */
export const letters: Readonly<Record<string, ReadonlyArray<Lettered>>> = Object.fromEntries(
  fs
    .readdirSync(letterFolder)
    .sort()
    .map((file) => [
      file.replace(".jsonl", ""),
      fs
        .readFileSync(new URL(file, letterFolder), "utf8")
        .trim()
        .split("\n")
        .map((line): Lettered => JSON.parse(line))
    ])
)
