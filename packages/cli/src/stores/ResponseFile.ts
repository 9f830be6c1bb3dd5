/** Determines the file for a server's responses. */
import { UserFolders } from "@divisi/files"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** Returns a file next to the given journal, or in the user's data folder. */
export const of = (journal: Option.Option<string>): Effect.Effect<string> =>
  Option.match(journal, {
    onNone: () => UserFolders.dataFile("responses.sqlite", "DIVISI_RESPONSES"),
    onSome: (file) => Effect.succeed(`${file}.responses`)
  })
