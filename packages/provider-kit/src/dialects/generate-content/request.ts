/** Converts a worker's request to a body of `generateContent`. */
import { defined } from "@divisi/core/Fields"
import type { WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import * as Result from "effect/Result"
import type { Capabilities } from "../../gemini/capabilities.ts"
import * as Json from "../../VendorJson.ts"
import { rulesOf, type Turn, turnsOf } from "./content.ts"
import { type ThinkingConfig, thinkingOf } from "./thinking.ts"
import { type Shape, type Tooling, toolingOf } from "./tools.ts"

/** The settings of one answer. */
export interface GenerationConfig extends Shape {
  readonly maxOutputTokens?: number | undefined
  readonly temperature?: number | undefined
  readonly seed?: number | undefined
  readonly stopSequences?: Array<string> | undefined
  readonly thinkingConfig?: ThinkingConfig | undefined
}

/** The body of a call. */
export interface Body extends Omit<Tooling, "shape"> {
  readonly contents: Array<Turn>
  readonly systemInstruction?: Turn | undefined
  readonly generationConfig: GenerationConfig
}

/** The model and settings that a request is converted for. */
export interface Target {
  readonly model: string
  readonly capabilities: Capabilities
  /** Whether unsupported settings are replaced or omitted instead of rejected. */
  readonly omitUnsupported: boolean
  /** Receives the names of fields that were replaced or omitted. */
  readonly onNotice?: ((notice: string) => void) | undefined
}

/** Source: https://ai.google.dev/api/generate-content#generationconfig, read in November 2026. */
const mostStopSequences = 5

/** Stop sequences are a demand, which is never left out: they decide where the answer ends. */
const stopSequencesOf = ({
  stopSequences = []
}: WorkerRequest): Result.Result<Array<string> | undefined, WorkerErrorReason> => {
  if (stopSequences.length > mostStopSequences) {
    const detail = `stopSequences: Google accepts at most ${mostStopSequences}; send fewer`
    return Result.fail({ _tag: "InvalidRequest", detail })
  }
  return Result.succeed(stopSequences.length === 0 ? undefined : [...stopSequences])
}

/** Returns the body of a streamed call, or the reason why the model does not support the request. */
export const toBody = (request: WorkerRequest, target: Target): Result.Result<Body, WorkerErrorReason> =>
  Result.gen(function* () {
    const stopSequences = yield* stopSequencesOf(request)
    const thinkingConfig = yield* thinkingOf(target, request.reasoning)
    const { shape, ...tooling } = yield* toolingOf(request, target)
    return {
      contents: turnsOf(request.messages, target),
      ...defined({ systemInstruction: rulesOf(request.messages), ...tooling }),
      generationConfig: defined({
        maxOutputTokens: request.maxOutputTokens,
        temperature: request.temperature,
        seed: request.seed,
        stopSequences,
        thinkingConfig,
        ...shape
      })
    }
  })

/** Adds the tools from the worker's own settings, such as Google Search, to the tools of a request. */
export const withTools = (body: Body, own: unknown): { readonly tools?: ReadonlyArray<unknown> } => {
  const tools = [...(body.tools ?? []), ...Json.items(own)]
  return tools.length === 0 ? {} : { tools }
}
