/**
 * Schemas for the server's own endpoints. They parse parameters, type the responses, and generate the OpenAPI document.
 */
import * as Wire from "@divisi/core/Wire"
import * as Schema from "effect/Schema"

/** A query parameter. */
export interface Parameter {
  readonly name: string
  readonly description: string
  readonly schema: Schema.Schema<number> & { readonly Type: number }
}

const wholeNumber = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** Number of runs listed by default. */
export const defaultLimit = 20

/** Maximum number of runs per page. Higher limits are reduced to this number. */
export const mostListed = 100

/** The query parameter for the number of runs per page. */
export const limit: Parameter = {
  name: "limit",
  description: `Number of runs (default ${defaultLimit}, maximum ${mostListed})`,
  schema: wholeNumber
}

/** Maximum number of items per step in a transcript, and per page. */
export const mostItems = 100

/** Query parameters that select the step whose items are returned. */
export const round: Parameter = { name: "round", description: "The round of the step, from 0", schema: wholeNumber }
export const step: Parameter = { name: "step", description: "The step, from 0", schema: wholeNumber }

/** The query parameter for the number of items per page. */
export const itemLimit: Parameter = {
  name: "limit",
  description: `Number of items (default and maximum ${mostItems})`,
  schema: wholeNumber
}

/** The query parameter for the number of the first event to return. */
export const from: Parameter = {
  name: "from",
  description: "The number of the first event, from 0; Last-Event-ID takes precedence",
  schema: wholeNumber
}

const fields = {
  id: Schema.String,
  object: Schema.Literal("run"),
  state: Schema.Union([Wire.Ending, Schema.Literals(["running", "waiting", "stopped", "damaged"])]),
  /** null if the server's `content` option is `"none"`. */
  question: Schema.NullOr(Schema.String),
  policy: Schema.String,
  /** Ids of the workers in the pool, whether they were called or not. */
  workers: Schema.Array(Schema.String),
  /** Milliseconds since 1970. */
  started_at: Schema.Finite,
  changed_at: Schema.Finite,
  cost_usd: Schema.Finite,
  /** Set if the cost is play money. */
  is_play: Schema.optionalKey(Schema.Boolean),
  /** Set if `cost_usd` does not include all calls, because a price is unknown. */
  is_unpriced: Schema.optionalKey(Schema.Boolean),
  calls: Schema.Int,
  /** Id of the key that owns the run; null for a run started from the command line. */
  owner: Schema.NullOr(Schema.String),
  /** Descriptions of the pending tool calls. */
  waits_for: Schema.Array(Schema.String),
  /** Id of the run that this run was forked from. */
  fork_of: Schema.optionalKey(Schema.String),
  /** Set if the run's list entry cannot be read: the reason. The transcript may still be intact. */
  damaged: Schema.optionalKey(Schema.String)
}

/** A run as returned in a list. */
export const Run = Schema.Struct(fields)

/** A step for which the transcript includes only the first items. */
export const MoreItems = Schema.Struct({
  /** Id of the run, or of the nested run, that contains the step. */
  run: Schema.String,
  round: Schema.Int,
  step: Schema.Int,
  shown: Schema.Int,
  total: Schema.Int
})

const moreItems = { more_items: Schema.optionalKey(Schema.Array(MoreItems)) }

/** A run with its transcript. */
export const WholeRun = Schema.Struct({ ...fields, transcript: Schema.optionalKey(Wire.Transcript), ...moreItems })

/** A page of a step's items. */
export const Items = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(Wire.StepRecord),
  has_more: Schema.Boolean,
  last_id: Schema.NullOr(Schema.String),
  total: Schema.Int,
  ...moreItems
})

/** A page of runs. */
export const Runs = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(Run),
  has_more: Schema.Boolean,
  last_id: Schema.NullOr(Schema.String)
})

/** Health status of the server. */
export const Health = Schema.Struct({
  status: Schema.Literals(["ok", "draining", "unavailable"]),
  /** Providers that are temporarily not called, with the time of the next trial call. */
  closed: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        provider: Schema.String,
        because: Schema.Literals(["rate-limited", "failing"]),
        until: Schema.String
      })
    )
  )
})

/** An error in OpenAI's format. */
export const Failure = Schema.Struct({
  error: Schema.Struct({
    message: Schema.String,
    type: Schema.String,
    param: Schema.NullOr(Schema.String),
    code: Schema.NullOr(Schema.String)
  })
})
