/** Builds the subtask of an item, and joins the results of items. */
import { type StepAnswer, said } from "./StepMessages.ts"

/**
 * Inserts an item into a subtask: replaces `{item}`, or appends the item if there is no placeholder.
 *
 * @internal
 */
export const itemSubtask = (subtask: string, item: string): string => {
  if (subtask.includes("{item}")) return subtask.replaceAll("{item}", () => item)
  return subtask === "" ? `Item:\n${item}` : `${subtask}\n\nItem:\n${item}`
}

/** The result for an item, to be joined with those of the other items. */
interface ItemResult {
  readonly item: string
  readonly answer: StepAnswer | undefined
}

/**
 * Joins the results of a step's items into a single answer: a JSON list with one line per item, so that one item's text
 * cannot imitate another's. Fails if no item was answered.
 *
 * @internal
 */
export const joined = (results: ReadonlyArray<ItemResult>): StepAnswer => {
  if (results.length === 0) return { type: "answered", text: "[]" }
  const lines = results.map(({ answer, item }) => {
    if (answer?.type === "answered") return JSON.stringify({ item, answer: answer.text })
    const why = answer === undefined ? "it had no answer when this step started" : said(answer)
    return JSON.stringify(answer?.type === "refused" ? { item, refused: why } : { item, failed: why })
  })
  if (results.some(({ answer }) => answer?.type === "answered")) {
    return { type: "answered", text: `[\n${lines.join(",\n")}\n]` }
  }
  const first = results.find(({ answer }) => answer !== undefined)
  const why = first === undefined ? "" : `; the first: ${said(first.answer)}`
  return { type: "failed", message: `none of its items (${results.length}) has an answer${why}` }
}
