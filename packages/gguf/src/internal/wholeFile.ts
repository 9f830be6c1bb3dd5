/** Whole files, with the errors of this package. */
import { WholeFile } from "@divisi/files"
import * as Effect from "effect/Effect"
import * as Errors from "../GgufError.ts"

/** Writes a file by a function of its sink. When that fails or is interrupted, what was at `path` stays. */
export const write = (
  path: string,
  body: (sink: WholeFile.Sink) => Promise<void>
): Effect.Effect<void, Errors.GgufError> =>
  Effect.mapError(WholeFile.writeWith(path, body), ({ cause }) => Errors.fromUnknown(cause, path, "write the file"))
