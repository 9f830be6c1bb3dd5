/** `divisi pool`: its help. What it does is loaded when it is called. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { checkFlags, listFlags } from "./flags.ts"

const check = Command.make("check", checkFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Check.ts")),
    (Check) => Check.check(input)
  )
).pipe(
  Command.withDescription(
    "Asks each worker of the pool for a few tokens, all at once, and prints who answers, how fast and at what price, and which vendors ask to wait. With --server, it also shows which providers a running divisi serve sends no calls to, why and until when. Exit code 1 when one does not answer."
  ),
  Command.withShortDescription("Call each worker once"),
  Command.withExamples([
    { command: "divisi pool check", description: "The workers of the config" },
    { command: "divisi pool check --pool openai:gpt-5,ollama:qwen3:8b", description: "Models of vendors and servers" },
    { command: "divisi pool check --server http://127.0.0.1:8080", description: "And the cooldowns of a server" },
    { command: "divisi pool check --pool paper:controlled --json", description: "The pool of the paper, for programs" }
  ])
)

const list = Command.make("list", listFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./List.ts")),
    (List) => List.list(input)
  )
).pipe(
  Command.withDescription(
    "Lists who could be in a pool: the workers of the config, the vendors with whether their key is set (never the key), the servers of models that answer on this machine, and the models whose price is known, with the day as of which it holds."
  ),
  Command.withShortDescription("See who could be in a pool"),
  Command.withExamples([{ command: "divisi pool list --json", description: "For programs" }])
)

export const pool = Command.make("pool").pipe(
  Command.withDescription("The workers that answer, and what they need."),
  Command.withSubcommands([list, check])
)
