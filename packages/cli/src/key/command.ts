/** `divisi key`: its help. What it does is loaded when it is called. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { paragraphs } from "../invocation/flags.ts"
import { listFlags, makeFlags, revokeFlags } from "./flags.ts"

const loaded = Effect.promise(() => import("./Key.ts"))

const make = Command.make("make", makeFlags, (input) => Effect.flatMap(loaded, (Key) => Key.make(input))).pipe(
  Command.withDescription(
    paragraphs(
      "Makes a key for `divisi serve`, and prints its secret once, alone on the output. Only a hash of it is kept.",
      "",
      "Its limits hold for all that it asks together, in however many processes, and after a crash."
    )
  ),
  Command.withShortDescription("Make a key"),
  Command.withExamples([
    { command: "divisi key make alice --max-cost-per-day 2 --expires 30d", description: "With a limit and an end" },
    {
      command: "divisi key make ci --workers ollama:qwen3:8b --requests-per-minute 20",
      description: "For one worker, and not too fast"
    }
  ])
)

const list = Command.make("list", listFlags, (input) => Effect.flatMap(loaded, (Key) => Key.list(input))).pipe(
  Command.withDescription("Lists the keys: whose they are, what they may do, and what they have spent."),
  Command.withShortDescription("List keys")
)

const revoke = Command.make("revoke", revokeFlags, (input) => Effect.flatMap(loaded, (Key) => Key.revoke(input))).pipe(
  Command.withDescription("Revokes a key. A server that is running refuses it from its next request on."),
  Command.withShortDescription("Revoke a key")
)

export const key = Command.make("key").pipe(
  Command.withDescription(
    "Keys of `divisi serve`: who may ask it, for what, and for how much. It needs @divisi/server."
  ),
  Command.withShortDescription("Make, list and revoke keys of the server"),
  Command.withSubcommands([make, list, revoke])
)
