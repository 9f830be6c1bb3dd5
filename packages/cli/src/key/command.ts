/** `divisi key`: its help. What it does is loaded when it is called. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { paragraphs } from "../invocation/flags.ts"
import { adjustFlags, auditFlags, listFlags, makeFlags, revokeFlags } from "./flags.ts"

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

const adjusting = Effect.promise(() => import("./Adjust.ts"))

const adjust = Command.make("adjust", adjustFlags, (input) =>
  Effect.flatMap(adjusting, (Adjust) => Adjust.adjust(input))
).pipe(
  Command.withDescription(
    paragraphs(
      "Corrects what a key has spent, for example after a vendor reported a wrong usage. The accounts of the day, of its",
      "month and of all time change together, and none falls below 0. Servers that are running use the new amounts from the",
      "next request on. Each adjustment is written to the audit: operator, time, amounts before and after, and reason.",
      "",
      "With --once, a repeated command changes nothing and prints the adjustment that was made."
    )
  ),
  Command.withShortDescription("Correct what a key has spent"),
  Command.withExamples([
    {
      command: 'divisi key adjust 3fJ8aQ2x --by=-3.20 --reason "usage reported twice" --once ticket-481',
      description: "A credit that is given once"
    },
    { command: 'divisi key adjust 3fJ8aQ2x --to 0 --reason "new contract"', description: "Start again from 0" }
  ])
)

const audit = Command.make("audit", auditFlags, (input) =>
  Effect.flatMap(adjusting, (Adjust) => Adjust.audit(input))
).pipe(
  Command.withDescription("Lists the adjustments of keys, the first one first."),
  Command.withShortDescription("List adjustments of keys")
)

export const key = Command.make("key").pipe(
  Command.withDescription(
    "Keys of `divisi serve`: who may ask it, for what, and for how much. It needs @divisi/server."
  ),
  Command.withSubcommands([make, list, adjust, audit, revoke])
)
