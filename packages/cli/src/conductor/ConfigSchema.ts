/** The schema of a config. It only checks: the config that is used is the one that was given. */
import * as Schema from "effect/Schema"

const Callable = Schema.declare(
  (value): value is (...args: ReadonlyArray<never>) => unknown => typeof value === "function",
  { identifier: "a function" }
)

const finite = (least: number) => {
  const message = `Expected a number of at least ${least}`
  return Schema.Finite.annotate({ message }).check(Schema.isGreaterThanOrEqualTo(least, { message }))
}

const whole = (least: number) => {
  const message = `Expected a whole number of at least ${least}`
  return Schema.Int.annotate({ message }).check(Schema.isGreaterThanOrEqualTo(least, { message }))
}

const Text = Schema.NonEmptyString.annotate({ message: "Expected a text" })

/** A struct that may have further properties: a value with methods, not a list of settings. */
const open = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Schema.Struct(fields), [Schema.Record(Schema.String, Schema.Unknown)])

const optional = Schema.optionalKey

const Worker = open({ id: Text, generate: Callable })

const Workers = Schema.Array(Worker)
  .annotate({ message: "Expected a pool, or an array of workers" })
  .check(Schema.isMinLength(1, { message: "Expected at least one worker" }))

const Config = Schema.Struct({
  pool: optional(Workers),
  policy: optional(
    open({ name: Text, propose: Callable }).annotate({ message: "Expected a policy, or the name of one" })
  ),
  maxSteps: optional(whole(1)),
  recursion: optional(whole(0)),
  self: optional(Schema.Struct({ maxDepth: whole(0) })),
  budget: optional(
    Schema.Struct({
      costUsd: optional(finite(0)),
      tokens: optional(whole(0)),
      calls: optional(whole(0)),
      durationMillis: optional(finite(0))
    })
  ),
  worker: optional(
    Schema.Struct({
      maxOutputTokens: optional(whole(1)),
      temperature: optional(finite(0)),
      reasoning: optional(open({ type: Schema.Literals(["effort", "budget", "off"]) })),
      timeoutMillis: optional(finite(0))
    })
  ),
  retry: optional(
    Schema.Struct({
      maxAttempts: optional(whole(1)),
      baseDelayMillis: optional(finite(0)),
      factor: optional(finite(1)),
      maxDelayMillis: optional(finite(0)),
      maxRetryAfterMillis: optional(finite(0)),
      jitter: optional(Schema.Boolean)
    })
  ),
  reassign: optional(Schema.Literals(["never", "next"])),
  onStepFailure: optional(Schema.Literals(["report", "end"])),
  skipUnseen: optional(Schema.Boolean),
  critic: optional(open({ name: Text, score: Callable })),
  threshold: optional(finite(0)),
  seed: optional(whole(0)),
  cache: optional(
    Schema.Struct({
      file: Text,
      maxEntries: optional(whole(0)),
      maxBytes: optional(whole(0)),
      timeToLive: optional(Schema.Unknown)
    }).annotate({ message: "Expected a file name, or an object of settings" })
  ),
  recipes: optional(Schema.Record(Schema.String, Callable)),
  limits: optional(
    Schema.Record(
      Schema.String,
      Schema.Struct({
        requestsPerMinute: optional(finite(1)),
        tokensPerMinute: optional(finite(1)),
        concurrency: optional(whole(1))
      })
    )
  )
}).annotate({ message: "Expected an object of settings" })

const decodeConfig = Schema.decodeUnknownResult(Config)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Settings without those that are `undefined`, which are the same as absent ones. */
const present = (settings: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))

/** The config in the one form that the schema knows, where a setting may be given in several. */
const normalise = (config: unknown): unknown => {
  if (!isObject(config)) return config
  const { cache, policy, pool, reassign, ...settings } = present(config)
  const groups = Object.entries(settings).map(([name, value]) =>
    ["budget", "worker", "retry"].includes(name) && isObject(value) ? [name, present(value)] : [name, value]
  )
  return {
    ...Object.fromEntries(groups),
    ...(cache === undefined || (typeof cache === "string" && cache !== "") ? {} : { cache }),
    ...(pool === undefined ? {} : { pool: isObject(pool) && "workers" in pool ? pool.workers : pool }),
    ...(policy === undefined || (typeof policy === "string" && policy !== "") ? {} : { policy }),
    ...(reassign === undefined || typeof reassign === "function" ? {} : { reassign })
  }
}

/** Checks a config, whatever it is. */
export const decode = (config: unknown) => decodeConfig(normalise(config), { onExcessProperty: "error" })
