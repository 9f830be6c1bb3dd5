/** Converts a `LanguageModel` request to a task. Fails for parts that a task cannot represent; no part is dropped. */
import type { Message } from "@divisi/core/Message"
import * as Task from "@divisi/core/Task"
import * as Arr from "effect/Array"
import * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import * as Result from "effect/Result"

type Read<A> = Result.Result<A, AiError.InvalidRequestError>

const refuse = (parameter: string, description: string): Read<never> =>
  Result.fail(new AiError.InvalidRequestError({ parameter, description }))

/**
 * Returns the text of a turn. Turns that contain only reasoning are dropped, because a worker does not receive another
 * worker's reasoning.
 */
const turn = (message: Prompt.Message): Read<ReadonlyArray<Message>> => {
  if (message.role === "system") return Result.succeed([{ role: "system", content: message.content }])
  if (message.role === "tool") return refuse("prompt", "a Conductor does not accept tool results")
  const foreign = message.content.find(({ type }) => type !== "text" && type !== "reasoning")
  if (foreign !== undefined) return refuse("prompt", `a Conductor accepts only text, not a ${foreign.type} part`)
  const texts = message.content.flatMap((part) => (part.type === "text" ? [part.text] : []))
  return Result.succeed(texts.length === 0 ? [] : [{ role: message.role, content: texts.join("\n\n") }])
}

/** Returns the conversation as a task. */
export const taskOf = ({ prompt, responseFormat, tools }: LanguageModel.ProviderOptions): Read<Task.Task> => {
  if (tools.length > 0) return refuse("toolkit", "a Conductor asks its workers and calls no tools")
  if (responseFormat.type === "json") {
    return refuse("schema", "a Conductor answers with text; ask for JSON in the prompt and decode the text")
  }
  return Result.flatMap(Result.all(prompt.content.map(turn)), (turns) => {
    const messages = turns.flat()
    return Arr.isArrayNonEmpty(messages) && messages.at(-1)?.role === "user"
      ? Result.succeed(Task.make({ messages }))
      : refuse("prompt", "the last message must be the user's: it is what the team answers")
  })
}
