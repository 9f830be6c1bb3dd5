/** Flags for `divisi provider`. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import { text, toggle } from "../invocation/flags.ts"

export const flags = {
  name: Argument.String("name").pipe(
    Argument.withDescription("Name of the provider: lowercase letters, digits and hyphens")
  ),
  directory: text("directory", "<folder>", "Output folder (default divisi-provider-<name>)"),
  json: toggle("json", "Print the folder and its files as JSON")
}

/** Parsed flags of `divisi provider new`. */
export type NewInput = Command.Command.Config.Infer<typeof flags>
