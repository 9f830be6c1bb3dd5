/** `divisi gym`: its subcommands, flags and help. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import { seed, toggle, whole } from "./flags.ts"
import { team } from "./run.ts"

const split = Flag.Literals("split", ["train", "validation", "test"]).pipe(
  Flag.withDescription("Which tasks (default test); the splits do not overlap"),
  Flag.withDefault("test")
)

const sampleFlags = {
  count: whole("count", 1).pipe(Flag.withDescription("How many tasks (default 5)"), Flag.withDefault(5)),
  split,
  seed,
  family: Flag.String("family").pipe(Flag.withDescription("Only tasks of this family"), Flag.optional),
  json: toggle("json", "Print each task as a line of JSON")
}

/** What `divisi gym sample` is asked for. */
export type SampleInput = Command.Command.Config.Infer<typeof sampleFlags>

const sample = Command.make("sample", sampleFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("../practice/Sample.ts")),
    (Sample) => Sample.sample(input)
  )
).pipe(
  Command.withDescription("Prints generated tasks with their exact answers."),
  Command.withExamples([
    { command: "divisi gym sample --count 3", description: "Three tasks" },
    { command: "divisi gym sample --count 1000 --split train --json", description: "A thousand training tasks as JSON" }
  ])
)

const solveFlags = {
  ...team,
  policy: Flag.String("policy").pipe(
    Flag.withMetavar("<name>"),
    Flag.withDescription(
      "lexical (default), conductor (the tiny one), best-single, single:<id>, random, best-of:<n>, self-consistency:<n>, self-reflection:<n>, moa, oracle; all compares them"
    ),
    Flag.optional
  ),
  tasks: whole("tasks", 1).pipe(Flag.withDescription("How many tasks (default 100)"), Flag.withDefault(100)),
  split,
  seed,
  concurrency: whole("concurrency", 1).pipe(
    Flag.withDescription("How many runs at once (default 16)"),
    Flag.withDefault(16)
  ),
  json: toggle("json", "Print the figures of each policy as a line of JSON")
}

/** What `divisi gym solve` is asked for. */
export type SolveInput = Command.Command.Config.Infer<typeof solveFlags>

const solve = Command.make("solve", solveFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("../practice/Solve.ts")),
    (Solve) => Solve.solve(input)
  )
).pipe(
  Command.withDescription(
    "Runs a policy over tasks of the gym, and prints its accuracy with its standard error, its cost and its mean steps."
  ),
  Command.withShortDescription("Measure a policy over generated tasks"),
  Command.withExamples([
    { command: "divisi gym solve --tasks 500", description: "The default policy on 500 test tasks" },
    { command: "divisi gym solve --policy all", description: "All policies side by side" },
    { command: "divisi gym solve --policy moa --json", description: "The last line of the output is JSON" }
  ])
)

export const gym = Command.make("gym").pipe(
  Command.withDescription("Generated tasks with exact answers, to try policies on."),
  Command.withShortDescription("Try policies on generated tasks"),
  Command.withSubcommands([sample, solve])
)
