/**
 * Builds a workflow from the worker and checker chosen for each part of a question. Independent parts become concurrent
 * steps.
 */
import type { Workflow } from "@divisi/core"

/** A part of a question, with the worker that answers it and the worker that checks the answer. */
export interface Part {
  readonly text: string
  /** Indices of the earlier parts whose answers it needs. */
  readonly needs: ReadonlyArray<number>
  readonly worker: number
  readonly checker?: number | undefined
}

/** Number of attempts that a checker compares. */
const attempts = 2

const ascending = (ordinals: Iterable<number>): ReadonlyArray<number> =>
  [...new Set(ordinals)].sort((left, right) => left - right)

const stepsFor = (part: Part, access: ReadonlyArray<number>, position: number): ReadonlyArray<Workflow.Step> => {
  const { checker, text, worker } = part
  const how = part.needs.length === 0 ? "" : ", using the earlier answers"
  const subtask = `Answer only this part of the question${how}: ${text}`
  if (checker === undefined) return [{ worker, subtask, access }]
  const tried = Array.from({ length: attempts }, (_, index) => position + index)
  return [
    ...tried.map((_, index): Workflow.Step => ({ worker, subtask: `Attempt ${index + 1}. ${subtask}`, access })),
    {
      worker: checker,
      subtask: `Check the answers above to this part of the question: ${text}`,
      access: ascending([...access, ...tried])
    }
  ]
}

/** Returns, for each part, all parts that it depends on, directly or indirectly. */
const ancestors = (parts: ReadonlyArray<Part>): ReadonlyArray<ReadonlyArray<number>> => {
  const found: Array<ReadonlyArray<number>> = []
  for (const { needs } of parts) found.push(ascending(needs.flatMap((need) => [...found[need]!, need])))
  return found
}

const whole = (parts: ReadonlyArray<Part>): Workflow.Workflow => {
  const seen = ancestors(parts)
  const steps: Array<Workflow.Step> = []
  /** The step that answers each part. */
  const answeredBy: Array<number> = []
  parts.forEach((part, index) => {
    const access = ascending(seen[index]!.map((need) => answeredBy[need]!))
    steps.push(...stepsFor(part, access, steps.length))
    answeredBy.push(steps.length - 1)
  })
  const open = parts.flatMap((_, index) =>
    parts.some(({ needs }) => needs.includes(index)) ? [] : [answeredBy[index]!]
  )
  if (open.length < 2) return { steps }
  const subtask =
    "Above are the answers to the parts of the question. Put them together into one answer to the whole question, in the order in which it asks."
  return { steps: [...steps, { worker: parts.at(-1)!.worker, subtask, access: open }] }
}

/**
 * Merges the first part into the next one if both go to the same worker, no other part needs its answer, and the next
 * part needs nothing else that could run concurrently.
 */
const joined = (parts: ReadonlyArray<Part>): ReadonlyArray<Part> => {
  const before = ancestors(parts)
  const at = parts.findIndex(({ checker, worker }, index) => {
    const next = parts[index + 1]
    return (
      next?.worker === worker &&
      next.checker === checker &&
      next.needs.includes(index) &&
      next.needs.every((need) => need === index || before[index]!.includes(need)) &&
      !parts.some(({ needs }, later) => later > index + 1 && needs.includes(index))
    )
  })
  if (at < 0) return parts
  const [left, right] = [parts[at]!, parts[at + 1]!]
  const one: Part = {
    ...right,
    text: `${left.text} ${right.text}`,
    needs: ascending([...left.needs, ...right.needs.filter((need) => need !== at)])
  }
  const later = parts.slice(at + 2).map((part) => ({
    ...part,
    needs: ascending(part.needs.map((need) => (need > at ? need - 1 : need)))
  }))
  return joined([...parts.slice(0, at), one, ...later])
}

/**
 * Creates the workflow. Consecutive parts for the same worker become one step. If there are more than `maxSteps` steps,
 * the checks of the first parts are dropped, then all checks. If that is not enough, the worker of the last part gets
 * the whole question.
 */
export const make = (all: ReadonlyArray<Part>, maxSteps: number): Workflow.Workflow => {
  const parts = joined(all)
  if (parts.length === 1 && parts[0]!.checker === undefined) {
    return { steps: [{ worker: parts[0]!.worker, subtask: "", access: [] }] }
  }
  for (let unchecked = 0; unchecked <= parts.length; unchecked++) {
    const fewer = parts.map((part, index) => (index < unchecked ? { ...part, checker: undefined } : part))
    const workflow = whole(fewer)
    if (workflow.steps.length <= maxSteps) return workflow
  }
  return { steps: [{ worker: parts.at(-1)!.worker, subtask: "", access: [] }] }
}
