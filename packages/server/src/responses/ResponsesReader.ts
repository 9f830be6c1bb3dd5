/** Parses requests to the Responses API. */
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
import * as CompactionItem from "./CompactionItem.ts"

/** Returns the run states embedded in reasoning items. */
const sealsIn = (input: unknown): ReadonlyArray<string> =>
  (Array.isArray(input) ? input : []).flatMap((item) =>
    Json.isObject(item) && item.type === "reasoning" && typeof item.encrypted_content === "string"
      ? [item.encrypted_content]
      : []
  )

/** Adds a notice if the client set `text.verbosity`, which is not supported. */
const noteVerbosity = (text: Json.JsonObject, reading: Reading.Reading) => {
  if (text.verbosity === undefined || text.verbosity === null || text.verbosity === "medium") return
  reading.notice("text.verbosity is not supported and was ignored.")
}

/** Parses a request body with a complete input, in steps. Throws an `ApiError` if it is invalid. */
export function* read(body: Json.JsonObject, headers: Choice.Headers): Steps<Request> {
  const reading = Reading.make(Reading.bracketed)
  const model = Json.name(body.model, "model")
  const { toolChoice, tools } = yield* Tools.read(body, reading)
  const text = Json.optional(body.text, "text", Json.object) ?? {}
  noteVerbosity(text, reading)
  const request: Request = {
    model,
    messages: yield* Turns.read(body, "responses", reading, tools),
    tools: Tools.definitionsOf(tools),
    toolChoice,
    parallelToolCalls: Preferences.parallelToolCalls(body, reading),
    output: Shape.read(body),
    settings: Preferences.read(body, reading, 2),
    choice: Choice.read(model, body, headers),
    seals: sealsIn(body.input),
    carriesState: Array.isArray(body.include) && body.include.includes("reasoning.encrypted_content"),
    isStreamed: Json.optional(body.stream, "stream", Json.flag) ?? false,
    isCommented: Choice.isCommented(body, headers),
    isTagged: Choice.isTagged(body, headers),
    notices: reading.notices,
    fieldNames: FieldNames.of(body, "max_output_tokens", "stop")
  }
  return CompactionItem.isTriggered(body.input) ? CompactionItem.summarizing(request) : request
}
