/** Flags for `divisi studio`. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import { journal, port, text, toggle } from "../invocation/flags.ts"

export const flags = {
  folder: Argument.String("path").pipe(
    Argument.withDescription(
      "Folder or file with transcripts (.json), events (.ndjson, .jsonl) or journals (.sqlite). Default: your durable runs"
    ),
    Argument.optional
  ),
  port: port(4_100),
  export: text("export", "<out>", "Write a static page to a folder, or to one file if the name ends in .html"),
  journal,
  json: toggle("json", "Print the URL as JSON")
}

/** Parsed flags of `divisi studio`. */
export type Input = Command.Command.Config.Infer<typeof flags>
