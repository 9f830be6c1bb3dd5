/** Flags for `divisi runs` and its subcommands. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Struct from "effect/Struct"
import { age, choice, config, cost, journal, large, text, toggle, whole } from "../invocation/flags.ts"
import { flags as runFlags } from "../run/flags.ts"

/**
 * `--database`. The environment variable is ignored, because `run --durable` stores its runs in a file even if servers
 * use a database.
 */
const database = Flag.Redacted("database").pipe(
  Flag.withMetavar("<url>"),
  Flag.withDescription("Use the Postgres database of `divisi serve` instead of a file, e.g. postgres://user@host/name"),
  Flag.optional
)

/** Flags for resuming a run. The question and the seed come from the journal. */
const team = Struct.omit(runFlags, ["question", "file", "seed", "durable", "runId", "dryRun"])

const json = toggle("json", "Print JSON")

const id = Argument.String("id").pipe(Argument.withDescription("Id of a run, or an id prefix"))

export const states = [
  "answered",
  "budget",
  "refused",
  "failed",
  "interrupted",
  "running",
  "waiting",
  "stopped",
  "damaged"
] as const

export const listFlags = {
  state: choice("state", states).pipe(
    Flag.withDescription(
      "Only runs in this state. waiting: suspended until pending calls are approved or answered; stopped: by Ctrl-C, a signal or a crash; interrupted: cancelled on a server; damaged: unreadable"
    ),
    Flag.optional
  ),
  worker: text("worker", "<id>", "Only runs with this worker in their pool"),
  minCost: cost("min-cost", "Only runs that cost at least this much, in USD"),
  newerThan: age("newer-than", "Only runs changed within this time, e.g. 30m, 12h or 7d"),
  limit: whole("limit", 1).pipe(
    Flag.withDescription("Maximum number of runs to list (default 20)"),
    Flag.withDefault(20)
  ),
  json,
  journal,
  database
}

export const showFlags = { id, json: toggle("json", "Print the events as JSON Lines"), journal, database }

const file = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar("<file>"), Flag.withDescription(description))

export const reportFlags = {
  newerThan: age("newer-than", "Only runs changed within this time, e.g. 1h, 8h or 7d"),
  against: text(
    "against",
    "<model>",
    "Model to compare the cost with, e.g. openai:gpt-6.1-sol, or any name whose price is set with --price"
  ),
  price: runFlags.price,
  alone: file("alone", "Journal in which one worker did the same work").pipe(Flag.optional),
  title: Flag.String("title").pipe(
    Flag.withMetavar("<text>"),
    Flag.withDescription("Title of the page"),
    Flag.withDefault("Session")
  ),
  out: file("out", "Output file (default session.html)").pipe(Flag.withDefault("session.html")),
  json: toggle("json", "Print the figures as JSON instead of writing a page"),
  config: runFlags.config,
  journal,
  database
}

const ofCall = (name: string, what: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(what), Flag.withDescription(description), Flag.atLeast(0))

export const resumeFlags = {
  id,
  result: ofCall("result", "<call=text>", "Result of a pending call, by call id. Repeatable"),
  approve: ofCall("approve", "<names>", "Approve pending calls, by call id or tool name"),
  decline: ofCall("decline", "<call>", "Reject pending calls, by call id"),
  ...Struct.omit(team, ["approve"]),
  journal,
  database
}

export const forkFlags = {
  id,
  at: text(
    "at",
    "<step>",
    "Step to fork at, as round.step, counted from 0, e.g. 0.2. Also 0.2[1] for item 1 of a step that runs once per item, and 0.2/0.1 for step 0.1 of the run nested in step 0.2"
  ),
  answer: text("answer", "<text>", "Text to use as the step's answer, instead of calling a worker"),
  answerFile: text("answer-file", "<file>", "File with the text to use as the step's answer"),
  worker: text("worker", "<id>", "Worker for the step"),
  subtask: text("subtask", "<text>", "Subtask for the step"),
  plan: text("plan", "<file>", "File with the plan for the round, in the format that `divisi workflow` reads"),
  ...team,
  journal,
  database
}

export const compareFlags = {
  id,
  other: Argument.String("other").pipe(
    Argument.withDescription(
      "Id of the second run, or an id prefix. If omitted, the first run must be a fork and is compared with its original"
    ),
    Argument.optional
  ),
  json,
  journal,
  database
}

export const deleteFlags = {
  ids: Argument.String("id").pipe(Argument.withDescription("Ids of runs, or id prefixes"), Argument.variadic()),
  olderThan: age("older-than", "Delete runs that have not changed for this long, e.g. 30d"),
  maxMegabytes: large("max-megabytes", 0).pipe(
    Flag.withDescription("Delete the oldest runs until at most this many megabytes remain"),
    Flag.optional
  ),
  json,
  journal,
  database
}

export const purgeFlags = {
  keep: age("keep", "Retention period, e.g. 30d; older data is deleted (default: retention in the config)"),
  dryRun: toggle("dry-run", "Only count the data that would be deleted"),
  json,
  cache: runFlags.cache.pipe(Flag.withDescription("File of cached answers (default: cache in the config)")),
  config: config("Config that sets the retention period and where data is stored"),
  journal,
  database
}

export type PurgeInput = Command.Command.Config.Infer<typeof purgeFlags>
export type ListInput = Command.Command.Config.Infer<typeof listFlags>
export type ShowInput = Command.Command.Config.Infer<typeof showFlags>
export type ReportInput = Command.Command.Config.Infer<typeof reportFlags>
export type ResumeInput = Command.Command.Config.Infer<typeof resumeFlags>
export type ForkInput = Command.Command.Config.Infer<typeof forkFlags>
export type CompareInput = Command.Command.Config.Infer<typeof compareFlags>
export type DeleteInput = Command.Command.Config.Infer<typeof deleteFlags>
