/**
 * Hand-written descriptions and questions in other styles than the grammar: model cards, tags, paragraphs, tables,
 * tickets. They are never used for training. Any of them that were inspected to improve a reader are no longer held
 * out, so they should only be used for measuring.
 */
import type { Family } from "@divisi/gym"
import { byHand } from "./handWrittenDescriptions.ts"
import { asked } from "./handWrittenQuestions.ts"

/** The meaning of a description, as its author intended it. */
export interface Description {
  readonly text: string
  readonly good: ReadonlyArray<Family.FamilyName>
  readonly weak: ReadonlyArray<Family.FamilyName>
  readonly checks: ReadonlyArray<Family.FamilyName>
  readonly isCareless: boolean
  readonly isExact: boolean
  readonly isGeneral: boolean
  readonly price: "cheap" | "dear" | undefined
}

const letters: { readonly [Letter in string]: Family.FamilyName } = {
  a: "arithmetic",
  x: "algebra",
  u: "units",
  c: "calendar",
  t: "text",
  l: "logic",
  s: "statistics",
  p: "program"
}

const kindsOf = (codes: string): ReadonlyArray<Family.FamilyName> => [...codes].map((code) => letters[code]!)

/** All descriptions. */
export const descriptions: ReadonlyArray<Description> = byHand.map(([good, weak, flags, text]) => ({
  text,
  good: flags.includes("k") ? [] : kindsOf(good),
  weak: kindsOf(weak),
  checks: flags.includes("k") ? kindsOf(good) : [],
  isCareless: flags.includes("!"),
  isExact: flags.includes("="),
  isGeneral: flags.includes("*"),
  price: flags.includes("$") ? "dear" : flags.includes("-") ? "cheap" : undefined
}))

/** All questions by kind. */
export const questions: { readonly [Name in Family.FamilyName]: ReadonlyArray<string> } = asked
