/** Flags for `divisi key`. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import { config as configFlag, cost, large, listOf, parseDay, text, toggle } from "../invocation/flags.ts"

/** The file that contains the keys. Also a flag of `divisi serve`. */
export const keys = text("keys", "<file>", "File of API keys (default: DIVISI_KEYS, or keys.json in your data folder)")

/** The database for keys and other shared data. Also a flag of `divisi serve`. */
export const database = Flag.Redacted("database").pipe(
  Flag.withMetavar("<url>"),
  Flag.withDescription(
    "Postgres database that stores the keys and their spending, e.g. postgres://user@host/name. Default: DIVISI_DATABASE, serve.database in the config, or files. The password can be set in PGPASSWORD"
  ),
  Flag.optional
)

/** `--config`, since the config may specify the database. */
const config = configFlag("Config that names the key database")

/** Creates a flag for names. An empty list, which would allow nothing, is rejected: often it is an unset variable. */
const names = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("<names>"),
    Flag.withDescription(description),
    Flag.map(listOf),
    Flag.filter(
      (found) => found.length > 0,
      () => "Expected names separated by commas, got none"
    ),
    Flag.optional
  )

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Parses a time span such as 12h or 30d to milliseconds. Returns `undefined` if it is invalid. */
const ahead = (text: string): number | undefined => {
  const match = /^([1-9]\d{0,5}) ?(m|h|d)$/.exec(text.trim())
  return match === null ? undefined : Number(match[1]) * units[match[2] as keyof typeof units]
}

const isShort = (most: number) => (text: string) => text.trim() !== "" && text.length <= most

const expectsShort = (most: number) => () => `Expected 1 to ${most} characters, not only spaces`

/** Creates a flag for text that will be stored. The text must not be blank, and its length is limited. */
const short = (name: string, most: number) => Flag.String(name).pipe(Flag.filter(isShort(most), expectsShort(most)))

/** Maximum length of the name of a key's owner, in characters. */
const maxNameCharacters = 200

/** Returns the flags for what a key may do, with the defaults of a new key or without them. */
const allowedFlags = (withDefaults: boolean) => {
  const unless = (text: string) => (withDefaults ? ` (default: ${text})` : "")
  return {
    workers: names("workers", `Workers this key may use, e.g. a,b${unless("all")}`),
    models: names("models", `Models this key may request, e.g. divisi,divisi-fast${unless("all")}`),
    rights: names(
      "rights",
      `Additional rights: rate (submit ratings as a grader or a check, with more weight than those of users), admin (see the runs of all keys)${unless("none")}`
    ),
    maxCostPerDay: cost("max-cost-per-day", "Maximum spending per UTC day, in USD; never exceeded"),
    maxCostPerMonth: cost("max-cost-per-month", "Maximum spending per UTC month, in USD; never exceeded"),
    maxCost: cost("max-cost", "Maximum total spending, in USD; never exceeded"),
    requestsPerMinute: large("requests-per-minute", 1).pipe(
      Flag.withDescription("Maximum number of requests per minute"),
      Flag.optional
    ),
    tokensPerMinute: large("tokens-per-minute", 1).pipe(
      Flag.withDescription("Maximum number of input and output tokens per minute"),
      Flag.optional
    ),
    expires: Flag.String("expires").pipe(
      Flag.filterMap(
        (text) => Option.fromUndefinedOr(ahead(text)),
        () => "Expected a duration such as 12h or 30d"
      ),
      Flag.withMetavar("<time>"),
      Flag.withDescription(`Lifetime of the key from now, e.g. 12h or 30d${unless("never expires")}`),
      Flag.optional
    )
  }
}

export const makeFlags = {
  name: Argument.String("name").pipe(
    Argument.withDescription("Name of the owner, e.g. alice, ci or the-wiki"),
    Argument.filter(isShort(maxNameCharacters), expectsShort(maxNameCharacters))
  ),
  ...allowedFlags(true),
  keys,
  database,
  config,
  json: toggle("json", "Print the key as JSON")
}

export const changeFlags = {
  id: Argument.String("id").pipe(Argument.withDescription("Id of a key, as shown by `divisi key list`")),
  name: short("name", maxNameCharacters).pipe(
    Flag.withMetavar("<name>"),
    Flag.withDescription("New name of the key (its owner)"),
    Flag.optional
  ),
  ...allowedFlags(false),
  remove: names("remove", "Limits to remove, by the names of their flags, e.g. max-cost,expires"),
  keys,
  database,
  config,
  json: toggle("json", "Print the key as JSON")
}

export const listFlags = { keys, database, config, json: toggle("json", "Print the keys as JSON") }

export const revokeFlags = {
  id: Argument.String("id").pipe(Argument.withDescription("Id of a key, as shown by `divisi key list`")),
  keys,
  database,
  config
}

/** Creates a flag for an amount in USD, which may be negative. */
const amount = (name: string, description: string) =>
  Flag.Finite(name).pipe(Flag.withMetavar("<usd>"), Flag.withDescription(description), Flag.optional)

export const adjustFlags = {
  key: Argument.String("id").pipe(Argument.withDescription("Id of a key, as shown by `divisi key list`")),
  by: amount("by", "Add this amount to the spending; negative for a credit: --by=-3.20"),
  to: cost("to", "Set the total spending to this amount"),
  reason: short("reason", 1_000).pipe(
    Flag.withMetavar("<text>"),
    Flag.withDescription("Reason, stored in the audit log")
  ),
  on: Flag.String("on").pipe(
    Flag.filterMap(
      (text) => Option.fromUndefinedOr(parseDay(text)),
      () => "Expected a UTC date, such as 2026-11-28"
    ),
    Flag.withMetavar("<day>"),
    Flag.withDescription("UTC date whose spending is corrected; its month changes too (default: today)"),
    Flag.optional
  ),
  once: short("once", 200).pipe(
    Flag.withMetavar("<name>"),
    Flag.withDescription(
      "Name that makes the adjustment safe to repeat (default: random). A different adjustment with the same name is an error"
    ),
    Flag.optional
  ),
  keys,
  database,
  config,
  json: toggle("json", "Print the adjustment as JSON")
}

export const auditFlags = {
  key: Argument.String("id").pipe(Argument.withDescription("Id of a key (default: all keys)"), Argument.optional),
  keys,
  database,
  config,
  json: toggle("json", "Print the adjustments as JSON")
}

export type AdjustInput = Command.Command.Config.Infer<typeof adjustFlags>
export type AuditInput = Command.Command.Config.Infer<typeof auditFlags>
export type ChangeInput = Command.Command.Config.Infer<typeof changeFlags>
export type MakeInput = Command.Command.Config.Infer<typeof makeFlags>
export type ListInput = Command.Command.Config.Infer<typeof listFlags>
export type RevokeInput = Command.Command.Config.Infer<typeof revokeFlags>
