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

/** The body of a call, with a notice for each preference that it changes or leaves out. */
export interface Call {
  readonly body: Body
  readonly notices: ReadonlyArray<string>
}

interface Thinking extends Pick<Body, "think"> {
  readonly notice?: string | undefined
}

const thinkOf = ({ preferences }: WorkerRequest, reasoning: Reasoning): Result.Result<Thinking, WorkerErrorReason> => {
  // A preference that the vendor does not have is never lost in silence: the error or a notice names it.
  const unsupported = (detail: string, nearest?: "low"): Result.Result<Thinking, WorkerErrorReason> =>
    preferences === "omit"
      ? Result.succeed({ think: nearest, notice: detail })
      : Result.fail({ _tag: "InvalidRequest", detail })
  if (reasoning.type === "off") return Result.succeed({ think: false })
  if (reasoning.type === "budget")
    return unsupported("reasoning: there is no budget in tokens, only low, medium and high")
  if (reasoning.effort === "minimal") return unsupported("reasoning: the least effort is low", "low")
  return Result.succeed({ think: reasoning.effort })
}

/** Returns the body of a call, or the reason why there is none. */
export const callOf = (
  model: string,
  defaults: Defaults,
  request: WorkerRequest
): Result.Result<Call, WorkerErrorReason> => {
  // JSON leaves out what is undefined.
  const options = {
    num_predict: request.maxOutputTokens ?? defaults.maxOutputTokens,
    temperature: request.temperature ?? defaults.temperature,
    seed: request.seed,
    stop: request.stopSequences
  }
  const reasoning = request.reasoning ?? defaults.reasoning
  const thinking = reasoning === undefined ? Result.succeed<Thinking>({}) : thinkOf(request, reasoning)
  return Result.map(thinking, ({ notice, think }) => ({
    body: {
      model,
      // The worker reads texts alone, as it claims no other capability.
      messages: request.messages.map(Message.plain),
      stream: true,
      think,
      options
    },
    notices: notice === undefined ? [] : [notice]
  }))
}
