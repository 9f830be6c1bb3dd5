/** Flags for `divisi init`. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { choice, text, toggle } from "../invocation/flags.ts"

export const flags = {
  models: text(
    "models",
    "<names>",
    "Models, planner first, e.g. openai:gpt-6.1-terra,ollama:qwen3:8b (default: all found). Use gym for the offline gym"
  ),
  language: choice("language", ["typescript", "javascript"]).pipe(
    Flag.withDescription("Language of the files (default typescript)"),
    Flag.optional
  ),
  directory: Flag.String("directory").pipe(
    Flag.withMetavar("<folder>"),
    Flag.withDescription("Output folder (default: the current folder)"),
    Flag.withDefault(".")
  ),
  install: toggle("install", "Run the install command instead of printing it"),
  force: toggle("force", "Overwrite existing files"),
  yes: toggle("yes", "Skip all questions; use the defaults and everything found"),
  json: toggle("json", "Skip all questions, and print the result as JSON")
}

/** Parsed flags of `divisi init`. */
export type InitInput = Command.Command.Config.Infer<typeof flags>
