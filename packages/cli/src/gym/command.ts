/** `divisi gym`: its help. What it does is loaded when it is called. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { sampleFlags, solveFlags } from "./flags.ts"

const sample = Command.make("sample", sampleFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Sample.ts")),
    (Sample) => Sample.sample(input)
  )
).pipe(
  Command.withDescription("Prints generated tasks with their exact answers."),
  Command.withExamples([
    { command: "divisi gym sample --count 3", description: "Three tasks" },
    { command: "divisi gym sample --count 1000 --split train --json", description: "A thousand training tasks as JSON" }
  ])
)

const solve = Command.make("solve", solveFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Solve.ts")),
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
  Command.withSubcommands([sample, solve])
)
