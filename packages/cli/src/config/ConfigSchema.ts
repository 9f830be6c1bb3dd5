/**
 * Validates a config and describes its problems. The config is not transformed. Error messages never include string
 * values, because they may contain API keys.
 */

import { Check, Nearest, Options } from "@divisi/core"
import { isRecord } from "@divisi/core/Fields"
import * as RunSettings from "@divisi/core/RunSettings"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import type { Config } from "../config.ts"
import { parseAge } from "../invocation/flags.ts"
import * as Habits from "../invocation/Habits.ts"

// -------------------------------------------------------------------------------------------------------------------
// Schema
// -------------------------------------------------------------------------------------------------------------------

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

const Text = Schema.NonEmptyString.annotate({ message: "Expected a string" })

const ageMessage = 'Expected a duration such as "12h" or "30d"'

const Age = Schema.String.annotate({ message: ageMessage }).check(
  Schema.makeFilter((text) => parseAge(text) !== undefined || ageMessage)
)

/** A struct that allows additional properties, for values with methods instead of plain settings. */
const open = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Schema.Struct(fields), [Schema.Record(Schema.String, Schema.Unknown)])

const optional = Schema.optionalKey

const tokenPrices = {
  inputPerMillion: finite(0),
  outputPerMillion: finite(0),
  cachedInputPerMillion: Schema.optional(finite(0)),
  cacheWritePerMillion: Schema.optional(finite(0))
}

const Pricing = Schema.Struct({
  ...tokenPrices,
  longPrompts: Schema.optional(Schema.Struct({ ...tokenPrices, aboveTokens: finite(0) })),
  perCall: Schema.optional(finite(0)),
  source: Schema.optional(Schema.String),
  date: Schema.optional(Schema.String)
})

const Worker = open({ id: Text, generate: Callable, pricing: Schema.optional(Pricing) })

const Workers = Schema.Array(Worker)
  .annotate({ message: "Expected a pool or an array of workers" })
  .check(Schema.isMinLength(1, { message: "Expected at least one worker" }))

const Texts = Schema.Array(Text).annotate({ message: "Expected an array of strings" })

/** A string or `Redacted` secret. The schema does not read its value. */
const Secret = Schema.declare(
  (value): value is unknown => typeof value === "string" || Redacted.isRedacted(value)
).annotate({ message: "Expected a string" })

const Secrets = Schema.Record(Schema.String, Secret).annotate({ message: "Expected an object with string values" })

const isTextOrUrl = (value: unknown): value is string | URL =>
  (typeof value === "string" && value !== "") || value instanceof URL

const isChoice = (value: unknown): value is boolean | ReadonlyArray<string> =>
  typeof value === "boolean" || (Array.isArray(value) && value.every((name) => typeof name === "string"))

const McpServer = Schema.Struct({
  command: Schema.optional(Text),
  args: Schema.optional(Texts),
  env: Schema.optional(Secrets),
  cwd: Schema.optional(Text),
  url: Schema.optional(Schema.declare(isTextOrUrl).annotate({ message: "Expected a URL" })),
  headers: Schema.optional(Secrets),
  tools: Schema.optional(Texts),
  needsApproval: Schema.optional(
    Schema.declare(isChoice).annotate({ message: "Expected true, false, or an array of tool names" })
  ),
  timeoutMillis: Schema.optional(finite(0)),
  startMillis: Schema.optional(finite(0)),
  maxResultCharacters: Schema.optional(finite(0))
}).annotate({ message: "Expected an MCP server with a command or a url" })

const ConfigSchema = Schema.Struct({
  pool: optional(Workers),
  policy: optional(
    open({ name: Text, propose: Callable }).annotate({ message: "Expected a policy or the name of a policy" })
  ),
  ...RunSettings.fields,
  checks: optional(
    Schema.Record(
      Schema.String,
      Schema.declare(
        (value): value is Check.Check | string => Check.isCheck(value) || (typeof value === "string" && value !== "")
      ).annotate({ message: 'Expected a check, or a string such as "command:npm test"' })
    ).annotate({ message: "Expected an object of checks, keyed by name" })
  ),
  cache: optional(
    Schema.Struct({
      file: Text,
      maxEntries: optional(whole(0)),
      maxBytes: optional(whole(0)),
      timeToLive: optional(Schema.Unknown)
    }).annotate({ message: "Expected a file name or an object of settings" })
  ),
  prices: optional(
    Schema.Record(
      Schema.String,
      Schema.Union([Schema.Literal(0), Pricing]).annotate({
        message: "Expected 0, or an object with inputPerMillion and outputPerMillion"
      })
    )
  ),
  recipes: optional(Schema.Record(Schema.String, Callable)),
  retention: optional(Age),
  serve: optional(
    Schema.Struct({
      aliases: Schema.optional(
        Schema.Record(Schema.String, Text).annotate({ message: "Expected an object that maps aliases to models" })
      ),
      database: Schema.optional(Secret),
      fast: Schema.optional(Text),
      policies: Schema.optional(
        Schema.Array(Text).annotate({ message: 'Expected an array of policy names such as ["router:half"]' })
      ),
      origins: Schema.optional(
        Schema.Array(Text).annotate({ message: 'Expected an array of origins such as ["http://localhost:3000"]' })
      ),
      limits: Schema.optional(
        Schema.Struct({
          bodyBytes: optional(whole(1)),
          depth: optional(whole(1)),
          values: optional(whole(1)),
          plainBytes: optional(whole(1)),
          frameBytes: optional(whole(1)),
          textBytes: optional(whole(1)),
          mediaBytes: optional(whole(1)),
          inFlightBytes: optional(whole(1)),
          callerInFlightBytes: optional(whole(1))
        }).annotate({ message: "Expected an object of limits such as { bodyBytes: 1048576 }" })
      ),
      content: Schema.optional(Schema.Literals(["full", "none"]).annotate({ message: 'Expected "full" or "none"' })),
      housekeeping: Schema.optional(
        Schema.Literals(["fast", "as-asked"]).annotate({ message: 'Expected "fast" or "as-asked"' })
      )
    }).annotate({ message: "Expected an object of settings" })
  ),
  mcpServers: optional(
    Schema.Record(Schema.String, McpServer).annotate({ message: "Expected an object of MCP servers, keyed by name" })
  ),
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

const decodeConfig = Schema.decodeUnknownResult(ConfigSchema)

/** Removes settings with the value `undefined`, which are treated as omitted. */
const present = (settings: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))

/** Removes a worker's list price, which may contain additional fields and was validated by the worker's package. */
const withoutListPrice = (worker: unknown): unknown => {
  if (!isRecord(worker) || !isRecord(worker.pricing)) return worker
  const { date, model, source } = worker.pricing
  return [date, model, source].every((fact) => typeof fact === "string") ? { ...worker, pricing: undefined } : worker
}

/** Converts settings with several accepted forms to the form that the schema validates. */
const normalise = (config: unknown): unknown => {
  if (!isRecord(config)) return config
  const { cache, policy, pool, ...settings } = config
  const groups = Object.entries(settings).map(([name, value]) =>
    ["budget", "worker", "retry"].includes(name) && isRecord(value) ? [name, present(value)] : [name, value]
  )
  const workers = isRecord(pool) && "workers" in pool ? pool.workers : pool
  return present({
    ...Object.fromEntries(groups),
    cache: typeof cache === "string" && cache !== "" ? undefined : cache,
    pool: Array.isArray(workers) ? workers.map(withoutListPrice) : workers,
    policy: typeof policy === "string" && policy !== "" ? undefined : policy
  })
}

// -------------------------------------------------------------------------------------------------------------------
// Problems
// -------------------------------------------------------------------------------------------------------------------

const at = (value: unknown, keys: ReadonlyArray<PropertyKey>): unknown =>
  keys.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null ? (inner as Record<PropertyKey, unknown>)[key] : undefined,
    value
  )

const kindOf = (value: unknown): string => {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : "an array"
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  return `${typeof value === "object" ? "an" : "a"} ${typeof value}`
}

const pathText = (keys: ReadonlyArray<PropertyKey>): string =>
  keys.reduce<string>(
    (text, key) => (typeof key === "number" ? `${text}[${key}]` : text === "" ? String(key) : `${text}.${String(key)}`),
    ""
  )

/** Rewords a schema message for display. */
const sentence = (message: string) =>
  message
    .replace(/^Expected/, "expected")
    .replace(/^expected (string|number|boolean)$/, "expected a $1")
    .replace(/ (array|object)$/, " an $1")
    .replaceAll(" | ", " or ")

const keysOf = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  SchemaAST.isObjects(ast) ? ast.propertySignatures.map(({ name }) => String(name)) : []

/** Maps settings that users often put at the top level to their group. */
const elsewhere: ReadonlyMap<string, string> = new Map(
  (["budget", "worker", "retry"] as const).flatMap((group) =>
    keysOf(RunSettings.fields[group].ast).map((key) => [key, `${group}.${key}`] as const)
  )
)

/** Returns the setting that an unknown key probably refers to. */
const meantBy = (keys: ReadonlyArray<PropertyKey>, known: ReadonlyArray<string>): string | undefined => {
  const key = String(keys.at(-1))
  const moved = keys.length > 1 ? undefined : (elsewhere.get(key) ?? Habits.setting(key))
  if (moved !== undefined) return moved
  const here = Nearest.nearest(key, known)
  if (here !== undefined) return pathText([...keys.slice(0, -1), here])
  return keys.length > 1 ? undefined : elsewhere.get(Nearest.nearest(key, [...elsewhere.keys()]) ?? "")
}

const unexpected = "Expected no unknown property"

/** Formats validation issues. The message for an unknown key lists all known keys. */
const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) =>
    issue._tag === "UnexpectedKey" ? [unexpected, ...keysOf(issue.ast)].join("\n") : SchemaIssue.defaultLeafHook(issue)
})

/** Describes the first issue, prefixed with the path of the field. */
const explain = (config: unknown, issue: SchemaIssue.Issue): string => {
  const { message, path: segments = [] } = format(issue).issues[0]!
  const keys = segments.map((segment) => (typeof segment === "object" ? segment.key : segment))
  const field = keys.length === 0 ? "" : `${pathText(keys)}: `
  if (message === "Missing key") return `${field}required, but missing`
  if (message.startsWith(unexpected)) {
    const meant = meantBy(keys, message.split("\n").slice(1))
    if (meant !== undefined) return `${field}unknown setting (did you mean ${meant}?)`
    const available = keys.length === 1 ? "" : ` (available: ${message.split("\n").slice(1).join(", ")})`
    return `${field}unknown setting${available}`
  }
  const value = at(config, keys)
  // Durations and choices are not secrets, so the error shows them.
  const isHarmless = message === ageMessage || message.startsWith('Expected "')
  return `${field}${sentence(message)}, got ${isHarmless ? Options.kindOf(value) : kindOf(value)}`
}

/** Validates a value as a config. On failure, returns a description of the problem and its field. */
export const check = (config: unknown): Result.Result<Config, string> =>
  Result.mapBoth(decodeConfig(normalise(config), { onExcessProperty: "error" }), {
    onSuccess: () => config as Config,
    onFailure: ({ issue }) => explain(config, issue)
  })
