/** Converts tools, tool choice and output format to the fields of `generateContent`. */

import type { Tool } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import type { WorkerErrorReason, WorkerRequest } from "@divisi/core/Worker"
import * as Result from "effect/Result"
import { withLetter } from "../names.ts"
import type { Target } from "./request.ts"

interface FunctionDeclaration {
  readonly name: string
  readonly description?: string | undefined
  readonly parametersJsonSchema: Tool.JsonSchema
}

interface FunctionCallingConfig {
  readonly mode: "AUTO" | "ANY" | "NONE" | "VALIDATED"
  readonly allowedFunctionNames?: ReadonlyArray<string> | undefined
}

/** The output format of an answer. */
export interface Shape {
  readonly responseMimeType?: string | undefined
  readonly responseJsonSchema?: Tool.JsonSchema | undefined
}

/** The body fields for tools and output format. */
export interface Tooling {
  readonly tools?: ReadonlyArray<{ readonly functionDeclarations: ReadonlyArray<FunctionDeclaration> }> | undefined
  readonly toolConfig?: { readonly functionCallingConfig: FunctionCallingConfig } | undefined
  readonly shape: Shape
}

const declarationOf = ({ description, input, name }: Tool.ToolDefinition): FunctionDeclaration =>
  defined({ name: withLetter(name), description, parametersJsonSchema: input })

/**
 * Returns the function calling mode. Google enforces argument schemas only in the mode `VALIDATED`, for all functions
 * or none.
 */
const configOf = (choice: Tool.ToolChoice | undefined, isStrict: boolean): FunctionCallingConfig | undefined => {
  switch (choice) {
    case undefined:
    case "auto":
      return isStrict ? { mode: "VALIDATED" } : choice && { mode: "AUTO" }
    case "none":
      return { mode: "NONE" }
    case "required":
      return { mode: "ANY" }
    default:
      return { mode: "ANY", allowedFunctionNames: [withLetter(choice.name)] }
  }
}

const shapeOf = (output: Tool.OutputFormat | undefined): Shape => {
  if (output === undefined || output.type === "text") return {}
  const responseMimeType = "application/json"
  if (output.type === "json") return { responseMimeType }
  const { description, schema } = output
  return { responseMimeType, responseJsonSchema: defined({ description, ...schema }) }
}

const invalid = (detail: string) => Result.fail<WorkerErrorReason>({ _tag: "InvalidRequest", detail })

/** Returns the tools, tool choice and output format of a request, or the reason why the model does not support them. */
export const toolingOf = (request: WorkerRequest, target: Target): Result.Result<Tooling, WorkerErrorReason> => {
  const { capabilities, model, omitUnsupported, onNotice } = target
  const { output, parallelToolCalls, toolChoice, tools = [] } = request
  const shape = shapeOf(output)
  const isShaped = shape.responseMimeType !== undefined
  if (tools.length === 0) return Result.succeed({ shape })
  const isApart = isShaped && !capabilities.shapesWithTools
  // If the model accepts only one of the two, the tools are omitted, because they must not be called.
  if (isApart && toolChoice === "none") return Result.succeed({ shape })
  // Both are demands, so neither is omitted.
  if (isApart)
    return invalid(`output with tools: ${model} accepts only one of them; remove one, or use Gemini 3 or later`)
  if (parallelToolCalls === false) {
    const detail = `parallelToolCalls cannot be turned off: ${model} can always call several functions at once`
    if (!omitUnsupported) return invalid(detail)
    onNotice?.(`${detail}; it was left out`)
  }
  const functionCallingConfig = configOf(
    toolChoice,
    tools.some(({ strict }) => strict === true)
  )
  return Result.succeed({
    tools: [{ functionDeclarations: tools.map(declarationOf) }],
    toolConfig: functionCallingConfig && { functionCallingConfig },
    shape
  })
}
