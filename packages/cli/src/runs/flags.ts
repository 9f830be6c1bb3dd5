/** What `divisi runs` and its commands are asked for. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Struct from "effect/Struct"
import { age, config, cost, text, toggle, whole } from "../invocation/flags.ts"
import { flags as runFlags } from "../run/flags.ts"

const { journal } = runFlags

/** Named each time: what `run --durable` keeps is in a file wherever servers keep theirs. */
const database = Flag.Redacted("database").pipe(
  Flag.withMetavar("<url>"),
  Flag.withDescription("The Postgres of several servers instead of a file: postgres://user@host/name"),
  Flag.optional
)

/** What a run is begun with again: its question and its seed come from the journal. */
const team = Struct.omit(runFlags, ["question", "file", "seed", "durable", "runId"])

const json = toggle("json", "Print it as JSON")

const id = Argument.String("id").pipe(Argument.withDescription("The id of a run, or a prefix"))

export const states = [
  "answered",
  "budget",
  "refused",
  "failed",
  "interrupted",
  "suspended",
  "running",
  "waiting",
  "stopped",
  "damaged"
] as const

export const listFlags = {
  state: Flag.Literals("state", states).pipe(
    Flag.withDescription("Only these states: answered, failed, …; waiting, stopped, running"),
    Flag.optional
  ),
  worker: text("worker", "<id>", "Only those with this worker in their pool"),
  minCost: cost("min-cost", "Only those that cost at least so many USD"),
  newerThan: age("newer-than", "Only those that were changed within this time: 30m, 12h, 7d"),
  limit: whole("limit", 1).pipe(Flag.withDescription("Maximum number of runs (default 20)"), Flag.withDefault(20)),
  json,
  journal,
  database
}

export const showFlags = { id, json: toggle("json", "Print its events as lines of JSON"), journal, database }

const file = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar("<file>"), Flag.withDescription(description))

export const reportFlags = {
  newerThan: age("newer-than", "Only runs that were changed within this time: 1h, 8h, 7d"),
  against: text(
    "against",
    "<model>",
    "Estimate the cost at the price of this model: openai:gpt-5, or any name with --price"
  ),
  price: runFlags.price,
  alone: file("alone", "A journal of the same work, done again by one worker").pipe(Flag.optional),
  title: Flag.String("title").pipe(Flag.withDescription("The title of the page"), Flag.withDefault("Session")),
  out: file("out", "The page (default session.html)").pipe(Flag.withDefault("session.html")),
  json: toggle("json", "Print the figures as JSON, and write no page"),
  config: runFlags.config,
  journal,
  database
}

const ofCall = (name: string, what: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(what), Flag.withDescription(description), Flag.atLeast(0))

export const resumeFlags = {
  ...team,
  id,
  result: ofCall("result", "<call=text>", "The result of a pending call, by the call's id; repeatable"),
  approve: ofCall("approve", "<names>", "Allow pending calls, by id, and tools, by name"),
  decline: ofCall("decline", "<call>", "Do not allow it"),
  journal,
  database
}

export const deleteFlags = {
  ids: Argument.String("id").pipe(Argument.withDescription("The ids of runs, or prefixes"), Argument.variadic()),
  olderThan: age("older-than", "Delete runs that have not changed for so long: 30d"),
  maxMegabytes: whole("max-megabytes", 0).pipe(
    Flag.withDescription("Delete the oldest until no more than so much is left"),
    Flag.optional
  ),
  json,
  journal,
  database
}

export const purgeFlags = {
  keep: age("keep", "Retention period; older content is removed: 30d (default retention of the config)"),
  dryRun: toggle("dry-run", "Only count what would be removed"),
  json,
  cache: runFlags.cache.pipe(Flag.withDescription("The file of cached answers (default cache of the config)")),
  config: config("The config whose retention, cache and database are used"),
  journal,
  database
}

export type PurgeInput = Command.Command.Config.Infer<typeof purgeFlags>
export type ListInput = Command.Command.Config.Infer<typeof listFlags>
export type ShowInput = Command.Command.Config.Infer<typeof showFlags>
export type ReportInput = Command.Command.Config.Infer<typeof reportFlags>
export type ResumeInput = Command.Command.Config.Infer<typeof resumeFlags>
export type DeleteInput = Command.Command.Config.Infer<typeof deleteFlags>
