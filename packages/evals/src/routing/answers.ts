/** Recorded answers as votes: the final answers of two texts, compared as majority votes compare them. */
import type { Question } from "./Contender.ts"

/** Compares numbers by value, and other texts without case, white space and surrounding characters. */
export const voteOf = ({ answers }: Question, worker: string): string => {
  const text = (answers.get(worker) ?? "").trim()
  const plain = text.replace(/[$,\s]/g, "")
  if (plain !== "" && Number.isFinite(Number(plain))) return String(Number(plain))
  return text.toLowerCase().replace(/\s+/g, " ").replace(/[.!]$/, "")
}
