/** The checkpoints of a run's folder: which files each needs, and which is the last that is as it was written. */
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

/** The checksums of what an engine has saved in a folder, and of the reference, which lies elsewhere in the run's. */
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
  // The address of a remote engine is not a local file.
  if (fs.statSync(path.join(folder, reference), { throwIfNoEntry: false })?.isFile() === true) {
    files[reference] = (yield* Checksum.ofFile(path.join(folder, reference))).sha256
    yield* WholeFile.sync(path.join(folder, reference))
  }
  return files
})

/** A checkpoint that cannot be used, and why. */
export interface Damaged {
  readonly checkpoint: number
  readonly detail: string
}

/** The state of a checkpoint, whose files are all as they were written; or what is wrong with it. */
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
 * Returns the last intact one of some checkpoints, and those after it. A checkpoint of another version does not count
 * as damaged.
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

/** Renames a checkpoint that cannot be used, so that another of its iteration has room; returns where it is. */
export const putAside = (folder: string, checkpoint: number): string => {
  const from = path.join(folder, Layout.checkpointOf(checkpoint))
  const to = `${from}.damaged`
  fs.rmSync(to, { recursive: true, force: true })
  fs.renameSync(from, to)
  return to
}
