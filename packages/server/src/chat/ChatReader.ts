/** Parses Chat Completions requests. */
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

/** Parses a request body in steps. Throws an `ApiError` if it is invalid. */
export function* read(body: Json.JsonObject, headers: Choice.Headers): Steps<Request> {
  const reading = Reading.make(Reading.bracketed)
  const model = Json.name(body.model, "model")
  const { toolChoice, tools } = yield* Tools.read(body, reading)
  return {
    model,
    messages: yield* Turns.read(body, "chat", reading, tools),
    tools: Tools.definitionsOf(tools),
    toolChoice,
    // The legacy `functions` format allows only one call per answer.
    parallelToolCalls: Tools.isLegacy(body) ? false : Preferences.parallelToolCalls(body, reading),
    output: Shape.read(body),
    settings: Preferences.read(body, reading, 2),
    choice: Choice.read(model, body, headers),
    // Chat Completions has no messages that clients return verbatim, so there are no seals.
    seals: [],
    carriesState: false,
    isStreamed: Json.optional(body.stream, "stream", Json.flag) ?? false,
    notices: reading.notices,
    fieldNames: FieldNames.of(body, "max_tokens", "stop")
  }
}
