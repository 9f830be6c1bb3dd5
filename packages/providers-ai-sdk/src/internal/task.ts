/** Converts an AI SDK prompt to a task. Fails for a prompt that a task cannot represent; no part is dropped. */

import { InvalidPromptError, type LanguageModelV4Message, type LanguageModelV4Prompt } from "@ai-sdk/provider"
import type { Message } from "@divisi/core/Message"
import * as Task from "@divisi/core/Task"
import * as Arr from "effect/Array"

const invalid = (prompt: LanguageModelV4Prompt, message: string) => new InvalidPromptError({ prompt, message })

/**
 * Returns a turn. Turns that contain only reasoning are omitted, because a worker does not receive another worker's
 * reasoning.
 */
const turn = (prompt: LanguageModelV4Prompt, { content, role }: LanguageModelV4Message): ReadonlyArray<Message> => {
  if (role === "system") return [{ role, content }]
  if (role === "tool") throw invalid(prompt, "A Conductor does not accept tool results: remove them from the messages.")
  const texts = content.flatMap((part) => {
    if (part.type === "text") return [part.text]
    if (part.type === "reasoning") return []
    throw invalid(prompt, `A Conductor accepts only text, not a ${part.type} part in a message of the ${role}.`)
  })
  return texts.length === 0 ? [] : [{ role, content: texts.join("\n\n") }]
}

/** Returns the conversation as a task. */
export const taskOf = (prompt: LanguageModelV4Prompt): Task.Task => {
  const messages = prompt.flatMap((message) => turn(prompt, message))
  if (!Arr.isReadonlyArrayNonEmpty(messages) || messages.at(-1)?.role !== "user") {
    throw invalid(prompt, "The last message must have the role user: the team answers it.")
  }
  return Task.make({ messages })
}
