/** Workflows as they were written, early and late: one of each kind of task, drawn at random. */
import type { Workflow } from "@divisi/core/Workflow"
import * as Hash from "effect/Hash"
import type { CompletionRecord, GroupRecord, RolloutRecord } from "../RolloutRecord.ts"
import { excerpt } from "./Html.ts"

/** A completion, with as much of its texts as a page shows. */
export interface Sample {
  readonly kind: string
  readonly iteration: number
  readonly question: string
  readonly reference: string | undefined
  readonly completion: string
  readonly outcome: CompletionRecord["outcome"]
  readonly reward: number | undefined
  readonly detail: string | undefined
  readonly workflow: Workflow | undefined
  readonly workers: ReadonlyArray<string>
  readonly answer: string | undefined
}

/** Keeps one sample of each kind. */
export interface Recorder {
  readonly add: (record: RolloutRecord) => void
  readonly samples: () => ReadonlyMap<string, Sample>
}

const mostKinds = 24
const mostText = 4_000
const mostSubtask = 600

type Question = Pick<Sample, "question" | "reference">

const questionOf = ({ messages, reference }: GroupRecord): Question => ({
  question: excerpt(messages.findLast(({ role }) => role === "user")?.content ?? "", mostText),
  reference: reference === undefined ? undefined : excerpt(reference, mostSubtask)
})

const shorten = (workflow: Workflow): Workflow => ({
  ...workflow,
  steps: workflow.steps.map((step) => ({ ...step, subtask: excerpt(step.subtask, mostSubtask) }))
})

const sampleOf = (record: CompletionRecord, question: Question): Sample => ({
  ...question,
  kind: record.kind,
  iteration: record.iteration,
  completion: excerpt(record.completion, mostText),
  outcome: record.outcome,
  reward: record.reward,
  detail: record.detail === undefined ? undefined : excerpt(record.detail, mostSubtask),
  workflow: record.workflow === undefined ? undefined : shorten(record.workflow),
  workers: record.workers ?? [],
  answer: record.answer === undefined ? undefined : excerpt(record.answer, mostSubtask)
})

/** The same for the same rollout, and like a random number from one to the next. */
const draw = ({ group, iteration, kind, rollout }: CompletionRecord): number =>
  Hash.string(`${kind} ${iteration} ${group} ${rollout}`)

/** A recorder that draws among the first rounds of all that it hears of. */
export const recorder = (): Recorder => {
  const kept = new Map<string, { readonly drawn: number; readonly sample: Sample }>()
  let questions = new Map<number, Question>()
  let iteration = -1

  const addGroup = (record: GroupRecord): void => {
    // Questions are written before their rollouts, in the file of their iteration.
    if (record.iteration !== iteration) questions = new Map()
    iteration = record.iteration
    questions.set(record.group, questionOf(record))
  }

  const addCompletion = (record: CompletionRecord): void => {
    const question = questions.get(record.group)
    if (record.round !== 0 || question === undefined || record.iteration !== iteration) return
    const drawn = draw(record)
    const before = kept.get(record.kind)
    if (before === undefined ? kept.size < mostKinds : drawn > before.drawn) {
      kept.set(record.kind, { drawn, sample: sampleOf(record, question) })
    }
  }

  const add = (record: RolloutRecord): void => {
    if (record.type === "group") addGroup(record)
    else addCompletion(record)
  }

  return { add, samples: () => new Map([...kept].map(([kind, { sample }]) => [kind, sample])) }
}
