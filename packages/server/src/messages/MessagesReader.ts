/** Reads requests of Anthropic's Messages. */
import { isReadonlyArrayNonEmpty } from "effect/Array"
import * as Turns from "../turns/Turns.ts"
import { invalid } from "../wire/ApiError.ts"
import * as Choice from "../wire/Choice.ts"
import * as Content from "../wire/Content.ts"
import * as Json from "../wire/Json.ts"
import * as Preferences from "../wire/Preferences.ts"
import * as Reading from "../wire/Reading.ts"
import * as Shape from "../wire/Shape.ts"
import * as Tools from "../wire/Tools.ts"
import type { Request } from "../wire/Wire.ts"

// -------------------------------------------------------------------------------------------------------------------
// Messages
// -------------------------------------------------------------------------------------------------------------------

const messagesOf = (
  body: Json.JsonObject,
  reading: Reading.Reading,
  tools: ReadonlyArray<Tools.Offered>
): Request["messages"] => {
  const system = Content.textOf(body.system, "system", reading, "system")
  const [list, field] = Turns.listIn(body, ["messages", "input"])
  const said = Turns.read(list, field, "messages", reading, tools)
  if (!isReadonlyArrayNonEmpty(said)) throw invalid("messages", "messages must contain at least one message.")
  return system === "" ? said : [{ role: "system", content: system }, ...said]
}

/** The states of runs that blocks of thinking carry. */
const sealsIn = (messages: unknown): ReadonlyArray<string> =>
  (Array.isArray(messages) ? messages : [])
    .flatMap((message): ReadonlyArray<unknown> => (Array.isArray(message?.content) ? message.content : []))
    .flatMap((block) =>
      Json.isObject(block) && block.type === "redacted_thinking" && typeof block.data === "string" ? [block.data] : []
    )

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

/** Reads what both a message and a count of tokens begin with. Throws an `ApiError`. */
export const readCounted = (body: Json.JsonObject, headers: Choice.Headers): Request => {
  const reading = Reading.make(Reading.dotted)
  const model = Json.name(body.model, "model")
  const { toolChoice, tools } = Tools.read(body, reading)
  return {
    model,
    messages: messagesOf(body, reading, tools),
    tools: tools.map(({ definition }) => definition),
    toolChoice,
    parallelToolCalls: Preferences.parallelToolCalls(body, reading),
    output: Shape.read(body),
    settings: Preferences.read(body, reading, 1),
    choice: Choice.read(model, body, headers),
    seals: sealsIn(body.messages),
    // Blocks of thinking come back as they are, also from clients that show nothing of it.
    carriesState: Json.isObject(body.thinking) && body.thinking.type !== "disabled",
    isStreamed: Json.optional(body.stream, "stream", Json.flag) ?? false,
    notices: reading.notices
  }
}

/** Reads a request. `max_tokens` has to be there, as at Anthropic, by its name or by OpenAI's. Throws an `ApiError`. */
export const read = (body: Json.JsonObject, headers: Choice.Headers): Request => {
  if ((body.max_tokens ?? body.max_completion_tokens ?? body.max_output_tokens) == null) {
    Json.whole(1)(undefined, "max_tokens")
  }
  return readCounted(body, headers)
}
