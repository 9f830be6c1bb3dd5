/** Reads transcripts from files and writes them atomically. */
import { readdirSync } from "node:fs"
import path from "node:path"
import type { Transcript } from "@divisi/core"
import { Sealed, WholeFile } from "@divisi/files"
import * as Effect from "effect/Effect"
import { type Failure, failed, messageOf, usage } from "../invocation/Failure.ts"
import * as TextFile from "../invocation/TextFile.ts"

/** Writes a transcript atomically, so that readers never see a partial file. */
export const write = (file: string, transcript: Transcript.Transcript): Effect.Effect<void, Failure> =>
  Effect.mapError(
    Effect.suspend(() => WholeFile.write(file, `${Sealed.stringify(transcript, 2)}\n`)),
    ({ message }) => failed(`Cannot write the transcript: ${message}`)
  )

/** Returns the transcript files in a folder, sorted by name. Fails if there are no transcripts. */
export const within = (folder: string): Effect.Effect<ReadonlyArray<string>, Failure> =>
  Effect.try({
    try: () => {
      const names = readdirSync(folder).filter((name) => name.endsWith(".json"))
      if (names.length === 0) throw new Error("it contains no transcript")
      return names.sort().map((name) => path.join(folder, name))
    },
    catch: (error) => usage(`Cannot read transcripts from ${folder}: ${messageOf(error, folder)}.`)
  })

/** Reads a transcript from a file. */
export const read = (file: string): Effect.Effect<Transcript.Transcript, Failure> =>
  Effect.gen(function* () {
    const Wire = yield* Effect.promise(() => import("@divisi/core/Wire"))
    const text = yield* TextFile.named(file, "the transcript")
    const value = yield* Effect.try({
      try: () => Sealed.parse(text, { isOptional: true }),
      catch: (error) => usage(`Cannot use ${file}: ${messageOf(error, file)}.`)
    })
    return yield* Effect.mapError(Effect.fromResult(Wire.readTranscript(value)), (error) =>
      usage(`${file} is not a transcript. ${error.message}`)
    )
  })
