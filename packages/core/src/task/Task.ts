/**
 * A task: a question with the data needed to answer it and to grade the answer.
 *
 * A task is plain data. Policies plan for it, workers see its messages, graders compare an answer with its `reference`.
 * A task does not specify how it is solved.
 */

import type { NonEmptyReadonlyArray } from "effect/Array"
import * as Hash from "effect/Hash"
import { defined } from "../Fields.ts"
import { type Content, type ContentInput, type Message, text, content as toContent } from "./Message.ts"

/** A question with the data needed to answer and grade it. */
export interface Task {
  /** Stable and unique within a set of tasks. */
  readonly id: string
  /** The conversation that ends with the question. The last message is a user message or a tool result. */
  readonly messages: NonEmptyReadonlyArray<Message>
  /** The reference that a grader compares answers with. Absent if the task cannot be graded. */
  readonly reference?: string
  /** Additional data about the task (family, difficulty, source), as JSON values. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** The input of {@link make}: a question, the fields of a task, or a task, with or without an id. */
export type Input =
  | ContentInput
  | {
      /** The question: text, or parts with pictures and files. */
      readonly question: ContentInput
      readonly id?: string | undefined
      readonly system?: string | undefined
      readonly reference?: string | undefined
      readonly metadata?: Readonly<Record<string, unknown>> | undefined
    }
  | (Omit<Task, "id"> & { readonly id?: string | undefined })

/**
 * The number of characters of a longer text that are hashed, evenly spread, so that a picture of 20 MB takes no longer
 * than a page of text.
 */
const countedCharacters = 16_384

const counted = (text: string): string => {
  const step = text.length / countedCharacters
  if (step <= 1) return text
  let sample = ""
  for (let at = 0; at < countedCharacters; at++) sample += text[Math.floor(at * step)]
  return `${text.length} ${sample}`
}

const isShort = ({ content }: Message): boolean => typeof content === "string" && content.length <= countedCharacters

const withoutLong = (_: string, value: unknown): unknown => (typeof value === "string" ? counted(value) : value)

const idOf = (messages: ReadonlyArray<Message>): string => {
  const isPlain = messages.every((message) => isShort(message) && !("toolCalls" in message))
  const text = isPlain ? JSON.stringify(messages) : JSON.stringify(messages, withoutLong)
  return `task-${(Hash.string(text) >>> 0).toString(16).padStart(8, "0")}`
}

const isContent = (input: Input): input is ContentInput => typeof input === "string" || Array.isArray(input)

/**
 * Makes a task from a question.
 *
 * **Details**
 *
 * The default `id` is a hash of the messages, so equal questions have equal ids. The hash covers the length and up to
 * 16,384 characters of each text.
 *
 * **Example**
 *
 * ```ts
 * import * as Task from "@divisi/core/Task"
 *
 * const task = Task.make({ question: "What is 6 times 7?", reference: "42" })
 * task.messages // => [{ role: "user", content: "What is 6 times 7?" }]
 * ```
 */
export const make = (input: Input): Task => {
  if (isContent(input)) return make({ question: input })
  if ("messages" in input) return { ...input, id: input.id ?? idOf(input.messages) }
  const user: Message = { role: "user", content: toContent(input.question) }
  const messages: NonEmptyReadonlyArray<Message> =
    input.system === undefined ? [user] : [{ role: "system", content: input.system }, user]
  return defined({
    id: input.id ?? idOf(messages),
    messages,
    reference: input.reference,
    metadata: input.metadata
  })
}

/**
 * Returns the question: the content of the last user message.
 *
 * **Example**
 *
 * ```ts
 * import * as Task from "@divisi/core/Task"
 *
 * Task.content(Task.make("How long is a leap year?")) // => "How long is a leap year?"
 * ```
 */
export const content = (task: Task): Content =>
  task.messages.findLast((message) => message.role === "user")?.content ?? ""

/**
 * Returns the text of the question, without pictures and files.
 *
 * **Example**
 *
 * ```ts
 * import * as Task from "@divisi/core/Task"
 *
 * const task = Task.make([
 *   { type: "text", text: "What is this?" },
 *   { type: "image", url: "https://example.com/cat.png" }
 * ])
 * Task.question(task) // => "What is this?"
 * ```
 */
export const question = (task: Task): string => text(content(task))
