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

/** The most items of a step in a transcript or a page. */
export const mostItems = 100

/** The step whose items are returned. */
export const round: Parameter = { name: "round", description: "The round of the step, from 0", schema: wholeNumber }
export const step: Parameter = { name: "step", description: "The step, from 0", schema: wholeNumber }

/** How many items are returned. */
export const itemLimit: Parameter = {
  name: "limit",
  description: `Number of items (default and maximum ${mostItems})`,
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

/** A step of which only the first items are shown. */
export const MoreItems = Schema.Struct({
  /** The id of the run, or of the nested run. */
  run: Schema.String,
  round: Schema.Int,
  step: Schema.Int,
  shown: Schema.Int,
  total: Schema.Int
})

const moreItems = { more_items: Schema.optionalKey(Schema.Array(MoreItems)) }

/** A run with its transcript. */
export const WholeRun = Schema.Struct({ ...fields, transcript: Schema.optionalKey(Wire.Transcript), ...moreItems })

/** A page of the items of a step. */
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

const limits = Schema.Struct({
  day_usd: Schema.optionalKey(Schema.Finite),
  month_usd: Schema.optionalKey(Schema.Finite),
  total_usd: Schema.optionalKey(Schema.Finite),
  requests_per_minute: Schema.optionalKey(Schema.Finite),
  tokens_per_minute: Schema.optionalKey(Schema.Finite)
})

/** The state of the server for its operators. Times are in milliseconds since 1970. */
export const Operations = Schema.Struct({
  object: Schema.Literal("operations"),
  status: Schema.Literals(["ok", "draining"]),
  /** Active runs of this process. */
  running: Schema.Int,
  bytes_in_flight: Schema.Int,
  /** Providers that no call is sent to for a while. */
  closed: Schema.Array(
    Schema.Struct({
      provider: Schema.String,
      because: Schema.Literals(["rate-limited", "failing"]),
      until: Schema.Finite
    })
  ),
  /** null if this server has no store of keys. */
  keys: Schema.NullOr(
    Schema.Array(
      Schema.Struct({
        id: Schema.String,
        name: Schema.String,
        state: Schema.Literals(["valid", "expired", "revoked", "damaged"]),
        expires_at: Schema.NullOr(Schema.Finite),
        rights: Schema.Array(Schema.String),
        limits,
        /** USD of this day and month (UTC), and in all. */
        spent: Schema.Struct({ day_usd: Schema.Finite, month_usd: Schema.Finite, total_usd: Schema.Finite })
      })
    )
  ),
  /** The servers that share a database; null without one. */
  machines: Schema.NullOr(
    Schema.Array(
      Schema.Struct({
        name: Schema.String,
        state: Schema.Literals(["healthy", "draining", "unreachable"]),
        /** Runs in progress, if the database records them for this machine. */
        runs: Schema.NullOr(Schema.Int),
        /** How long ago it reported, in milliseconds; null for a process that does not report. */
        seen_millis: Schema.NullOr(Schema.Finite)
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
