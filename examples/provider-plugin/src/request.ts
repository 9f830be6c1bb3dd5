/**
 * From a worker's request to the body of a call. Pure, so that it can be read and tested without a server.
 *
 * Source: https://docs.ollama.com/api/chat.
 */
import type { Message } from "@divisi/core/Task"
import type { Reasoning, WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import * as Result from "effect/Result"

/** What a request need not say. */
export interface Defaults {
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly reasoning?: Reasoning
}

/** What is sent. Absent is what nobody has asked for. */
export interface Body {
  readonly model: string
  readonly messages: ReadonlyArray<Message>
  readonly stream: true
  readonly think?: boolean | "low" | "medium" | "high"
  readonly options?: {
    readonly num_predict?: number
    readonly temperature?: number
    readonly seed?: number
    readonly stop?: ReadonlyArray<string>
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
  const maxOutputTokens = request.maxOutputTokens ?? defaults.maxOutputTokens
  const temperature = request.temperature ?? defaults.temperature
  const { seed, stopSequences } = request
  const options = {
    ...(maxOutputTokens === undefined ? {} : { num_predict: maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(seed === undefined ? {} : { seed }),
    ...(stopSequences === undefined ? {} : { stop: stopSequences })
  }
  return Result.map(thinkOf(request.reasoning ?? defaults.reasoning), (think) => ({
    model,
    messages: request.messages,
    stream: true,
    ...think,
    ...(Object.keys(options).length === 0 ? {} : { options })
  }))
}
