/** Flags for `divisi studio`. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { journal, text, toggle, whole } from "../invocation/flags.ts"

export const flags = {
  folder: Argument.String("folder").pipe(
    Argument.withDescription(
      "Folder or file with transcripts (.json), events (.ndjson, .jsonl) or journals (.sqlite). Default: your durable runs"
    ),
    Argument.optional
  ),
  port: whole("port", 0).pipe(
    Flag.withMetavar("<number>"),
    Flag.withDescription("Port (default 4100); 0 picks a free one"),
    Flag.withDefault(4_100)
  ),
  export: text("export", "<out>", "Write a static page to a folder, or to one file if the name ends in .html"),
  journal,
  json: toggle("json", "Print the URL as JSON")
}

/** Parsed flags of `divisi studio`. */
export type Input = Command.Command.Config.Infer<typeof flags>
