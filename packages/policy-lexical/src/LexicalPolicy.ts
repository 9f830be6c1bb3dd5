/**
 * The lexical policy: plans from the wording of the question, without a model.
 *
 * It splits a question by its wording ("first ... then ...", numbered parts, references), assigns each part to the
 * worker whose description matches best by BM25, and passes each part the answers that it depends on. It is the
 * strongest baseline that needs neither a model nor training, and the fallback if there is no Conductor.
 */

import { Options as Tables, type Workflow } from "@divisi/core"
import * as Policy from "@divisi/core/Policy"
import * as Task from "@divisi/core/Task"
import type { Worker } from "@divisi/core/Worker"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import * as Bm25 from "./bm25.ts"
import * as Lexicon from "./lexicon.ts"
import { type Part, split } from "./questionParts.ts"

export { mentions, needsOf, type Part, split } from "./questionParts.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Options for the lexical policy. */
export interface Options {
  readonly name?: string | undefined
  /** Whether composite questions are split into parts. Default: `true`. */
  readonly split?: boolean | undefined
}

/** A part of a question with the worker that it is assigned to. */
interface Assigned extends Part {
  readonly worker: number
}

// -------------------------------------------------------------------------------------------------------------------
// Routing
// -------------------------------------------------------------------------------------------------------------------

/** Removes statements about weaknesses from a description, so that their words attract no questions. */
const strengths = (description: string): string =>
  description.replace(
    /\b(?:not|never|no good|except|without|weak|poor|bad|worse|struggles?|unreliable|unsure|cannot|can't|doesn't|avoid|less (?:able|at home|certain|confident|exact|good|reliable|skilled|strong|sure)|(?:careless|sloppy|hasty|inexact) (?:about|at|in|on|with))\b[^.;]*/gi,
    ""
  )

const countOf = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0

/**
 * Returns the ordinals of the workers, most general first: by words such as "general" in their descriptions, then by
 * length.
 */
const byGenerality = ({ workers }: WorkerPool): ReadonlyArray<number> => {
  const measures = workers.map(({ description = "" }) => [
    -countOf(description, /\b(?:careless|sloppy|unreliable|flaky|rough|often wrong|sometimes wrong|hasty|tiny)\b/gi),
    countOf(description, /\b(?:general\w*|all|any\w*|every\w*|broad\w*|wide|various|versatile|most|many)\b/gi),
    description.length
  ])
  const compare = (left: number, right: number) => {
    const at = measures[left]!.findIndex((measure, index) => measure !== measures[right]![index])
    return at < 0 ? left - right : measures[right]![at]! - measures[left]![at]!
  }
  return workers.map((_, ordinal) => ordinal).sort(compare)
}

/**
 * Scores how well each worker's description matches a text. The score is 0 without a common word, and has no upper
 * limit.
 */
export const matches = ({
  workers
}: {
  readonly workers: ReadonlyArray<Pick<Worker, "description">>
}): ((text: string) => ReadonlyArray<number>) => {
  const documents = workers.map(({ description = "" }) => Lexicon.terms(strengths(description)))
  return (text) => Bm25.scores(documents, Lexicon.query(text))
}

interface Router {
  readonly route: (text: string) => number
  readonly general: number
}

/**
 * Chooses a worker for a text: the best match, the more general one in a tie, and the most general one if nothing
 * matches. A failed worker is chosen again only if there is no other.
 */
const router = (pool: WorkerPool, failed: ReadonlyArray<number>): Router => {
  const matchesOf = matches(pool)
  const all = byGenerality(pool)
  const others = all.filter((ordinal) => !failed.includes(ordinal))
  const order = others.length === 0 ? all : others
  const route = (text: string) => {
    const scores = matchesOf(text)
    return order.reduce((best, ordinal) => (scores[ordinal]! > scores[best]! ? ordinal : best))
  }
  return { route, general: order[0]! }
}

// -------------------------------------------------------------------------------------------------------------------
// Planning
// -------------------------------------------------------------------------------------------------------------------

/** Merges the part at an index into the next one. */
const merge = (parts: ReadonlyArray<Assigned>, at: number): ReadonlyArray<Assigned> => {
  const [left, right] = [parts[at]!, parts[at + 1]!]
  const moved = (needs: ReadonlyArray<number>) => [...new Set(needs.map((need) => (need > at ? need - 1 : need)))]
  const joined: Assigned = {
    text: `${left.text} ${right.text}`,
    needs: [...new Set([...left.needs, ...right.needs.filter((need) => need !== at)])].sort((a, b) => a - b),
    worker: right.worker
  }
  return [...parts.slice(0, at), joined, ...parts.slice(at + 2).map((part) => ({ ...part, needs: moved(part.needs) }))]
}

/**
 * Merges a part into the preceding one if both are assigned to one worker and no other part needs the preceding one.
 */
const compact = (parts: ReadonlyArray<Assigned>): ReadonlyArray<Assigned> => {
  const at = parts.findIndex(({ worker }, index) => {
    const next = parts[index + 1]
    return (
      next?.worker === worker &&
      next.needs.includes(index) &&
      !parts.some((later, place) => place > index + 1 && later.needs.includes(index))
    )
  })
  return at < 0 ? parts : compact(merge(parts, at))
}

/** Returns, for each part, all parts that it depends on, directly or indirectly. */
const ancestors = (parts: ReadonlyArray<Part>): ReadonlyArray<ReadonlyArray<number>> => {
  const found: Array<ReadonlyArray<number>> = []
  for (const { needs } of parts) {
    found.push([...new Set(needs.flatMap((need) => [...found[need]!, need]))].sort((left, right) => left - right))
  }
  return found
}

/** Returns the parts that no later part depends on; their answers form the final answer. */
const leaves = (parts: ReadonlyArray<Part>): ReadonlyArray<number> =>
  parts.map((_, index) => index).filter((index) => !parts.some(({ needs }) => needs.includes(index)))

const subtask = ({ needs, text }: Part): string =>
  needs.length === 0
    ? `Answer only this part of the question: ${text}`
    : `Answer only this part of the question, using the earlier answers: ${text}`

const join =
  "Above are the answers to the parts of the question. Put them together into one answer to the whole question, in the order in which it asks."

const toWorkflow = (parts: ReadonlyArray<Assigned>, general: number): Workflow.Workflow => {
  const seen = ancestors(parts)
  const access = (indices: ReadonlyArray<number>, step: number): Workflow.Access =>
    step > 0 && indices.length === step ? "all" : indices
  const steps = parts.map(
    (part, index): Workflow.Step => ({
      worker: part.worker,
      subtask: subtask(part),
      access: access(seen[index]!, index)
    })
  )
  const open = leaves(parts)
  return open.length === 1
    ? { steps }
    : { steps: [...steps, { worker: general, subtask: join, access: access(open, steps.length) }] }
}

/** Maximum number of characters searched, because matching some texts takes quadratic time. */
const longestRead = 10_000

/** Returns the plan for a question; see {@link make}. */
const plan = ({ general, route }: Router, question: string, maxSteps: number, splits: boolean): Workflow.Workflow => {
  const single: Workflow.Workflow = {
    steps: [{ worker: route(question.slice(0, longestRead)), subtask: "", access: [] }]
  }
  if (!splits || question.length > longestRead) return single
  let parts = compact(split(question).map((part) => ({ ...part, worker: route(part.text) })))
  const apart = (part: Assigned) => part.needs.length === 0 && part.worker === parts[0]!.worker
  if (parts.every(apart)) return { steps: [{ ...single.steps[0]!, worker: parts[0]!.worker }] }
  let workflow = toWorkflow(parts, general)
  while (workflow.steps.length > maxSteps && parts.length > 1) {
    parts = merge(parts, parts.length - 2)
    workflow = parts.length === 1 ? single : toWorkflow(parts, general)
  }
  return workflow
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

const table = {
  name: Tables.name,
  split: Tables.flag
} satisfies Tables.ShapeOf<Options>

/**
 * Creates a lexical policy.
 *
 * **Details**
 *
 * A part is assigned to the worker whose description best matches its words and the subjects that they suggest. Text in
 * a description after "not", "weak at" and similar phrases is ignored. If nothing matches, or to combine independent
 * answers, the most general worker is used: determined by words such as "general" in the descriptions, then by their
 * length, then by order. Consecutive parts for one worker become one step, and a question without parts is one step, so
 * plans are as short as possible. After a critic's rejection, the plan is one step that revises the previous answer;
 * after failures, the failed workers are excluded.
 *
 * **Gotchas**
 *
 * Supports only English, and depends on good descriptions: without descriptions, all questions are assigned to the
 * first worker. A question longer than 10,000 characters is treated as a single step, and only its first 10,000
 * characters are used to choose the worker.
 *
 * **Example**
 *
 * ```ts
 * import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
 *
 * const policy = LexicalPolicy.make()
 * policy.name // => "lexical"
 * ```
 */
export const make = (options: Options = {}): Policy.Policy => {
  Tables.check("LexicalPolicy.make", options, table)
  return Policy.fixed(options.name ?? "lexical", (pool, task, { maxSteps, previous }) => {
    const found = router(pool, previous?.failed ?? [])
    return previous?.feedback === undefined
      ? plan(found, Task.question(task), maxSteps, options.split ?? true)
      : revise(found, previous.feedback)
  })
}

const revise = ({ general }: Router, feedback: string): Workflow.Workflow => ({
  steps: [
    {
      worker: general,
      subtask: `Above is the previous answer to the question. A reviewer said of it: ${feedback}\nGive a better answer.`,
      access: "all"
    }
  ]
})
