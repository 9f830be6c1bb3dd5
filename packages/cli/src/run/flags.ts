/** Flags for `divisi run`. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { cost, journal, text, timeout, toggle } from "../invocation/flags.ts"
import { moreTeamFlags, teamFlags } from "../team/flags.ts"

export const flags = {
  ...teamFlags,
  question: Argument.String("question").pipe(
    Argument.withDescription("The question, or - for standard input"),
    Argument.variadic()
  ),
  file: Flag.String("file").pipe(
    Flag.withAlias("f"),
    Flag.withMetavar("<file>"),
    Flag.withDescription("Read the question from a file"),
    Flag.optional
  ),
  maxCost: cost("max-cost", "Maximum cost of the run, in USD (play money with the built-in demo team); never exceeded"),
  timeout: timeout("Maximum duration, e.g. 30s or 2m"),
  dryRun: toggle("dry-run", "Print the plan, a diagram of it and its estimated cost, without calling workers"),
  json: toggle("json", "Print the events of the run as JSON Lines"),
  quiet: toggle(
    "quiet",
    "Print only the answer; warnings still go to standard error. If there is no answer, the log of the run is printed there too"
  ),
  durable: toggle(
    "durable",
    "Store the run, so that it can be resumed after Ctrl-C, a crash or a restart. See `divisi runs`"
  ),
  runId: text(
    "run-id",
    "<id>",
    "Store the run under this id. If a run with this id and the same question exists, it is resumed or its result is printed"
  ),
  journal: journal.pipe(
    Flag.withDescription(
      "Store the run in this file. Default with --durable: DIVISI_RUNS, or runs.sqlite in your data folder"
    )
  ),
  transcript: text(
    "transcript",
    "<file>",
    "Write the transcript to a file for `divisi replay`, even if the run fails or is interrupted"
  ),
  ...moreTeamFlags
}

/** Parsed flags of `divisi run`. */
export type Input = Command.Command.Config.Infer<typeof flags>
