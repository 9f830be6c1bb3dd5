/** The shapes of the server's own endpoints: what reads their parameters, types their answers, and describes both. */
import * as Wire from "@divisi/core/Wire"
import * as Schema from "effect/Schema"

/** A parameter of a path's query. */
export interface Parameter {
  readonly name: string
  readonly description: string
  readonly schema: Schema.Schema<number> & { readonly Type: number }
}

const wholeNumber = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** Number of runs listed by default. */
export const defaultLimit = 20

/** The most runs that are listed at once; a higher limit is read as this. */
export const mostListed = 100

/** How many runs are listed. */
export const limit: Parameter = {
  name: "limit",
  description: `Number of runs (default ${defaultLimit}, maximum ${mostListed})`,
  schema: wholeNumber
}

/** The number of the first event to return. */
export const from: Parameter = {
  name: "from",
  description: "The number of the first event, from 0; Last-Event-ID takes precedence",
  schema: wholeNumber
}

const fields = {
  id: Schema.String,
  object: Schema.Literal("run"),
  state: Schema.Union([Wire.Ending, Schema.Literals(["running", "waiting", "stopped", "damaged"])]),
  /** null if the server's setting `content` is "none". */
  question: Schema.NullOr(Schema.String),
  policy: Schema.String,
  workers: Schema.Array(Schema.String),
  /** Milliseconds since 1970. */
  started_at: Schema.Finite,
  changed_at: Schema.Finite,
  cost_usd: Schema.Finite,
  calls: Schema.Int,
  /** The id of the key that it belongs to; null for a run of the command line. */
  owner: Schema.NullOr(Schema.String),
  /** The tool calls that it waits for, in words. */
  waits_for: Schema.Array(Schema.String),
  /** Why its entry in the list cannot be read; its transcript may still be whole. */
  damaged: Schema.optionalKey(Schema.String)
}

/** A run in a list. */
export const Run = Schema.Struct(fields)

/** A run with all that happened in it. */
export const WholeRun = Schema.Struct({ ...fields, transcript: Schema.optionalKey(Wire.Transcript) })

/** A page of runs. */
export const Runs = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(Run),
  has_more: Schema.Boolean,
  last_id: Schema.NullOr(Schema.String)
})

/** State of the server. */
export const Health = Schema.Struct({
  status: Schema.Literals(["ok", "draining", "unavailable"]),
  /** Providers that no call is sent to for a while, and when one call tries again. */
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

/** An error, as OpenAI says it. */
export const Failure = Schema.Struct({
  error: Schema.Struct({
    message: Schema.String,
    type: Schema.String,
    param: Schema.NullOr(Schema.String),
    code: Schema.NullOr(Schema.String)
  })
})
