/** Recorded answers as votes: the final answers of two texts, compared as majority votes compare them. */
import type { Question } from "./Contender.ts"

/** Numbers by their value, other texts without case, white space and what stands around them. */
export const voteOf = ({ answers }: Question, worker: string): string => {
  const text = (answers.get(worker) ?? "").trim()
  const plain = text.replace(/[$,\s]/g, "")
  if (plain !== "" && Number.isFinite(Number(plain))) return String(Number(plain))
  return text.toLowerCase().replace(/\s+/g, " ").replace(/[.!]$/, "")
}
