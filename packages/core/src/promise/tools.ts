/** Helpers for defining tools as plain functions. */
import * as Effect from "effect/Effect"
import * as Options from "../Options.ts"
import type { Shape, TypeOf } from "../task/Shape.ts"
import { isName, nameRule, type Tool, type ToolCallContext } from "../task/Tool.ts"

/** Options for {@link tool}. */
export interface ToolOptions<S extends Shape> extends Omit<Tool<TypeOf<S>>, "input" | "execute"> {
  /** Schema for the tool's arguments: an Effect schema, a Standard Schema (zod, valibot, arktype), or JSON Schema. */
  readonly input: S
  /**
   * Executes the tool. `signal` is aborted when the run is stopped or the tool times out. Call `progress` with a string
   * or `{ progress, total, message }` to report progress.
   */
  readonly execute?:
    | ((input: TypeOf<S>, context: ToolCallContext & { readonly signal: AbortSignal }) => unknown)
    | undefined
}

/** Validates the options of a tool, with the option names of other libraries. */
// Marked as pure, so that a bundle that does not use it leaves it out.
const table = /* @__PURE__ */ (() =>
  Options.table(
    {
      name: Options.expects(`a name (${nameRule})`, isName),
      description: Options.text,
      input: Options.expects(
        "a schema",
        (value) => typeof value === "function" || (typeof value === "object" && value !== null)
      ),
      strict: Options.flag,
      execute: Options.aFunction,
      needsApproval: Options.either(Options.flag, Options.aFunction),
      isRepeatable: Options.flag,
      timeoutMillis: Options.limit,
      maxResultCharacters: Options.limit
    } satisfies Options.ShapeOf<ToolOptions<Shape>>,
    {
      required: ["name", "input"],
      called: Options.aliases({
        name: "id title toolName",
        description: "prompt system instructions docstring",
        input: "parameters inputSchema schema args params",
        execute: "run handler func fn call invoke coroutine onInvoke",
        needsApproval: "require approval confirm",
        timeoutMillis: "timeout",
        maxResultCharacters: "maxTokens",
        "execute: (input) => …": "messages"
      })
    }
  ))()

/**
 * Creates a tool from a function. Pass it to a run in `tools`.
 *
 * **Details**
 *
 * Strings and content parts are returned to the model unchanged; any other result is serialized as JSON. If the
 * function throws, the model receives the error message and the run continues. Arguments that do not match the schema
 * are rejected with a message to the model, without calling the function. Calls time out after one minute by default
 * (`timeoutMillis`). If `execute` is omitted, the run is suspended at the call; resume it with `result.resume`.
 *
 * **Example**
 *
 * ```ts
 * import { conduct, single, tool, worker } from "@divisi/core/promise"
 *
 * const weather = tool({
 *   name: "weather",
 *   description: "The weather of a city",
 *   input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
 *   execute: async ({ city }) => `It is sunny in ${city}.`
 * })
 * const forecaster = worker({
 *   id: "forecaster",
 *   capabilities: { tools: true },
 *   answer: ({ messages }) => {
 *     const last = messages.at(-1)
 *     return last?.role === "tool"
 *       ? `They say: ${last.content}`
 *       : { toolCalls: [{ name: "weather", arguments: { city: "Ulm" } }] }
 *   }
 * })
 * const options = { question: "Weather in Ulm?", pool: [forecaster], policy: single(0), tools: [weather] }
 * const { answer } = await conduct(options)
 * answer // => "They say: It is sunny in Ulm."
 * ```
 */
export const tool = <const S extends Shape>(options: ToolOptions<S>): Tool<TypeOf<S>> => {
  Options.check("tool", options, table)
  const { execute, ...about } = options
  return {
    ...about,
    input: about.input as Shape<TypeOf<S>>,
    execute:
      execute &&
      ((input, context) =>
        Effect.tryPromise({ try: async (signal) => execute(input, { ...context, signal }), catch: (error) => error }))
  }
}
