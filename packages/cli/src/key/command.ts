/** Defines `divisi key` with its help. The implementation is loaded on demand. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { paragraphs } from "../invocation/flags.ts"
import { adjustFlags, auditFlags, changeFlags, listFlags, makeFlags, revokeFlags } from "./flags.ts"

const loaded = Effect.promise(() => import("./Key.ts"))

const make = Command.make("make", makeFlags, (input) => Effect.flatMap(loaded, (Key) => Key.make(input))).pipe(
  Command.withDescription(
    paragraphs(
      "Create a key for `divisi serve`, and print its secret once on standard output. Only its hash is stored.",
      "",
      "Limits apply to all requests with the key, across processes and restarts. Once a key exists, every client needs one."
    )
  ),
  Command.withShortDescription("Create a key"),
  Command.withExamples([
    {
      command: "divisi key make alice --max-cost-per-day 2 --expires 30d",
      description: "Set a spending limit and an expiry date"
    },
    {
      command: "divisi key make ci --workers ollama:qwen3:8b --requests-per-minute 20",
      description: "Allow one worker only, with a rate limit"
    }
  ])
)

const list = Command.make("list", listFlags, (input) => Effect.flatMap(loaded, (Key) => Key.list(input))).pipe(
  Command.withDescription("List API keys with owner, rights and spending."),
  Command.withShortDescription("List keys")
)

const change = Command.make("change", changeFlags, (input) => Effect.flatMap(loaded, (Key) => Key.change(input))).pipe(
  Command.withDescription(
    paragraphs(
      "Change the name, rights or limits of a key. Its secret, its spending and all other settings stay the same. Running",
      "servers apply the change from the next request on."
    )
  ),
  Command.withShortDescription("Change the limits of a key"),
  Command.withExamples([
    { command: "divisi key change 3fJ8aQ2x --max-cost-per-day 5", description: "Change a limit" },
    { command: "divisi key change 3fJ8aQ2x --remove expires,workers", description: "Remove limits" }
  ])
)

const revoke = Command.make("revoke", revokeFlags, (input) => Effect.flatMap(loaded, (Key) => Key.revoke(input))).pipe(
  Command.withDescription("Revoke a key. Running servers reject it from the next request on."),
  Command.withShortDescription("Revoke a key")
)

const adjusting = Effect.promise(() => import("./Adjust.ts"))

const adjust = Command.make("adjust", adjustFlags, (input) =>
  Effect.flatMap(adjusting, (Adjust) => Adjust.adjust(input))
).pipe(
  Command.withDescription(
    paragraphs(
      "Correct the recorded spending of a key, e.g. after a vendor reported wrong usage. The daily, monthly and total",
      "amounts change together, and never fall below 0. Running servers use the new amounts for the next request.",
      "Each adjustment is recorded in the audit log with operator, time, amounts before and after, and reason.",
      "",
      "With --once, repeating the command changes nothing and prints the first adjustment."
    )
  ),
  Command.withShortDescription("Correct the spending of a key"),
  Command.withExamples([
    {
      command: 'divisi key adjust 3fJ8aQ2x --by=-3.20 --reason "usage reported twice" --once ticket-481',
      description: "Credit an amount; safe to repeat"
    },
    { command: 'divisi key adjust 3fJ8aQ2x --to 0 --reason "new contract"', description: "Reset the spending to 0" }
  ])
)

const audit = Command.make("audit", auditFlags, (input) =>
  Effect.flatMap(adjusting, (Adjust) => Adjust.audit(input))
).pipe(
  Command.withDescription("List spending adjustments, oldest first."),
  Command.withShortDescription("List spending adjustments")
)

export const key = Command.make("key").pipe(
  Command.withDescription("Manage API keys for `divisi serve`. Requires @divisi/server."),
  Command.withSubcommands([make, list, change, adjust, audit, revoke])
)
