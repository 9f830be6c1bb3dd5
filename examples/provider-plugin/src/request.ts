/**
 * From a worker's request to the body of a call. Pure, so that it can be read and tested without a server.
 *
 * Source: https://docs.ollama.com/api/chat.
 */
import * as Message from "@divisi/core/Message"
import type { Reasoning, WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import * as Result from "effect/Result"

/** What a request need not say. */
export interface Defaults {
  readonly maxOutputTokens?: number | undefined
  readonly temperature?: number | undefined
  readonly reasoning?: Reasoning | undefined
}

/** What is sent. Absent is what nobody has asked for. */
export interface Body {
  readonly model: string
  readonly messages: ReadonlyArray<Message.PlainMessage>
  readonly stream: true
  readonly think?: boolean | "low" | "medium" | "high" | undefined
  readonly options?: {
    readonly num_predict?: number | undefined
    readonly temperature?: number | undefined
    readonly seed?: number | undefined
    readonly stop?: ReadonlyArray<string> | undefined
  }
}

/** A setting that the vendor does not have must not be lost in silence: the error names it. */
const rejected = (detail: string) => Result.fail<WorkerErrorReason>({ _tag: "InvalidRequest", detail })

const thinkOf = (reasoning: Reasoning | undefined): Result.Result<Pick<Body, "think">, WorkerErrorReason> => {
  if (reasoning === undefined) return Result.succeed({})
  if (reasoning.type === "off") return Result.succeed({ think: false })
  if (reasoning.type === "budget") return rejected("reasoning: there is no budget in tokens, only low, medium and high")
  if (reasoning.effort === "minimal") return rejected("reasoning: the least effort is low")
  return Result.succeed({ think: reasoning.effort })
}

/** The body of a call, or why there is none. */
export const bodyOf = (
  model: string,
  defaults: Defaults,
  request: WorkerRequest
): Result.Result<Body, WorkerErrorReason> => {
  // JSON leaves out what is undefined.
  const options = {
    num_predict: request.maxOutputTokens ?? defaults.maxOutputTokens,
    temperature: request.temperature ?? defaults.temperature,
    seed: request.seed,
    stop: request.stopSequences
  }
  return Result.map(thinkOf(request.reasoning ?? defaults.reasoning), (think) => ({
    model,
    // The worker reads texts alone, as it claims no other capability.
    messages: request.messages.map(Message.plain),
    stream: true,
    ...think,
    options
  }))
}
