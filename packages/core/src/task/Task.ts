/**
 * Tasks: a question together with everything needed to answer it and to grade the answer.
 *
 * A task is plain data. Policies plan how to solve it, workers receive its messages, and graders compare answers with
 * its `reference`. A task does not prescribe how it is solved.
 */

import type { NonEmptyReadonlyArray } from "effect/Array"
import * as Hash from "effect/Hash"
import { defined, isRecord } from "../Fields.ts"
import { kindOf, OptionsError } from "../Options.ts"
import { type Content, type ContentInput, type Message, text, content as toContent } from "./Message.ts"

/** A question together with everything needed to answer and grade it. */
export interface Task {
  /** Stable id, unique within a set of tasks. */
  readonly id: string
  /** The conversation, ending with the question. The last message is a user message or a tool result. */
  readonly messages: NonEmptyReadonlyArray<Message>
  /** Reference answer for grading. Undefined if the task cannot be graded. */
  readonly reference?: string
  /** Additional JSON data about the task, such as family, difficulty or source. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** Accepted by {@link make}: a question, an object with task fields, or a complete task whose id may be omitted. */
export type Input =
  | ContentInput
  | {
      /** The question: text, or content parts such as images and files. */
      readonly question: ContentInput
      readonly id?: string | undefined
      readonly system?: string | undefined
      readonly reference?: string | undefined
      readonly metadata?: Readonly<Record<string, unknown>> | undefined
    }
  | (Omit<Task, "id"> & { readonly id?: string | undefined })

/**
 * Maximum number of characters to hash per text. Longer texts are sampled in pieces at regular intervals, so that a 20
 * MB image takes no longer than a page of text.
 */
const countedCharacters = 16_384

/** Number of pieces of a sample. */
const countedPieces = 256

const counted = (text: string): string => {
  if (text.length <= countedCharacters) return text
  const size = countedCharacters / countedPieces
  const step = (text.length - size) / (countedPieces - 1)
  let sample = ""
  for (let piece = 0; piece < countedPieces; piece++) {
    const at = Math.floor(piece * step)
    sample += text.slice(at, at + size)
  }
  return `${text.length} ${sample}`
}

const isShort = ({ content }: Message): boolean => typeof content === "string" && content.length <= countedCharacters

/** Maximum number of messages, parts or tool calls to hash at each end of a list. */
const countedItems = 100

const ends = (list: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  list.length > 2 * countedItems ? [...list.slice(0, countedItems), ...list.slice(-countedItems)] : list

const withoutLong = (_: string, value: unknown): unknown => {
  if (typeof value === "string") return counted(value)
  return Array.isArray(value) ? ends(value) : value
}

const idOf = (all: ReadonlyArray<Message>): string => {
  const messages = ends(all) as ReadonlyArray<Message>
  const isPlain = messages.every((message) => isShort(message) && !("toolCalls" in message))
  const json = isPlain ? JSON.stringify(messages) : JSON.stringify(messages, withoutLong)
  const text = messages === all ? json : `${all.length} ${json}`
  return `task-${(Hash.string(text) >>> 0).toString(16).padStart(8, "0")}`
}

/**
 * The forms of a task, for error messages.
 *
 * @internal
 */
export const forms = "a non-empty string, parts, { question, system }, or { messages: [{ role, content }] }"

const isContent = (input: unknown): input is ContentInput => typeof input === "string" || Array.isArray(input)

/**
 * Creates a task from a question.
 *
 * **Details**
 *
 * `id` defaults to a hash of the messages, so identical questions have identical ids. For each text, the hash covers
 * the length and up to 16,384 characters; of a longer conversation, it covers the first and the last 100 messages, and of
 * a longer message the first and the last 100 parts and tool calls.
 * Throws an `OptionsError` for any other value.
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
  const { messages: given, question } = (isRecord(input) ? input : {}) as Readonly<Record<string, unknown>>
  if (!isContent(question) && !Array.isArray(given)) {
    const detail = `a task must be ${forms}, not ${kindOf(input)}.`
    throw new OptionsError({ what: "Task.make", detail })
  }
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
 * Returns the content of the question, which is the last user message.
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
 * Returns the text of the question, without images and files.
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
