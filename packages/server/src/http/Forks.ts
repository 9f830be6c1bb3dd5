/**
 * `POST /v1/runs/{id}/fork`: continues a run from one of its steps as a new run owned by the caller. Responds like Chat
 * Completions.
 */
import { Transcript } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Caller } from "../Caller.ts"
import * as ContentSetting from "../ContentSetting.ts"
import { type ApiError, invalid } from "../wire/ApiError.ts"
import * as Choice from "../wire/Choice.ts"
import * as Json from "../wire/Json.ts"
import * as Steps from "../wire/Steps.ts"
import type { Fork, Request } from "../wire/Wire.ts"
import * as Background from "./Background.ts"
import * as Runs from "./Runs.ts"

/** Dependencies of the fork endpoint. A fork needs a stored run, so it is unavailable with `content: "none"`. */
export type Context = Background.Context

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const optionalText = Schema.optionalKey(Schema.NullOr(Schema.String))

/** The fields of a fork that determine which steps run. */
export const cutFields = {
  at: Schema.String.check(Schema.isPattern(Transcript.placePattern)),
  answer: optionalText,
  worker: optionalText,
  subtask: optionalText,
  plan: optionalText
}

const fields = {
  ...cutFields,
  policy: optionalText,
  background: Background.field
}

/** The schema of the request body, for documentation. */
export const forkSchema = Schema.Struct(fields)

const names = Object.keys(fields)

const placeOf = (value: unknown, field: string): Fork["at"] => {
  const place = Transcript.readPlace(Json.text(value, field))
  if (place !== undefined) return place
  throw invalid(
    field,
    `${field} must have the form round.step, such as "0.2", "0.2[1]" for an item, or "0.2/0.1" for step 0.1 of the run nested in step 0.2.`
  )
}

const storable = (value: unknown, field: string): string => {
  const text = Json.text(value, field)
  if (text.includes("\0") || !text.isWellFormed()) {
    throw invalid(field, `${field} must be well-formed Unicode without NUL.`)
  }
  return text
}

/** Parses the body of a fork request. Throws an `ApiError` if it is invalid. */
export const read = (body: Json.JsonObject, runId: string): Fork => {
  Json.checkNames(body, names, "a fork")
  const worker = Json.optional(body.worker, "worker", Json.name)
  const subtask = Json.optional(body.subtask, "subtask", storable)
  return {
    runId,
    at: placeOf(body.at, "at"),
    answer: Json.optional(body.answer, "answer", storable),
    plan: Json.optional(body.plan, "plan", storable),
    change: { ...(worker !== undefined && { worker }), ...(subtask !== undefined && { subtask }) }
  }
}

// -------------------------------------------------------------------------------------------------------------------
// The endpoint
// -------------------------------------------------------------------------------------------------------------------

const requestOf = (
  fork: Fork,
  messages: Request["messages"],
  { policy }: Json.JsonObject,
  headers: Choice.Headers
): Request => ({
  model: "divisi",
  fork,
  messages,
  tools: [],
  settings: {},
  choice: Choice.read("divisi", { divisi: { policy } }, headers),
  isStreamed: false,
  seals: [],
  carriesState: false,
  notices: []
})

/** Parses the fork and loads the question of the original run. Fails if the caller may not read that run. */
const asked = Effect.fnUntraced(function* (
  { content, journal }: Context,
  caller: Caller,
  id: string,
  body: Json.JsonObject
): Effect.fn.Return<{ readonly fork: Fork; readonly messages: Request["messages"] }, ApiError> {
  if (content === "none") return yield* ContentSetting.refused("Forking runs")
  const fork = yield* Steps.attempt(() => read(body, id))
  const [begun] = yield* Runs.eventsOf(journal, caller, id)
  if (begun?.type !== "run-started") return yield* invalid("id", `Run "${id}" has no recorded start.`)
  return { fork, messages: begun.task.messages }
})

/** Creates the endpoint `POST /v1/runs/{id}/fork`. */
export const make = (context: Context) =>
  Background.endpoint(context, {
    name: "fork",
    recall: (caller, id, body) => asked(context, caller, id, body),
    read: ({ fork, messages }, body, headers) => requestOf(fork, messages, body, headers)
  })
