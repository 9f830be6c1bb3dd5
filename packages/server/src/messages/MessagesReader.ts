/** Parses requests to Anthropic's Messages API. */
import * as Turns from "../turns/Turns.ts"
import * as Choice from "../wire/Choice.ts"
import * as FieldNames from "../wire/FieldNames.ts"
import * as Json from "../wire/Json.ts"
import * as Preferences from "../wire/Preferences.ts"
import * as Reading from "../wire/Reading.ts"
import * as Shape from "../wire/Shape.ts"
import type { Steps } from "../wire/Steps.ts"
import * as Tools from "../wire/Tools.ts"
import type { Request } from "../wire/Wire.ts"

/** Returns the run states embedded in thinking blocks. */
const sealsIn = (messages: unknown): ReadonlyArray<string> =>
  (Array.isArray(messages) ? messages : [])
    .flatMap((message): ReadonlyArray<unknown> => (Array.isArray(message?.content) ? message.content : []))
    .flatMap((block) =>
      Json.isObject(block) && block.type === "redacted_thinking" && typeof block.data === "string" ? [block.data] : []
    )

/**
 * Parses a request body in steps. `max_tokens`, which Anthropic requires, is optional: without it, the workers' limits apply.
 * Throws an `ApiError` if the body is invalid.
 */
export function* read(body: Json.JsonObject, headers: Choice.Headers): Steps<Request> {
  const reading = Reading.make(Reading.dotted)
  const model = Json.name(body.model, "model")
  const { toolChoice, tools } = yield* Tools.read(body, reading)
  return {
    model,
    messages: yield* Turns.read(body, "messages", reading, tools),
    tools: Tools.definitionsOf(tools),
    toolChoice,
    parallelToolCalls: Preferences.parallelToolCalls(body, reading),
    output: Shape.read(body),
    settings: Preferences.read(body, reading, 1),
    choice: Choice.read(model, body, headers),
    seals: sealsIn(body.messages),
    // Clients return thinking blocks unchanged, even if they do not display them.
    carriesState: Json.isObject(body.thinking) && body.thinking.type !== "disabled",
    isStreamed: Json.optional(body.stream, "stream", Json.flag) ?? false,
    notices: reading.notices,
    fieldNames: FieldNames.of(body, "max_tokens", "stop_sequences")
  }
}
