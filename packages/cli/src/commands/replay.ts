/** `divisi replay`: its flags and help. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"

const flags = {
  file: Argument.String("file").pipe(
    Argument.withDescription("A transcript, or events as lines of JSON; - reads standard input")
  ),
  speed: Flag.Finite("speed").pipe(
    Flag.filter(
      (speed) => speed >= 0,
      () => "Expected a speed of at least 0"
    ),
    Flag.withDescription("How fast: 1 as it was, 2 twice as fast, 0 at once (default 1 on a terminal, else 0)"),
    Flag.optional
  )
}

/** What `divisi replay` is asked for. */
export type Input = Command.Command.Config.Infer<typeof flags>

export const replay = Command.make("replay", flags, (input) =>
  Effect.flatMap(
    Effect.promise(() => import("../run/Replay.ts")),
    (Replay) => Replay.replay(input)
  )
).pipe(
  Command.withDescription("Shows a run again as it happened, from what `run --transcript` or `run --json` wrote."),
  Command.withShortDescription("Show a run again as it happened"),
  Command.withExamples([
    { command: "divisi replay run.json", description: "In its own time" },
    { command: "divisi replay run.json --speed 10", description: "Ten times as fast" },
    { command: "divisi replay events.ndjson --speed 0", description: "At once" }
  ])
)
