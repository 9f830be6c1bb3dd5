/** What `divisi run` is asked for. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { cost, duration, seed, text, timeout, toggle, whole } from "../invocation/flags.ts"
import { conductorFlags, profiles, toolFlags } from "../team/flags.ts"

export const flags = {
  ...conductorFlags,
  question: Argument.String("question").pipe(
    Argument.withDescription("The question; - reads it from standard input"),
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
    "What writes the plan: by default lexical in the gym, router where all of several workers are models or two are known from rated runs, elsewhere the first chat model of the pool; conductor (ours: it reads who is on the team), tiny (which knows the gym by heart), router, learned or head (see `divisi learn`; router:half and router:within-2 cost less), single:<id>, best-single, random, best-of:<n>, self-consistency:<n>, self-reflection:<n>, moa, checked:<first>+<then>+<check> (schema:<file>, command:<command>, grader, or a worker that judges), agreed:<a>+<b>+<otherwise>, or a chat model: openai:gpt-5-mini, model:<id>"
  ),
  check: Flag.String("check").pipe(
    Flag.withMetavar("<name=check>"),
    Flag.withDescription(
      "A check that plans may use by this name: tests=command:<command>, form=schema:<file>, right=grader, or a worker that judges. The router has answers pass it where it is the only one. Repeatable"
    ),
    Flag.atLeast(0)
  ),
  reassign: Flag.Literals("reassign", ["next", "never"]).pipe(
    Flag.withDescription(
      "Which worker takes over a step whose worker failed for good: the next of the pool (default), or none (never; default with --policy single:<id>)"
    ),
    Flag.optional
  ),
  profiles,
  seed,
  maxCost: cost("max-cost", "The most the run may cost, in USD, or in the gym's play money; never exceeded"),
  maxOutputTokens: whole("max-output-tokens", 1).pipe(
    Flag.withDescription("The most tokens of one answer, reasoning included (default the worker's own)"),
    Flag.optional
  ),
  timeout: timeout("The longest the run may take: 30s, 2m"),
  silence: duration(
    "silence",
    "How long a call may send nothing before it is tried again: 20s (default a third of --timeout)"
  ),
  ...toolFlags,
  json: toggle("json", "Print the run's events as lines of JSON"),
  durable: toggle("durable", "Keep the run, so that it goes on after Ctrl-C, a crash or a restart: see `divisi runs`"),
  runId: text("run-id", "<id>", "Keep the run under this id; one that is known is gone on with, or shown again"),
  journal: text(
    "journal",
    "<file>",
    "The file that keeps runs (default DIVISI_RUNS, or runs.sqlite in your data folder)"
  ),
  transcript: text(
    "transcript",
    "<file>",
    "Write the run to a file, for `divisi replay`; also when it fails or is interrupted"
  )
}

/** What `divisi run` is asked for. */
export type Input = Command.Command.Config.Infer<typeof flags>
