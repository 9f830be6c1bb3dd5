/** Flags for `divisi run`. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { cost, duration, seed, text, timeout, toggle, whole } from "../invocation/flags.ts"
import { conductorFlags, profiles, toolFlags } from "../team/flags.ts"

export const flags = {
  ...conductorFlags,
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
  policy: text(
    "policy",
    "<name>",
    "Policy that plans the run, e.g. lexical, single:<id> or openai:gpt-5-mini. Default: with one model, it answers; with several models, the strongest one answers; with other workers in the pool, the strongest model plans; in the gym, lexical; after `divisi learn`, router. A chat model (openai:gpt-5-mini, model:<id>) writes the plan itself. Others: conductor (reads descriptions), tiny (trained for the gym), router, learned, head (router:half and router:within-2 cost less), single:<id>, best-single, random, best-of:<n>, self-consistency:<n>, self-reflection:<n>, moa, checked:<first>+<then>+<check> (check: schema:<file>, command:<command>, grader, or a judge worker), agreed:<a>+<b>+<otherwise>"
  ),
  check: Flag.String("check").pipe(
    Flag.withMetavar("<name=check>"),
    Flag.withDescription(
      "Check that plans can use, e.g. tests=command:<command>, form=schema:<file> or right=grader. <name>=<id> uses a worker as a judge. If there is only one check, the router applies it to answers. Repeatable"
    ),
    Flag.atLeast(0)
  ),
  reassign: Flag.Literals("reassign", ["next", "never"]).pipe(
    Flag.withDescription(
      "Which worker takes over a failed step: the next one in the pool, or never another one. Default: next; with --policy single:<id>, never"
    ),
    Flag.optional
  ),
  profiles,
  seed,
  maxCost: cost("max-cost", "Maximum cost of the run, in USD (play money in the gym); never exceeded"),
  maxOutputTokens: whole("max-output-tokens", 1).pipe(
    Flag.withDescription("Maximum tokens per answer, including reasoning (default: the worker's limit)"),
    Flag.optional
  ),
  timeout: timeout("Maximum duration, e.g. 30s or 2m"),
  silence: duration(
    "silence",
    "Retry a call that sends no output for this long, e.g. 20s (default: a third of --timeout)"
  ),
  ...toolFlags,
  approvePlans: toggle(
    "approve-plans",
    "Show each plan with its price, and ask before it runs. Without a terminal, the run is suspended"
  ),
  dryRun: toggle("dry-run", "Print the plan with its price and shape, without calling workers"),
  json: toggle("json", "Print the events of the run as JSON Lines"),
  quiet: toggle("quiet", "Print only the answer. Without an answer, the reason is printed to standard error"),
  durable: toggle(
    "durable",
    "Store the run, so that it can be resumed after Ctrl-C, a crash or a restart. See `divisi runs`"
  ),
  runId: text(
    "run-id",
    "<id>",
    "Store the run under this id. If the id exists, that run is resumed or its result printed"
  ),
  journal: text(
    "journal",
    "<file>",
    "File where runs are stored (default: DIVISI_RUNS, or runs.sqlite in your data folder)"
  ),
  transcript: text(
    "transcript",
    "<file>",
    "Write the run to a file for `divisi replay`, even if it fails or is interrupted"
  )
}

/** Parsed flags of `divisi run`. */
export type Input = Command.Command.Config.Infer<typeof flags>
