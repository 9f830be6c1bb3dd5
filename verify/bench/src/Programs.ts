/**
 * Programs: plans whose steps run for each item in a list, and panels that do not wait for the slowest expert. Every
 * contender composes the same messages, calls the same workers and must return the same answer.
 */
import { type Message, type Shown, work } from "./Workload.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A step that runs for each item, after the previous stage has finished for that item. */
interface Stage {
  /** The instruction. `{item}` is replaced by the item. */
  readonly subtask: string
  /** Latency in milliseconds by index of the item. If omitted, the worker answers immediately. */
  readonly latencyMillis?: (index: number) => number
}

/** A list of items, the stages for each of them, and a final step that joins the results. */
export interface Mapping {
  readonly question: string
  readonly items: ReadonlyArray<string>
  /** Maximum number of items processed concurrently. */
  readonly atOnce: number
  readonly stages: ReadonlyArray<Stage>
  readonly join: string
}

/** Experts that answer independently, and a judge that needs only some of their answers. */
export interface Panel {
  readonly question: string
  readonly experts: ReadonlyArray<{ readonly subtask: string; readonly latencyMillis: number }>
  readonly judge: string
  /** Number of experts that must have answered before the judge can start, and the delay after that. */
  readonly enough: number
  readonly graceMillis: number
}

type Worker = (messages: Shown) => Promise<string>

// -------------------------------------------------------------------------------------------------------------------
// Plans
// -------------------------------------------------------------------------------------------------------------------

const question = "Are the files of this folder in order?"

const files = (count: number) => Array.from({ length: count }, (_, index) => `file-${index}`)

/** Returns a mapping with one stage over many items, 16 at a time, whose workers answer immediately. */
export const wide = (count: number): Mapping => ({
  question,
  items: files(count),
  atOnce: 16,
  stages: [{ subtask: "Review {item}." }],
  join: "Sum up."
})

const quick = 10
const slow = 200

/** Two stages over 100 items, all at once. In each stage, one item in ten is slow. No item is slow in both. */
export const pipeline: Mapping = {
  question,
  items: files(100),
  atOnce: 100,
  stages: [
    { subtask: "Review {item}.", latencyMillis: (index) => (index % 10 === 0 ? slow : quick) },
    { subtask: "Is the review of {item} right?", latencyMillis: (index) => (index % 10 === 5 ? slow : quick) }
  ],
  join: "Sum up."
}

/** Duration of a pipeline in which no item waits for another one, in milliseconds. */
export const pipelineMillis = quick + slow

/** Five experts, one of which takes 3 s. The slowest of the others takes 250 ms. */
export const panel: Panel = {
  question: "Should we buy the bridge?",
  experts: [100, 3000, 150, 250, 200].map((latencyMillis, index) => ({
    subtask: `Answer as expert ${index}.`,
    latencyMillis
  })),
  judge: "Decide.",
  enough: 4,
  graceMillis: 25
}

/** Latency of the slowest expert that the judge needs, in milliseconds. */
export const panelMillis = panel.experts.map(({ latencyMillis }) => latencyMillis).sort((one, other) => one - other)[
  panel.enough - 1
]!

// -------------------------------------------------------------------------------------------------------------------
// Workers
// -------------------------------------------------------------------------------------------------------------------

const sleep = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis))

/** Returns the worker that lists the items as JSON. */
export const listWorker = ({ items }: Mapping): Worker => {
  const list = JSON.stringify(items)
  return async () => list
}

const indexIn = (messages: Shown): number => Number(/file-(\d+)/u.exec(String(messages.at(-1)!.content))![1])

export const stageWorker = ({ stages }: Mapping, stage: number): Worker => {
  const { latencyMillis } = stages[stage]!
  if (latencyMillis === undefined) return async (messages) => work(messages)
  return async (messages) => {
    await sleep(latencyMillis(indexIn(messages)))
    return work(messages)
  }
}

export const lastWorker: Worker = async (messages) => work(messages)

export const expertWorker = ({ experts }: Panel, expert: number): Worker => {
  const { latencyMillis } = experts[expert]!
  return async (messages) => {
    await sleep(latencyMillis)
    return work(messages)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Messages
// -------------------------------------------------------------------------------------------------------------------

const user = (content: string): Message => ({ role: "user", content })
const assistant = (content: string): Message => ({ role: "assistant", content })
const asked = (question: string, subtask: string) => user(`Question:\n${question}\n\nSubtask:\n${subtask}`)

/** Returns the messages for a stage and an item: the previous stage, if any, and the stage's subtask. */
export const stageMessages = (
  { question, stages }: Mapping,
  stage: number,
  item: string,
  before: string | undefined
): ReadonlyArray<Message> => {
  const subtaskOf = (at: number) => stages[at]!.subtask.replaceAll("{item}", item)
  const own = asked(question, subtaskOf(stage))
  return before === undefined ? [own] : [user(subtaskOf(stage - 1)), assistant(before), own]
}

/** Returns the messages for the step that joins the answers of the last stage, in item order. */
export const joinMessages = (
  { items, join, question, stages }: Mapping,
  answers: ReadonlyArray<string>
): ReadonlyArray<Message> => {
  const lines = items.map((item, index) => JSON.stringify({ item, answer: answers[index] }))
  return [
    user(stages.at(-1)!.subtask.replaceAll("{item}", "each item")),
    assistant(`[\n${lines.join(",\n")}\n]`),
    asked(question, join)
  ]
}

export const expertMessages = ({ experts, question }: Panel, expert: number): ReadonlyArray<Message> => [
  asked(question, experts[expert]!.subtask)
]

/** Returns the messages for the judge. An expert without an answer is shown as not run. */
export const judgeMessages = (
  { experts, judge, question }: Panel,
  answers: ReadonlyArray<string | undefined>
): ReadonlyArray<Message> => [
  ...experts.flatMap(({ subtask }, expert) => [
    user(subtask),
    assistant(answers[expert] ?? "This step was not run, so it has no answer.")
  ]),
  asked(question, judge)
]

// -------------------------------------------------------------------------------------------------------------------
// Answers
// -------------------------------------------------------------------------------------------------------------------

/** Returns the answer that a run of a mapping must produce. */
export const expectedOfMapping = (mapping: Mapping): string => {
  const answers = mapping.items.map((item) => {
    let answer: string | undefined
    for (let stage = 0; stage < mapping.stages.length; stage++)
      answer = work(stageMessages(mapping, stage, item, answer))
    return answer!
  })
  return work(joinMessages(mapping, answers))
}

/** Returns the answers that a run of a panel may produce: with or without its slowest expert. */
export const expectedOfPanel = (panel: Panel): ReadonlyArray<string> => {
  const answers = panel.experts.map((_, expert) => work(expertMessages(panel, expert)))
  const slowest = panel.experts.findIndex(({ latencyMillis }) => latencyMillis > panelMillis)
  return [answers, answers.map((answer, expert) => (expert === slowest ? undefined : answer))].map((given) =>
    work(judgeMessages(panel, given))
  )
}
