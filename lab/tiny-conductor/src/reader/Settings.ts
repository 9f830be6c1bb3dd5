/**
 * The settings in which policies are measured on generated teams. Each is a split that was excluded from training, or a
 * hard case.
 */
import type * as Teams from "../world/Teams.ts"

/** A row of the tables. */
export interface Setting {
  readonly name: string
  readonly options: Omit<Teams.Options, "split" | "count" | "seed">
}

/** All rows. Unless a row says otherwise, descriptions use known words and shapes and are true. */
export const settings: ReadonlyArray<Setting> = [
  { name: "new teams", options: {} },
  { name: "held-out sets of skills", options: { heldOutSkills: true } },
  { name: "held-out sentences", options: { heldOutShapes: true } },
  { name: "related words", options: { words: "related" } },
  { name: "unrelated words", options: { words: "unrelated" } },
  { name: "held-out ways to ask", options: { heldOutQuestions: true } },
  { name: "descriptions by hand", options: { handWritten: true } },
  { name: "questions by hand", options: { handWrittenQuestions: true, composites: 0 } },
  { name: "both by hand", options: { handWritten: true, handWrittenQuestions: true, composites: 0 } },
  { name: "2 workers", options: { workers: [2, 2] } },
  { name: "24 workers", options: { workers: [24, 24] } },
  { name: "doubtful descriptions", options: { truth: "doubtful" } },
  { name: "doubtful with 20 past answers each", options: { truth: "doubtful", record: 20 } },
  { name: "careless workers", options: { careless: true } },
  { name: "nobody can answer", options: { unanswerable: 1 } }
]
