/** Converts a worker's request to the body of a `generateContent` request. */
import { defined } from "@divisi/core/Fields"
import type { WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import * as Result from "effect/Result"
import type { Capabilities } from "../../gemini/capabilities.ts"
import * as Json from "../../VendorJson.ts"
import { rulesOf, type Turn, turnsOf } from "./content.ts"
import { type ThinkingConfig, thinkingOf } from "./thinking.ts"
import { type Shape, type Tooling, toolingOf } from "./tools.ts"

/** The generation settings for one answer. */
export interface GenerationConfig extends Shape {
  readonly maxOutputTokens?: number | undefined
  readonly temperature?: number | undefined
  readonly seed?: number | undefined
  readonly stopSequences?: Array<string> | undefined
  readonly thinkingConfig?: ThinkingConfig | undefined
}

/** The body of a `generateContent` request. */
export interface Body extends Omit<Tooling, "shape"> {
  readonly contents: Array<Turn>
  readonly systemInstruction?: Turn | undefined
  readonly generationConfig: GenerationConfig
}

/** The model and settings for which a request is converted. */
export interface Target {
  readonly model: string
  readonly capabilities: Capabilities
  /** Whether unsupported settings are replaced or omitted instead of failing the request. */
  readonly omitUnsupported: boolean
  /** Called with the name of each field that was replaced or omitted. */
  readonly onNotice?: ((notice: string) => void) | undefined
}

/** Source: https://ai.google.dev/api/generate-content#generationconfig, read in November 2026. */
const mostStopSequences = 5

/**
 * Returns the stop sequences. They are a demand, because they decide where the answer ends, so they are never omitted.
 */
const stopSequencesOf = ({
  stopSequences = []
}: WorkerRequest): Result.Result<Array<string> | undefined, WorkerErrorReason> => {
  if (stopSequences.length > mostStopSequences) {
    const detail = `stopSequences: Google accepts at most ${mostStopSequences}; send fewer`
    return Result.fail({ _tag: "InvalidRequest", detail })
  }
  return Result.succeed(stopSequences.length === 0 ? undefined : [...stopSequences])
}

/**
 * Returns the body for a streamed call, or the reason why the model does not support the request.
 *
 * @internal
 */
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

/** Adds the tools from the worker's own settings, such as Google Search, to the tools in a request. */
export const withTools = (body: Body, own: unknown): { readonly tools?: ReadonlyArray<unknown> } => {
  const tools = [...(body.tools ?? []), ...Json.items(own)]
  return tools.length === 0 ? {} : { tools }
}
