/** Flags for `divisi run`. */
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
    "The policy that plans. Default: with one model, it answers; with several, the strongest answers; if the pool has other workers, the strongest model plans; in the gym, lexical; after `divisi learn`, router. A chat model (openai:gpt-5-mini, model:<id>) writes the plan itself. Others: conductor (reads descriptions), tiny (trained for the gym), router, learned, head (router:half and router:within-2 cost less), single:<id>, best-single, random, best-of:<n>, self-consistency:<n>, self-reflection:<n>, moa, checked:<first>+<then>+<check> (check: schema:<file>, command:<command>, grader, or a judge worker), agreed:<a>+<b>+<otherwise>"
  ),
  check: Flag.String("check").pipe(
    Flag.withMetavar("<name=check>"),
    Flag.withDescription(
      "Name a check that plans can use, e.g. tests=command:<command>, form=schema:<file>, right=grader, or <name>=<id> of a judge worker. With only one check, the router applies it to answers. Repeatable"
    ),
    Flag.atLeast(0)
  ),
  reassign: Flag.Literals("reassign", ["next", "never"]).pipe(
    Flag.withDescription(
      "Whether another worker takes over a failed step: next, the next worker in the pool (default), or never (default with --policy single:<id>)"
    ),
    Flag.optional
  ),
  profiles,
  seed,
  maxCost: cost("max-cost", "Maximum cost of the run, in USD (play money in the gym); never exceeded"),
  maxOutputTokens: whole("max-output-tokens", 1).pipe(
    Flag.withDescription("Maximum tokens of one answer, reasoning included (default: the worker's limit)"),
    Flag.optional
  ),
  timeout: timeout("Maximum duration, e.g. 30s or 2m"),
  silence: duration("silence", "Retry a call after this long without output, e.g. 20s (default: a third of --timeout)"),
  ...toolFlags,
  approvePlans: toggle(
    "approve-plans",
    "Show each plan with its price and ask before it runs; without a terminal, the run is suspended"
  ),
  dryRun: toggle("dry-run", "Print the plan, its price and its shape, without calling its workers"),
  json: toggle("json", "Print the run's events as lines of JSON"),
  quiet: toggle("quiet", "Print only the answer; if there is no answer, the reason is shown on stderr"),
  durable: toggle("durable", "Store the run, so that `divisi runs` can resume it after Ctrl-C, a crash or a restart"),
  runId: text(
    "run-id",
    "<id>",
    "Store the run under this id; if the id exists, the run is resumed or its result shown"
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
