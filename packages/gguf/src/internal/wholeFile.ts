/** Atomic file writes that fail with this package's error. */
import { WholeFile } from "@divisi/files"
import * as Effect from "effect/Effect"
import * as Errors from "../GgufError.ts"

/** Writes a file through a sink. If `body` fails or is interrupted, an existing file at `path` is left unchanged. */
export const write = (
  path: string,
  body: (sink: WholeFile.Sink) => Promise<void>
): Effect.Effect<void, Errors.GgufError> =>
  Effect.mapError(WholeFile.writeWith(path, body), ({ cause }) => Errors.fromUnknown(cause, path, "write the file"))
