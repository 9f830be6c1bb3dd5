/** What `divisi run` is asked for. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { cost, duration, seed, text, timeout, toggle, whole } from "../invocation/flags.ts"
import { conductorFlags, profiles, toolFlags } from "../team/flags.ts"

export const flags = {
  ...conductorFlags,
  question: Argument.String("question").pipe(
    Argument.withDescription("The question; - reads standard input"),
    Argument.variadic()
  ),
  file: Flag.String("file").pipe(
    Flag.withAlias("f"),
    Flag.withMetavar("<file>"),
    Flag.withDescription("Read the question from a file"),
    Flag.optional
  ),
  policy: text(
    "policy",
    "<name>",
    "The planner. Default: lexical in the gym, router for several models or known workers, otherwise the first chat model of the pool. conductor (reads descriptions), tiny (trained for the gym), router, learned or head (see `divisi learn`; router:half and router:within-2 cost less), single:<id>, best-single, random, best-of:<n>, self-consistency:<n>, self-reflection:<n>, moa, checked:<first>+<then>+<check> (schema:<file>, command:<command>, grader, or a worker that judges), agreed:<a>+<b>+<otherwise>, or a chat model: openai:gpt-5-mini, model:<id>"
  ),
  check: Flag.String("check").pipe(
    Flag.withMetavar("<name=check>"),
    Flag.withDescription(
      "A check that plans may use by this name: tests=command:<command>, form=schema:<file>, right=grader, or a worker that judges. With only one check, the router applies it to answers. Repeatable"
    ),
    Flag.atLeast(0)
  ),
  reassign: Flag.Literals("reassign", ["next", "never"]).pipe(
    Flag.withDescription(
      "Worker that takes over a failed step: the next of the pool (default), or never (default with --policy single:<id>)"
    ),
    Flag.optional
  ),
  profiles,
  seed,
  maxCost: cost("max-cost", "Maximum cost of the run in USD (in the gym, play money); never exceeded"),
  maxOutputTokens: whole("max-output-tokens", 1).pipe(
    Flag.withDescription("Maximum tokens of one answer, reasoning included (default the worker's own)"),
    Flag.optional
  ),
  timeout: timeout("Maximum duration: 30s, 2m"),
  silence: duration("silence", "Retry a call that sends nothing for so long: 20s (default a third of --timeout)"),
  ...toolFlags,
  json: toggle("json", "Print the run's events as lines of JSON"),
  durable: toggle("durable", "Store the run, to resume it after Ctrl-C, a crash or a restart: see `divisi runs`"),
  runId: text("run-id", "<id>", "Store the run under this id; a known one is resumed or shown again"),
  journal: text(
    "journal",
    "<file>",
    "The file of stored runs (default DIVISI_RUNS, or runs.sqlite in your data folder)"
  ),
  transcript: text(
    "transcript",
    "<file>",
    "Write the run to a file for `divisi replay`, also if it fails or is interrupted"
  )
}

/** What `divisi run` is asked for. */
export type Input = Command.Command.Config.Infer<typeof flags>
