/** The schema of a config. It only checks: the config that is used is the one that was given. */
import * as RunSettings from "@divisi/core/RunSettings"
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
  ...RunSettings.fields,
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

/** Whether a value has settings. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Settings without those that are `undefined`, which are the same as absent ones. */
const present = (settings: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))

/** The config in the one form that the schema knows, where a setting may be given in several. */
const normalise = (config: unknown): unknown => {
  if (!isObject(config)) return config
  const { cache, policy, pool, ...settings } = config
  const groups = Object.entries(settings).map(([name, value]) =>
    ["budget", "worker", "retry"].includes(name) && isObject(value) ? [name, present(value)] : [name, value]
  )
  return present({
    ...Object.fromEntries(groups),
    cache: typeof cache === "string" && cache !== "" ? undefined : cache,
    pool: isObject(pool) && "workers" in pool ? pool.workers : pool,
    policy: typeof policy === "string" && policy !== "" ? undefined : policy
  })
}

/** Checks a config, whatever it is. */
export const decode = (config: unknown) => decodeConfig(normalise(config), { onExcessProperty: "error" })
