/** A conversation as data: its messages, and the run that produced each answer. */

import { Transcript } from "@divisi/core"
import type { Message } from "@divisi/core/Message"
import * as Task from "@divisi/core/Task"
import * as Format from "../view/Format.ts"
import { oneLine } from "../view/Line.ts"
import * as Totals from "../view/Totals.ts"

/** A conversation with its completed turns. */
export interface Conversation {
  /** Questions and answers of the answered turns, in order. */
  readonly messages: ReadonlyArray<Message>
  /** All runs, including stopped and failed ones, because these also cost money. */
  readonly runs: ReadonlyArray<Transcript.Transcript>
}

export const empty: Conversation = { messages: [], runs: [] }

/** Returns the messages to send for a turn: the conversation, followed by the question. */
export const asked = ({ messages }: Conversation, question: string): readonly [Message, ...Array<Message>] =>
  [...messages, { role: "user", content: question }] as never

/** Adds a turn to the conversation. A question without an answer is not added to the messages. */
export const after = (
  { messages, runs }: Conversation,
  question: string,
  run: Transcript.Transcript,
  answer: string | undefined
): Conversation => ({
  messages:
    answer === undefined
      ? messages
      : [...messages, { role: "user", content: question }, { role: "assistant", content: answer }],
  runs: [...runs, run]
})

/** Clears the messages but keeps the runs, so that the total cost remains correct. */
export const reset = ({ runs }: Conversation): Conversation => ({ messages: [], runs })

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, number) => total + number, 0)

/** Formats the totals, e.g. `2 turns · 5 calls · 1,204 tokens · $0.0031`. */
export const total = ({ runs }: Conversation): string => {
  const spends = runs.map(Transcript.spendSoFar)
  const unpriced = sum(spends.map(({ unpricedCalls }) => unpricedCalls))
  return [
    Format.count(runs.length, "turn"),
    Format.count(sum(spends.map(({ calls }) => calls)), "call"),
    Format.count(sum(spends.map(({ usage }) => usage.inputTokens + usage.outputTokens)), "token"),
    Format.cost(sum(spends.map(({ costUsd }) => costUsd))),
    ...(unpriced === 0 ? [] : [`${Format.count(unpriced, "call")} of unknown price`])
  ].join(" · ")
}

/** Formats the cost of each turn, followed by the totals. */
export const costs = (conversation: Conversation): ReadonlyArray<string> => [
  ...conversation.runs.map((run, index) => {
    const question = oneLine(Task.question(run.task))
    return `${String(index + 1).padStart(2)}. ${Totals.spent(run)}  ${question.length > 40 ? `${question.slice(0, 39)}…` : question}`
  }),
  total(conversation)
]

/** Formats the conversation as JSON for `/save`. */
export const saved = ({ messages, runs }: Conversation): string =>
  `${JSON.stringify({ version: 1, messages, runs }, undefined, 2)}\n`
