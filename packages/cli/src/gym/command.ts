/** Defines `divisi gym` with its help. The implementation is loaded on demand. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { paragraphs } from "../invocation/flags.ts"
import { sampleFlags, solveFlags, verifiersFlags } from "./flags.ts"

const sample = Command.make("sample", sampleFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Sample.ts")),
    (Sample) => Sample.sample(input)
  )
).pipe(
  Command.withDescription("Print generated tasks with their correct answers."),
  Command.withShortDescription("Print generated tasks"),
  Command.withExamples([
    { command: "divisi gym sample --count 3", description: "Print three tasks" },
    {
      command: "divisi gym sample --count 1000 --split train --json",
      description: "Print a thousand training tasks as JSON"
    }
  ])
)

const solve = Command.make("solve", solveFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Solve.ts")),
    (Solve) => Solve.solve(input)
  )
).pipe(
  Command.withDescription(
    "Run a policy on gym tasks, and print accuracy with its standard error, cost and mean steps."
  ),
  Command.withShortDescription("Evaluate a policy on generated tasks"),
  Command.withExamples([
    { command: "divisi gym solve --tasks 500", description: "Evaluate the default policy on 500 test tasks" },
    { command: "divisi gym solve --policy all", description: "Compare all policies" },
    { command: "divisi gym solve --policy moa --json", description: "Print the result as JSON" }
  ])
)

const environment = Command.make("environment", {}, () =>
  Effect.flatMap(
    Effect.promise(() => import("./Environment.ts")),
    (Environment) => Environment.serve
  )
).pipe(
  Command.withDescription(
    paragraphs(
      "Serve tasks and rewards to external trainers. The command reads one JSON request per line from standard input:",
      '{"id":1,"op":"tasks","count":10,"split":"train","seed":0,"mode":"conductor"}, and',
      '{"id":2,"op":"grade","mode":"conductor","question":"...","reference":"...","completion":"..."}.'
    )
  ),
  Command.withShortDescription("Serve tasks and rewards to trainers")
)

const verifiers = Command.make("verifiers", verifiersFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./VerifiersPackage.ts")),
    (VerifiersPackage) => VerifiersPackage.write(input)
  )
).pipe(
  Command.withDescription(
    "Write a Python package that makes the gym an environment for Prime Intellect's verifiers library, e.g. to train with prime-rl."
  ),
  Command.withShortDescription("Write a Python package for the verifiers library"),
  Command.withExamples([
    {
      command: "divisi gym verifiers divisi-gym",
      description: "Write the package; install it with: uv pip install -e divisi-gym"
    }
  ])
)

export const gym = Command.make("gym").pipe(
  Command.withDescription("Try policies on generated tasks with known answers."),
  Command.withSubcommands([sample, solve, environment, verifiers])
)
