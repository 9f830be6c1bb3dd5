/** Computes checksums of files. Files are read in chunks. */
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import * as Effect from "effect/Effect"
import { type FileError, fromUnknown } from "./FileError.ts"

/** The checksum of a file's content. */
export interface Digest {
  /** SHA-256 hash in lowercase hexadecimal. */
  readonly sha256: string
  readonly bytes: number
}

/**
 * Returns the SHA-256 and the length of a file.
 *
 * **Example**
 *
 * ```ts
 * import { Checksum } from "@divisi/files"
 * import * as Effect from "effect/Effect"
 * import fs from "node:fs"
 * import os from "node:os"
 * import path from "node:path"
 *
 * const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "divisi-")), "empty")
 * fs.writeFileSync(file, "")
 * const { sha256 } = await Effect.runPromise(Checksum.ofFile(file))
 * sha256.slice(0, 8) // => "e3b0c442"
 * ```
 */
export const ofFile = (file: string): Effect.Effect<Digest, FileError> =>
  Effect.tryPromise({
    try: async (signal) => {
      const hash = createHash("sha256")
      let bytes = 0
      for await (const piece of createReadStream(file, { signal })) {
        hash.update(piece)
        bytes += piece.length
      }
      return { sha256: hash.digest("hex"), bytes }
    },
    catch: fromUnknown(file, "read")
  })
