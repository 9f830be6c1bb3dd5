/**
 * `POST /v1/runs/{id}/resume`: continues a suspended, stopped or failed run, given the results of its pending calls.
 * The client does not send the history: the journal contains the question and the settings of the original request.
 */
import { Journal, type RunEvent, type Tool, Transcript } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Caller } from "../Caller.ts"
import * as ContentSetting from "../ContentSetting.ts"
import * as Asked from "../segment/Asked.ts"
import { ownerIn } from "../segment/Owner.ts"
import { ApiError, invalid } from "../wire/ApiError.ts"
import * as Choice from "../wire/Choice.ts"
import * as Json from "../wire/Json.ts"
import * as Steps from "../wire/Steps.ts"
import type { Request } from "../wire/Wire.ts"
import * as Background from "./Background.ts"
import * as Runs from "./Runs.ts"

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const given = Schema.Union([
  Schema.String,
  Schema.Struct({ approved: Schema.Boolean, reason: Schema.optionalKey(Schema.NullOr(Schema.String)) }),
  Schema.Struct({ content: Schema.String, is_error: Schema.optionalKey(Schema.NullOr(Schema.Boolean)) })
])

const fields = {
  results: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, given))),
  background: Background.field
}

/** The schema of the request body, for documentation. */
export const resumeSchema = Schema.Struct(fields)

const names = Object.keys(fields)

/** Maximum number of results per request, and maximum length of one result in characters. */
const maxResults = 1_000

const givenOf = (value: unknown, field: string): Tool.Given => {
  if (typeof value === "string") return value
  const object = Json.object(value, field)
  if (object.approved !== undefined) {
    Json.checkNames(object, ["approved", "reason"], field)
    const approved = Json.flag(object.approved, `${field}.approved`)
    return { approved, reason: Json.optional(object.reason, `${field}.reason`, Json.text) }
  }
  Json.checkNames(object, ["content", "is_error"], field)
  const content = Json.text(object.content, `${field}.content`)
  return Json.optional(object.is_error, `${field}.is_error`, Json.flag) === true
    ? { content, isError: true }
    : { content }
}

/**
 * Parses the tool results in a body. They must belong to calls that the run waits for, or waited for earlier: a client
 * that repeats a result receives the answer again. Throws an `ApiError` if a result is invalid.
 */
export const read = (
  body: Json.JsonObject,
  pending: ReadonlyArray<string>,
  earlier: ReadonlySet<string>
): Readonly<Record<string, Tool.Given>> => {
  Json.checkNames(body, names, "this request")
  const results = Object.entries(Json.optional(body.results, "results", Json.object) ?? {})
  if (results.length > maxResults) throw invalid("results", `results must have at most ${maxResults} entries.`)
  return Object.fromEntries(
    results.map(([id, value]) => {
      const field = `results["${id.slice(0, 64)}"]`
      if (!pending.includes(id) && !earlier.has(id)) {
        const known = pending.length === 0 ? "The run has no pending calls." : `Pending calls: ${pending.join(", ")}.`
        throw invalid("results", `${field} is not a pending call of the run. ${known}`)
      }
      return [id, givenOf(value, field)]
    })
  )
}

// -------------------------------------------------------------------------------------------------------------------
// The endpoint
// -------------------------------------------------------------------------------------------------------------------

/** A stored run to be resumed. */
interface Recalled {
  readonly resume: NonNullable<Request["resume"]>
  readonly messages: Request["messages"]
  readonly asked: Asked.Asked
  readonly pool: ReadonlyArray<string>
  readonly tools: ReadonlyArray<Tool.ToolDefinition>
}

/** Returns the ids of the pending calls in an event. */
const waitingIn = (event: RunEvent.RunEvent): ReadonlyArray<string> => {
  if (event.type === "plan-waiting") return [event.call.id]
  return event.type === "step-waiting" ? event.calls.map(({ id }) => id) : []
}

/**
 * Returns a tool definition with only a name. Schemas of the client's tools are part of the original request and are
 * not stored.
 */
const byName = (name: string): Tool.ToolDefinition => ({ name, description: "", input: { type: "object" } })

const owns =
  "Only the API key that owns a run can resume it. To continue from one of its steps in your own run, fork it."

const recall = Effect.fnUntraced(function* (
  { content, journal }: Background.Context,
  caller: Caller,
  id: string,
  body: Json.JsonObject
): Effect.fn.Return<Recalled, ApiError> {
  if (content === "none") return yield* ContentSetting.refused("Resuming runs")
  const events = yield* Runs.eventsOf(journal, caller, id)
  const [begun] = events
  const transcript = Transcript.fromEvents(events)
  if (begun?.type !== "run-started" || transcript === undefined) {
    return yield* invalid("id", `Run "${id}" has no recorded start.`)
  }
  if (ownerIn(begun) !== caller.owner) return yield* new ApiError({ kind: "permission", message: owns, field: "id" })
  const { ending } = transcript
  const earlier = new Set(events.flatMap(waitingIn))
  const results = yield* Steps.attempt(() =>
    read(
      body,
      Transcript.pendingCalls(transcript).map(({ id }) => id),
      earlier
    )
  )
  const isOver = ending !== undefined && ending !== "suspended" && Journal.isFinal(ending)
  if (isOver && Object.keys(results).length === 0) {
    return yield* invalid("id", `Run "${id}" has ended (${ending}). Fork it to continue from one of its steps.`)
  }
  const entries = yield* Effect.mapError(journal.read(id), Runs.unusable)
  const tools = entries.find((entry) => entry.type === "begun")?.tools ?? []
  return {
    resume: { runId: id, results },
    messages: begun.task.messages,
    asked: Asked.inTask(begun.task),
    pool: begun.pool.map(({ id }) => id),
    tools: tools.map(byName)
  }
})

const requestOf = ({ asked, messages, pool, resume, tools }: Recalled, headers: Choice.Headers): Request => {
  const { costUsd, model, output, policy, seed, settings } = asked
  const own = { only: pool, policy, seed, max_cost_usd: costUsd }
  return {
    model,
    resume,
    messages,
    tools,
    output,
    settings,
    choice: Choice.read(model, { divisi: own }, headers),
    isStreamed: false,
    seals: [],
    carriesState: false,
    notices: []
  }
}

/** Creates the endpoint `POST /v1/runs/{id}/resume`. */
export const make = (context: Background.Context) =>
  Background.endpoint(context, {
    name: "resume",
    recall: (caller, id, body) => recall(context, caller, id, body),
    read: (recalled, _, headers) => requestOf(recalled, headers)
  })
