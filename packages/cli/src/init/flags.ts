/** What `divisi init` is asked for. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { text, toggle } from "../invocation/flags.ts"

export const flags = {
  models: text(
    "models",
    "<names>",
    "The models of the team, the planner first: openai:gpt-5-mini,ollama:qwen3:8b; gym for the offline gym. By default those that are found"
  ),
  language: Flag.Literals("language", ["typescript", "javascript"]).pipe(
    Flag.withDescription("What the files are written in (default typescript)"),
    Flag.optional
  ),
  directory: Flag.String("directory").pipe(
    Flag.withMetavar("<folder>"),
    Flag.withDescription("Where to write them; by default here"),
    Flag.withDefault(".")
  ),
  install: toggle("install", "Run the command that installs what the files need, instead of printing it"),
  force: toggle("force", "Overwrite files of these names"),
  yes: toggle("yes", "Ask nothing: take what is found, and the defaults"),
  json: toggle("json", "Ask nothing, and print one object of JSON: what was found and written, and what to run")
}

/** What `divisi init` is asked for. */
export type InitInput = Command.Command.Config.Infer<typeof flags>
