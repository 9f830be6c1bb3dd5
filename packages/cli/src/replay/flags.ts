/** Flags for `divisi replay`. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"

export const flags = {
  file: Argument.String("file").pipe(
    Argument.withDescription("File with a transcript or with events as JSON Lines, or - for standard input")
  ),
  speed: Flag.Finite("speed").pipe(
    Flag.filter(
      (speed) => speed >= 0,
      () => "Expected a speed of at least 0"
    ),
    Flag.withMetavar("<factor>"),
    Flag.withDescription(
      "Speed factor, where 1 is the original speed and 0 means no delays. Default: 1 in a terminal, otherwise 0"
    ),
    Flag.optional
  )
}

/** Parsed flags of `divisi replay`. */
export type Input = Command.Command.Config.Infer<typeof flags>
