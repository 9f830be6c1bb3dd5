/** The 400 fixed questions for the pool: four seen kinds with 50 questions each, and two unseen kinds with 100 each. */

import fs from "node:fs"
import { fileURLToPath } from "node:url"

/** The seen kinds: policies may be chosen and trained on them. */
export const seen = ["gsm8k", "math500", "programs", "arithmetic"] as const

/** The unseen kinds: they are recorded after all policies are fixed. */
export const unseen = ["mmlu", "docs"] as const

export type Kind = (typeof seen)[number] | (typeof unseen)[number]

/** Whether a kind is one of the seen ones. */
export const isSeen = (kind: Kind): boolean => (seen as ReadonlyArray<Kind>).includes(kind)

/** One question with its reference: a number, a LaTeX value, a letter, or assertions in Python. */
export interface Question {
  readonly id: string
  readonly kind: Kind
  readonly text: string
  readonly reference: string
}

const file = fileURLToPath(new URL("../questions.jsonl", import.meta.url))

/** Reads the questions in their fixed order. */
export const read = (): ReadonlyArray<Question> =>
  fs
    .readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line): Question => JSON.parse(line))
