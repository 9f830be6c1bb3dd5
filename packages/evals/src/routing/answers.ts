/** Treats recorded answers as votes: compares the final answers of two texts as a majority vote does. */
import type { Question } from "./Contender.ts"

/**
 * Returns the vote of a worker. Numbers are compared by value, other texts without case, white space and surrounding
 * characters.
 */
export const voteOf = ({ answers }: Question, worker: string): string => {
  const text = (answers.get(worker) ?? "").trim()
  const plain = text.replace(/[$,\s]/g, "")
  if (plain !== "" && Number.isFinite(Number(plain))) return String(Number(plain))
  return text.toLowerCase().replace(/\s+/g, " ").replace(/[.!]$/, "")
}
