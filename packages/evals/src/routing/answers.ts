/** Converts recorded answers to votes, comparing the final answers of two texts as in a majority vote. */
import type { Question } from "./Contender.ts"

/**
 * Returns the vote of a worker. Numbers are compared by value; text is compared ignoring case, whitespace and
 * surrounding characters.
 */
export const voteOf = ({ answers }: Question, worker: string): string => {
  const text = (answers.get(worker) ?? "").trim()
  const plain = text.replace(/[$,\s]/g, "")
  if (plain !== "" && Number.isFinite(Number(plain))) return String(Number(plain))
  return text.toLowerCase().replace(/\s+/g, " ").replace(/[.!]$/, "")
}
