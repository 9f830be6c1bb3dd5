/** `divisi pool`: its help. The implementation is loaded on demand. */
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
    "Sends a tiny request to each worker and reports which respond, how fast and at what price, and which vendors are rate limiting. With --server, it also shows the providers that a running divisi serve has paused, why and until when. Exit code 1 if a worker does not respond."
  ),
  Command.withShortDescription("Call each worker once"),
  Command.withExamples([
    { command: "divisi pool check", description: "The workers of the config" },
    {
      command: "divisi pool check --pool openai:gpt-5,ollama:qwen3:8b",
      description: "Vendor models and your own servers"
    },
    { command: "divisi pool check --server http://127.0.0.1:8080", description: "Also show a server's cooldowns" },
    {
      command: "divisi pool check --pool paper:controlled --json",
      description: "The pool of the Conductor paper, as JSON"
    }
  ])
)

const list = Command.make("list", listFlags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./List.ts")),
    (List) => List.list(input)
  )
).pipe(
  Command.withDescription(
    "Lists possible workers: those in the config, vendors and whether their API key is set, model servers on this machine, and models with a known price and its date."
  ),
  Command.withShortDescription("List possible workers"),
  Command.withExamples([{ command: "divisi pool list --json", description: "As JSON" }])
)

export const pool = Command.make("pool").pipe(
  Command.withDescription("Lists and checks workers."),
  Command.withSubcommands([list, check])
)
