/**
 * The generator of texts that choose a letter or do not: templates in many languages times letters and contents. Part 1
 * and part 2 share no template. Nothing here knows the grader.
 */
import fs from "node:fs"
import type { Pair } from "../pairs/Pairs.ts"
import type { Random } from "../pairs/Random.ts"

const contents = [
  "osmosis",
  "the Treaty of Westphalia",
  "a decrease in supply",
  "12 km",
  "$x^2 + 1$",
  "mitochondria",
  "It increases over time.",
  "an inelastic collision",
  "Paris",
  "All living cells",
  "the right of appeal",
  "O(n log n)"
]

const openings = [
  "",
  "",
  "Let's think step by step. The key fact is in the second sentence.\n\n",
  "Okay. ",
  "We compare the options one by one.\n"
]
const endings = ["", "", "", "\n\nLet me know if you have questions!", "<|im_end|>", "\n\nConfidence: 90%"]

/** Pairs of a part: so many letters for each template; a text that chooses is also wrong for another letter. */
export const make = (part: number, random: Random, times: number): ReadonlyArray<Pair> =>
  fs
    .readFileSync(new URL(`../../suites/choices/${["first", "second"][part]}.txt`, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => /^[-+] /.test(line))
    .flatMap((line) => {
      const [mark, kind] = line.split(" ", 2)
      const text = line.slice(mark!.length + kind!.length + 2).replaceAll("⏎", "\n")
      return Array.from({ length: times }, (): ReadonlyArray<Pair> => {
        const [letter, other, third] = random.shuffle([..."ABCDEF".slice(0, random.pick([4, 4, 4, 5, 6]))])
        const [content, another] = random.shuffle(contents)
        const isAlone = /^[{<\\[]|```|^\||\n.*\n/.test(text)
        const filled = text
          .replaceAll("‹l›", letter!)
          .replaceAll("‹s›", letter!.toLowerCase())
          .replaceAll("‹o›", other!)
          .replaceAll("‹k›", third!)
          .replaceAll("‹c›", () => content!)
          .replaceAll("‹d›", () => another!)
        const opening = isAlone ? "" : random.pick(openings)
        const broken = /^[\p{L}(]/u.test(text) || opening === "" ? opening : `${opening.trimEnd()}\n\n`
        const answer = `${broken}${filled}${isAlone || mark === "-" ? "" : random.pick(endings)}`
        if (mark === "-") return [{ kind: `${kind}, no choice`, gold: letter!, answer, expected: false }]
        return [
          { kind: `${kind}, choice`, gold: letter!, answer, expected: true },
          { kind: `${kind}, choice`, gold: other!, answer, expected: false }
        ]
      }).flat()
    })
