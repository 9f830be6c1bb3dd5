/** Defines `divisi replay` with its help. The implementation is loaded on demand. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { flags } from "./flags.ts"

export const replay = Command.make("replay", flags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("./Replay.ts")),
    (Replay) => Replay.replay(input)
  )
).pipe(
  Command.withDescription("Replay a run from the output of `run --transcript` or `run --json`."),
  Command.withExamples([
    { command: "divisi replay run.json", description: "Replay at the original speed" },
    { command: "divisi replay run.json --speed 10", description: "Replay ten times as fast" },
    { command: "divisi replay events.ndjson --speed 0", description: "Print without delays" }
  ])
)
