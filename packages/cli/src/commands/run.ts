/** `divisi run`: its flags and help. What it does is loaded when it is called. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { paragraphs, parseDuration, seed, toggle, whole } from "./flags.ts"

/** The flags that choose who answers; `divisi gym solve` has them, too. */
export const team = {
  pool: Flag.String("pool").pipe(
    Flag.withMetavar("<ids>"),
    Flag.withDescription("Workers to use, in this order: a,b,c. All but some: -a,-b"),
    Flag.optional
  ),
  maxSteps: whole("max-steps", 1).pipe(Flag.withDescription("The most steps of a plan (default 5)"), Flag.optional),
  recursion: whole("recursion", 0).pipe(
    Flag.withDescription(
      "The most extra rounds, in which the policy sees its last plan and what came of it (default 0)"
    ),
    Flag.optional
  ),
  cache: Flag.String("cache").pipe(
    Flag.withMetavar("<file>"),
    Flag.withDescription("Keep workers' answers in this file, and take them from there instead of paying again"),
    Flag.optional
  ),
  config: Flag.String("config").pipe(
    Flag.withMetavar("<file>"),
    Flag.withDescription("The config to use; by default the next divisi.config.ts, .mjs or .js from here upwards"),
    Flag.optional
  )
}

/** `--profiles`; `divisi eval` has it, too. */
export const profiles = Flag.String("profiles").pipe(
  Flag.withMetavar("<folder>"),
  Flag.withDescription(
    "What policies named name+profiles are shown of workers, as in lexical+profiles: the folder of an evaluation, or of transcripts"
  ),
  Flag.optional
)

/** `--timeout`, in milliseconds. */
export const timeout = (description: string) =>
  Flag.String("timeout").pipe(
    Flag.filterMap(
      (text) => Option.fromUndefinedOr(parseDuration(text)),
      () => "Expected a duration such as 500ms, 30s, 2m or 1h"
    ),
    Flag.withMetavar("<duration>"),
    Flag.withDescription(description),
    Flag.optional
  )

const flags = {
  ...team,
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
  policy: Flag.String("policy").pipe(
    Flag.withMetavar("<name>"),
    Flag.withDescription(
      "What writes the plan: conductor (the tiny one, the default in the gym, which is all it knows), lexical (the default elsewhere), single:<id>, best-single, random, best-of:<n>, self-consistency:<n>, self-reflection:<n>, moa, or a chat model: openai:gpt-5-mini, model:<id>"
    ),
    Flag.optional
  ),
  profiles,
  seed,
  maxCost: Flag.Finite("max-cost").pipe(
    Flag.filter(
      (value) => value >= 0,
      () => "Expected a cost in USD of at least 0"
    ),
    Flag.withMetavar("<usd>"),
    Flag.withDescription("The most the run may cost, in USD; never exceeded"),
    Flag.optional
  ),
  maxOutputTokens: whole("max-output-tokens", 1).pipe(
    Flag.withDescription("The most tokens of one answer, reasoning included (default the worker's own)"),
    Flag.optional
  ),
  timeout: timeout("The longest the run may take: 30s, 2m"),
  json: toggle("json", "Print the run's events as lines of JSON"),
  transcript: Flag.String("transcript").pipe(
    Flag.withMetavar("<file>"),
    Flag.withDescription("Write the run to a file, for `divisi replay`; also when it fails or is interrupted"),
    Flag.optional
  )
}

/** What `divisi run` is asked for. */
export type Input = Command.Command.Config.Infer<typeof flags>

export const run = Command.make("run", flags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("../run/Run.ts")),
    (Run) => Run.run(input)
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Answers a question, and shows the plan, the work and the cost as they happen.",
      "",
      "The question comes from the arguments, from --file, or from standard input. Without any of these a built-in one",
      "is asked. On a terminal the view is redrawn in its place; in a pipe, in CI or with NO_COLOR it is plain lines.",
      "",
      "Exit codes: 0 answered, 1 failed, 2 wrong usage or config, 3 stopped by the budget, 130 Ctrl-C, 143 SIGTERM."
    )
  ),
  Command.withShortDescription("Answer a question with a team of workers"),
  Command.withExamples([
    { command: "divisi run", description: "A built-in question that shows steps that run at once" },
    { command: 'divisi run "What is 17% of 2,350, in words?"', description: "A question of yours" },
    {
      command: "divisi run --file question.txt --transcript run.json",
      description: "From a file; keep the transcript"
    },
    { command: "cat question.txt | divisi run - --json", description: "From a pipe; events as lines of JSON" },
    {
      command: 'divisi run "…" --max-cost 0.01 --timeout 30s',
      description: "With limits (exit code 3 when one is reached)"
    },
    { command: 'divisi run "…" --policy best-of:3 --seed 7', description: "With a baseline instead of a planner" },
    {
      command: 'divisi run "…" --pool openai:gpt-5,google:gemini-2.5-pro --policy openai:gpt-5-mini',
      description: "With models of vendors; their keys come from the environment"
    }
  ])
)
