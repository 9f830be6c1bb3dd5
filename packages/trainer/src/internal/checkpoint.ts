/** Reads checkpoints of a run folder, verifies their files, and finds the last intact one. */
import * as fs from "node:fs"
import * as path from "node:path"
import { Checksum, WholeFile } from "@divisi/files"
import type { FileError } from "@divisi/files/FileError"
import * as Effect from "effect/Effect"
import * as Layout from "../RunLayout.ts"
import * as Records from "./records.ts"

type State = Omit<Layout.TrainerState, "files">

const filesIn = (folder: string): ReadonlyArray<string> =>
  fs
    .readdirSync(folder, { withFileTypes: true, recursive: true })
    .flatMap((entry) =>
      entry.isFile() ? [path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join("/")] : []
    )
    .sort()

/**
 * Returns the checksums of the files that an engine saved in a folder, and of the reference, which is stored elsewhere
 * in the run folder.
 */
export const sumsOf = Effect.fnUntraced(function* (
  folder: string,
  partial: string,
  state: State
): Effect.fn.Return<Layout.TrainerState["files"], FileError> {
  const files: Record<string, string> = {}
  for (const name of filesIn(partial)) {
    const { sha256 } = yield* Checksum.ofFile(path.join(partial, name))
    files[`${Layout.checkpointOf(state.iteration)}/${name}`] = sha256
  }
  const reference = `${Layout.reference}/${state.reference?.reference}`
  // Addresses of remote engines are not local files.
  if (fs.statSync(path.join(folder, reference), { throwIfNoEntry: false })?.isFile() === true) {
    files[reference] = (yield* Checksum.ofFile(path.join(folder, reference))).sha256
    yield* WholeFile.sync(path.join(folder, reference))
  }
  return files
})

/** Corrupt checkpoint, with the reason. */
export interface Damaged {
  readonly checkpoint: number
  readonly detail: string
}

/** Returns the state of a checkpoint if all its files are intact, or a description of the damage. */
export const read = (
  folder: string,
  checkpoint: number
): Effect.Effect<Layout.TrainerState, Error | FileError | Records.OtherVersion> =>
  Effect.gen(function* () {
    const state = yield* Effect.try({
      try: () => Records.state(folder, checkpoint),
      catch: (error) => error as Error | Records.OtherVersion
    })
    for (const [name, sha256] of Object.entries(state.files)) {
      const file = path.join(folder, name)
      if ((yield* Checksum.ofFile(file)).sha256 !== sha256) {
        return yield* Effect.fail(new Error(`${name} does not match its checksum`))
      }
    }
    return state
  })

/**
 * Returns the last intact checkpoint, and the corrupt ones after it. A checkpoint written by an unsupported version
 * does not count as corrupt.
 */
export const lastWhole = Effect.fnUntraced(function* (folder: string, checkpoints: ReadonlyArray<number>) {
  const damaged: Array<Damaged> = []
  for (const checkpoint of checkpoints.toReversed()) {
    const found = yield* Effect.result(read(folder, checkpoint))
    if (found._tag === "Success") return { state: found.success, damaged }
    if (found.failure instanceof Records.OtherVersion) return yield* Effect.fail(found.failure)
    damaged.push({ checkpoint, detail: found.failure.message })
  }
  return { state: undefined, damaged }
})

/** Renames a corrupt checkpoint so that a new one can be written for the same iteration. Returns the new path. */
export const putAside = (folder: string, checkpoint: number): string => {
  const from = path.join(folder, Layout.checkpointOf(checkpoint))
  const to = `${from}.damaged`
  fs.rmSync(to, { recursive: true, force: true })
  fs.renameSync(from, to)
  return to
}
