/** `divisi pool`: its subcommands, flags and help. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { toggle } from "./flags.ts"
import { team, timeout } from "./run.ts"

const checkFlags = {
  pool: team.pool,
  config: team.config,
  timeout: timeout("The longest to wait for an answer (default 60s)"),
  json: toggle("json", "Print a line of JSON for each worker")
}

/** What `divisi pool check` is asked for. */
export type CheckInput = Command.Command.Config.Infer<typeof checkFlags>

const check = Command.make("check", checkFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("../providers/Check.ts")),
    (Check) => Check.check(input)
  )
).pipe(
  Command.withDescription(
    "Asks each worker of the pool for a few tokens, all at once, and prints who answers, how fast and at what price. Exit code 1 when one does not answer."
  ),
  Command.withShortDescription("Call each worker once"),
  Command.withExamples([
    { command: "divisi pool check", description: "The workers of the config" },
    { command: "divisi pool check --pool openai:gpt-5,ollama:qwen3:8b", description: "Models of vendors and servers" },
    { command: "divisi pool check --pool paper:controlled --json", description: "The pool of the paper, for programs" }
  ])
)

export const pool = Command.make("pool").pipe(
  Command.withDescription("The workers that answer, and what they need."),
  Command.withShortDescription("Look at the workers of a pool"),
  Command.withSubcommands([check])
)
