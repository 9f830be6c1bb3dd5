/** `divisi replay`: its help. What it does is loaded when it is called. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { flags } from "./flags.ts"

export const replay = Command.make("replay", flags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Replay.ts")),
    (Replay) => Replay.replay(input)
  )
).pipe(
  Command.withDescription("Shows a run again as it happened, from what `run --transcript` or `run --json` wrote."),
  Command.withExamples([
    { command: "divisi replay run.json", description: "In its own time" },
    { command: "divisi replay run.json --speed 10", description: "Ten times as fast" },
    { command: "divisi replay events.ndjson --speed 0", description: "At once" }
  ])
)
