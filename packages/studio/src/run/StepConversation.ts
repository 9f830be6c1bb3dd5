/**
 * Reconstructs the messages sent to a step's worker from a transcript.
 *
 * It uses the same functions as core, so the displayed messages are exactly those that the worker received.
 */
import { type Message, StepMessages, StepViews, type Transcript } from "@divisi/core"

/** A message and its source. */
export interface SentMessage {
  readonly message: Message.Message
  /** Source for display: `Question`, `Step 2`, `Tool search`. */
  readonly from: string
}

/** Returns the answers that a step can access, and which of those steps failed. */
export const seenText = (access: "all" | ReadonlyArray<number>, failed: ReadonlyArray<number> = []): string => {
  if (access === "all") return "sees all steps before it"
  return access.length === 0
    ? "sees the question"
    : `sees ${access.length === 1 ? "step" : "steps"} ${access.map((step) => (failed.includes(step) ? `${step} (failed)` : step)).join(", ")}`
}

/** Returns the earlier rounds as seen by the steps of a round. */
const previousOf = ({ rounds }: Transcript.Transcript, round: number): StepMessages.WorkerView["previous"] => {
  const before = rounds.slice(0, round).map((past) => ({ past, answers: StepViews.fromRecord(past).answers }))
  const last = before.at(-1)
  if (last === undefined) return undefined
  const failed: StepMessages.StepAnswer = last.answers.at(-1) ?? { type: "failed", message: "" }
  return {
    answer: last.past.answer === undefined ? failed : { type: "answered", text: last.past.answer },
    rounds: before.map(({ answers, past }) => ({ workflow: past.workflow ?? { steps: [] }, answers, verdicts: [] }))
  }
}

const isFromCheck = ({ checks = [] }: Transcript.StepRecord, { error }: Transcript.TurnRecord): boolean =>
  checks.some(({ objection, passed }) => !passed && objection === error)

const resultOf = ({ content = "", isError }: Transcript.ToolRecord) =>
  isError === true ? { content, isError } : { content }

/** Returns the messages that a turn added before the step's next request. */
const addedBy = (step: Transcript.StepRecord, turn: Transcript.TurnRecord): ReadonlyArray<SentMessage> => {
  const { echo, error, text, tools } = turn
  if (tools.length > 0) {
    if (tools.some(({ endedAt }) => endedAt === undefined)) return []
    const calls = tools.map(({ call }) => call)
    const messages = StepMessages.toolTurnMessages({ text, calls, results: tools.map(resultOf), echo })
    return messages.map((message) => ({
      message,
      from: message.role === "tool" ? `Tool ${message.name}` : `${turn.worker}, turn ${turn.turn + 1}`
    }))
  }
  if (error === undefined || isFromCheck(step, turn)) return []
  return StepMessages.shapeCorrectionMessages(text, error).map((message, index) => ({
    message,
    from: index === 0 ? `${turn.worker}, turn ${turn.turn + 1}` : "Correction"
  }))
}

const sameMessage = (left: Message.Message | undefined, right: Message.Message | undefined): boolean =>
  JSON.stringify(left) === JSON.stringify(right)

/**
 * Returns the sources of the initial messages: the conversation, each accessible step (twice, because it has two
 * messages), and the question.
 */
const labelsOf = (
  { task }: Transcript.Transcript,
  messages: ReadonlyArray<Message.Message>,
  seen: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const at = task.messages.findLastIndex(({ role }) => role === "user")
  const before = task.messages.slice(0, at).map(({ role }) => (role === "user" ? "Earlier turn" : role))
  const pairs = messages.length - before.length - (task.messages.length - at)
  const labels = Array.from({ length: pairs }, (_, index) => seen[Math.floor(index / 2)] ?? "Before")
  return [...before, ...labels, "Question", ...task.messages.slice(at + 1).map(() => "Conversation")]
}

/** Returns the source names for a step, in message order. */
const seenBy = (
  round: Transcript.RoundRecord,
  step: number,
  hasPrevious: boolean,
  isHidden: (step: number) => boolean = () => false
): ReadonlyArray<string> => {
  const { access = [], earlier = [] } = round.workflow?.steps[step] ?? {}
  const previous = hasPrevious && access === "all" ? ["Previous answer"] : []
  const past = earlier
    .toSorted((one, other) => one.round - other.round || one.step - other.step)
    .map((place) => `Round ${place.round}, step ${place.step}`)
  const visible =
    access === "all" ? Array.from({ length: step }, (_, index) => index) : access.toSorted((a, b) => a - b)
  return [...previous, ...past, ...visible.filter((index) => !isHidden(index)).map((index) => `Step ${index}`)]
}

/**
 * Returns the first messages of a step or item, without those of later turns. Empty if the round has no plan, or if the
 * step runs for items and no item is given.
 */
const firstMessages = (
  transcript: Transcript.Transcript,
  round: number,
  step: number,
  item?: string
): ReadonlyArray<SentMessage> => {
  const record = transcript.rounds[round]
  if (record?.workflow?.steps[step] === undefined) return []
  const seen = StepViews.fromRecord(record).viewOf(step, item)
  if (seen === undefined) return []
  const previous = previousOf(transcript, round)
  const view = { ...seen, task: transcript.task, workflow: record.workflow, step }
  const messages = StepMessages.workerMessages(previous === undefined ? view : { ...view, previous })
  const labels = labelsOf(transcript, messages, seenBy(record, step, previous !== undefined, seen.isHidden))
  return messages.map((message, index) => ({ message, from: labels[index] ?? "" }))
}

/**
 * Returns the messages of the last request of a step or item: the first ones and those of its finished turns. Empty if
 * `firstMessages` is empty.
 */
export const sentMessages = (
  transcript: Transcript.Transcript,
  round: number,
  step: number,
  item?: string
): ReadonlyArray<SentMessage> => {
  const whole = transcript.rounds[round]?.steps[step]
  const record = item === undefined ? whole : whole?.items?.find((one) => one.item === item)
  const first = firstMessages(transcript, round, step, item)
  if (record === undefined || first.length === 0) return first
  const turns = record.turns ?? []
  const later = turns.flatMap((turn) => addedBy(record, turn))
  return later.length > 0 && sameMessage(later[0]?.message, first.at(-1)?.message) ? first : [...first, ...later]
}
