/** Writes transcripts to files: whole or not at all. */
import { accessSync, constants, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import path from "node:path"
import type { Transcript } from "@tutti/core/Transcript"
import * as Effect from "effect/Effect"
import { type Failure, failed, messageOf, usage } from "../Failure.ts"

/** Finds out whether a transcript can be written there, before a run is paid for. */
export const prepare = (file: string): Effect.Effect<void, Failure> =>
  Effect.try({
    try: () => {
      accessSync(path.dirname(path.resolve(file)), constants.W_OK)
      if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`${file} is a folder`)
    },
    catch: (error) => usage(`Cannot write the transcript: ${messageOf(error)}.`)
  })

/** Writes beside the file and then renames, so that whoever reads the file never sees half of it. */
export const write = (file: string, transcript: Transcript): Effect.Effect<void, Failure> =>
  Effect.try({
    try: () => {
      const temporary = `${file}.${process.pid}.tmp`
      try {
        writeFileSync(temporary, `${JSON.stringify(transcript, null, 2)}\n`)
        renameSync(temporary, file)
      } finally {
        rmSync(temporary, { force: true })
      }
    },
    catch: (error) => failed(`Cannot write the transcript: ${messageOf(error)}.`)
  })
