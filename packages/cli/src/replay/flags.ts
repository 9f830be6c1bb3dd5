/** What `divisi replay` is asked for. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"

export const flags = {
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
