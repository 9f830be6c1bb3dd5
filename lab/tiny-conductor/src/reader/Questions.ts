/** Labelled questions, and parts of questions, with different wording and structure than the gym's. */
import { Reader } from "@divisi/gguf"
import { Family } from "@divisi/gym"
import type { Example } from "@divisi/trainer-jax/ReaderTrainer"
import type * as Lots from "./Lots.ts"
import * as Words from "./wordsOfBreadth.ts"

/** Parts of questions that need an earlier answer, and such that only look like it. */
export type Sequels = { readonly [Need in "needs" | "alone"]: ReadonlyArray<string> }

const dateOf = ({ int, pick }: Lots.Lots): string => {
  const [day, month, year] = [int(1, 28), int(1, 12), int(1950, 2060)]
  const name = Words.months[month - 1]!
  return pick([
    `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`,
    `${day} ${name} ${year}`,
    `${name} ${day}, ${year}`,
    `${day}.${month}.${year}`,
    `the ${day}th of ${name}`,
    `${month}/${day}/${year}`
  ])
}

const asked = (of: Lots.Lots, kind: Family.FamilyName): string => {
  const { chance, int, pick, some } = of
  const [first, second] = some(pick(Words.unitPairs), 2)
  const [a, b, c] = some(Words.names, 3)
  const unknown = pick(["x", "x", "y", "n", "a", "t", "z", "k"])
  const fill: { readonly [Letter in string]: () => string } = {
    N: () => String(chance(0.7) ? int(2, 99) : int(100, 99_999)),
    L: () => Array.from({ length: int(4, 8) }, () => int(1, 99)).join(pick([", ", " ", "; "])),
    W: () => (kind === "text" && chance(0.6) ? `"${pick(Words.nouns)}"` : pick(Words.nouns)),
    D: () => dateOf(of),
    U: () => first!,
    V: () => second!,
    A: () => a!,
    B: () => b!,
    C: () => c!,
    M: () => `${pick(Words.months)} ${int(1990, 2040)}`
  }
  // A placeholder letter is a separate word, or a coefficient directly before a variable.
  const text = pick(Words.questions[kind])
    .replaceAll("\\n", "\n")
    .replace(/\b([NLWDUVABCM])(?=\b|x)/g, (_, letter: string) => fill[letter]!())
  return kind === "algebra" && unknown !== "x" ? text.replace(/(?<![a-z])x(?![a-z])/g, unknown) : text
}

const openings = ["Hello, ", "Question: ", "please: ", "I wonder, ", "urgent: ", "Next: ", "a customer asks: "]
const closings = [" Thank you.", " Answer with the result only.", " (short answer)", " Keep it brief.", " thx"]

/** A random question of a kind. */
export const question = (of: Lots.Lots): Example => {
  const kind = of.pick(Family.names)
  const before = of.chance(0.15) ? of.pick(openings) : ""
  const after = of.chance(0.15) ? of.pick(closings) : ""
  return {
    words: Reader.wordsOf(`${before}${asked(of, kind)}${after}`),
    about: Family.names.indexOf(kind),
    refers: false
  }
}

/** The ways in which a part of a question names its answer for later parts. */
const namings = ["Call the answer", "Call it", "Call this", "Name the result", "Let us say for it", "This is"]

/** The words of a part, sometimes with a name for its answer. */
const named = ({ chance, pick }: Lots.Lots, text: string): string =>
  chance(0.3) ? `${text} ${pick(namings)} ${pick([..."ABMNPQRSTXYZ"])}.` : text

/** A part of a question that needs the answer of an earlier one, or only looks like it. */
export const sequel = (of: Lots.Lots, sequels: Sequels): Example => {
  const { chance, int, pick } = of
  const refers = chance(0.5)
  const fill: { readonly [Place in string]: () => string } = {
    n: () => String(chance(0.7) ? int(2, 99) : int(100, 99_999)),
    w: () => `"${pick(Words.nouns)}"`,
    l: () => Array.from({ length: int(4, 8) }, () => int(1, 99)).join(", "),
    d: () => dateOf(of),
    m: () => pick([..."ABMNPQRSTXYZ"])
  }
  const text = pick(sequels[refers ? "needs" : "alone"]).replace(/<([nwldm])>/g, (_, place: string) => fill[place]!())
  return { words: Reader.wordsOf(refers ? named(of, text) : text), refers }
}
