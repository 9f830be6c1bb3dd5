/** Finds the runs below a folder, in transcripts, event files and journals. Files are read on demand. */
import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs"
import path from "node:path"
import { setImmediate } from "node:timers/promises"
import type { RunEvent, Transcript } from "@divisi/core"
import * as Wire from "@divisi/core/Wire"
import { TextEncoding } from "@divisi/files"
import { fromUnknown } from "@divisi/files/FileError"
import { StudioServer, Summary } from "@divisi/studio"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TextFile from "../invocation/TextFile.ts"
import * as Recording from "../replay/Recording.ts"

/** A run recorded in a file. If the record is damaged, `summary.damaged` contains the problem and a remedy. */
export interface Recorded {
  readonly file: string
  readonly summary: Summary.Summary
}

/** Runs an effect for the studio, which shows the message of its error. */
export const readable = <A, E extends Error>(effect: Effect.Effect<A, E>): Promise<A> =>
  Effect.runPromise(Effect.mapError(effect, ({ message }) => new StudioServer.Unreadable(message)))

/** Returns the list entry for a record that cannot be read. */
export const damaged = (id: string, message: string, changedAt: number): Summary.Summary => ({
  id,
  object: "run",
  state: "damaged",
  question: null,
  policy: "",
  workers: [],
  started_at: changedAt,
  changed_at: changedAt,
  cost_usd: 0,
  calls: 0,
  owner: null,
  waits_for: [],
  damaged: message
})

/** Limits on the number of files, the size of a file in bytes, and the folder depth. */
const maxFiles = 20_000
const maxBytes = 256 * 1_048_576
const maxDepth = 8

/**
 * Returns the files below a folder whose extension matches, in order. If `place` is a file, returns that file.
 * `onUnreadable` receives the subfolders that cannot be read, which are left out.
 */
export const filesIn = (
  place: string,
  endings: RegExp,
  onUnreadable: (folder: string, error: unknown) => void = () => {}
): ReadonlyArray<string> => {
  if (!statSync(place).isDirectory()) return endings.test(place) ? [place] : []
  const found: Array<string> = []
  const entriesOf = (folder: string, depth: number) => {
    try {
      return readdirSync(folder, { withFileTypes: true })
    } catch (error) {
      if (depth === 0) throw error
      onUnreadable(folder, error)
      return []
    }
  }
  const visit = (folder: string, depth: number) => {
    for (const entry of entriesOf(folder, depth)) {
      if (found.length >= maxFiles) return
      const at = path.join(folder, entry.name)
      if (entry.isDirectory()) {
        if (depth < maxDepth && entry.name !== "node_modules" && !entry.name.startsWith(".")) visit(at, depth + 1)
      } else if (entry.isFile() && endings.test(entry.name)) found.push(at)
    }
  }
  visit(place, 0)
  return found.sort()
}

/** Reads the first bytes of a file, which suffice to decide whether it may be a recording. */
const beginning = (file: string): string => {
  const descriptor = openSync(file, "r")
  try {
    const bytes = Buffer.alloc(4_096)
    // The last character may be incomplete.
    return TextEncoding.decoder()(bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0)))
  } finally {
    closeSync(descriptor)
  }
}

/** Matches the beginning of a transcript, and that of a run's events. */
const runBeginning = /^\s*\{\s*("version"\s*:\s*\d+\s*,\s*"runId"|"type"\s*:\s*"run-started")/

const megabytes = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MB`

/**
 * Reads a transcript from a file. Returns `undefined` if the file is not a recording. Throws `StudioServer.Unreadable`
 * if it is one that is damaged, of another version, too large, or not permitted to be read.
 */
export const transcriptIn = (file: string): Transcript.Transcript | undefined => {
  const unreadable = (problem: string) => new StudioServer.Unreadable(`${file} ${problem}`)
  try {
    const start = beginning(file)
    if (!/"(runId|rounds)"/.test(start)) return undefined
    const isRun = runBeginning.test(start)
    const { size } = statSync(file)
    if (size > maxBytes) {
      if (!isRun) return undefined
      throw unreadable(
        `has ${megabytes(size)}, of which at most ${megabytes(maxBytes)} can be read. Record such runs in a journal.`
      )
    }
    const read = Recording.read(TextFile.read(file))
    if (Result.isSuccess(read)) return read.success.run
    if (isRun) {
      const problem = read.failure.replace(` ${Recording.remedy}`, "")
      throw unreadable(/\bversion\b/.test(problem) ? problem : `${problem} Restore it from a backup, or delete it.`)
    }
    return undefined
  } catch (error) {
    if (error instanceof StudioServer.Unreadable) throw error
    const failure = fromUnknown(file, "read")(error)
    if (failure.reason === "Missing") return undefined
    throw new StudioServer.Unreadable(failure.message)
  }
}

/** Reads events from a file. Returns `undefined` if the file contains a transcript. */
export const eventsIn = (file: string): ReadonlyArray<RunEvent.RunEvent> | undefined => {
  if (!/\.(nd|jsonl)/.test(path.extname(file))) return undefined
  const read = Wire.decodeRunEvents(TextFile.read(file))
  return Result.isSuccess(read) ? read.success : undefined
}

/** The recorded runs below a folder. */
export interface Recordings {
  /** Lists the runs, newest first. If several files contain the same run, the first one is used. */
  readonly list: () => Promise<ReadonlyArray<Recorded>>
  /** Finds a run by id. The folder is listed again only if the id is unknown. */
  readonly find: (id: string) => Promise<Recorded | undefined>
}

/** How long a listing may read files before it yields to other requests, in milliseconds. */
const sliceMillis = 20

/** Opens the runs below a folder. `listed` returns the folder's files. */
export const open = (
  place: string,
  listed: (onUnreadable: (folder: string, error: unknown) => void) => ReadonlyArray<string> = (onUnreadable) =>
    filesIn(place, /\.(json|ndjson|jsonl)$/, onUnreadable)
): Recordings => {
  const known = new Map<string, { readonly stamp: string; readonly recorded: Recorded | undefined }>()
  let runs = new Map<string, Recorded>()
  const unreadable = (file: string, message: string, changedAt: number): Recorded => ({
    file,
    summary: damaged(path.relative(place, file) || path.basename(file), message, changedAt)
  })
  const recordedIn = (file: string, changedAt: number): Recorded | undefined => {
    try {
      const transcript = transcriptIn(file)
      return transcript && { file, summary: Summary.fromTranscript(transcript) }
    } catch (error) {
      return unreadable(file, (error as StudioServer.Unreadable).message, changedAt)
    }
  }
  const read = (file: string): Recorded | undefined => {
    const { mtimeMs, size } = statSync(file)
    const stamp = `${mtimeMs}/${size}`
    const found = known.get(file)
    if (found?.stamp === stamp) return found.recorded
    const recorded = recordedIn(file, Math.round(mtimeMs))
    known.set(file, { stamp, recorded })
    return recorded
  }
  /** A file may be deleted at any time. */
  const readIfThere = (file: string): Recorded | undefined => {
    try {
      return read(file)
    } catch {
      known.delete(file)
      return undefined
    }
  }
  const scan = async (): Promise<ReadonlyArray<Recorded>> => {
    const found = new Map<string, Recorded>()
    let began = performance.now()
    const onUnreadable = (folder: string, error: unknown) => {
      const { message } = fromUnknown(folder, "read")(error)
      const recorded = unreadable(folder, message, 0)
      found.set(recorded.summary.id, recorded)
    }
    for (const file of listed(onUnreadable)) {
      const recorded = readIfThere(file)
      if (recorded !== undefined && !found.has(recorded.summary.id)) found.set(recorded.summary.id, recorded)
      if (performance.now() - began > sliceMillis) {
        await setImmediate()
        began = performance.now()
      }
    }
    runs = found
    return [...found.values()].sort((one, other) => other.summary.started_at - one.summary.started_at)
  }
  let scanning: Promise<ReadonlyArray<Recorded>> | undefined
  const list = () => {
    scanning ??= scan().finally(() => {
      scanning = undefined
    })
    return scanning
  }
  const find = async (id: string): Promise<Recorded | undefined> => {
    const at = runs.get(id)
    const recorded = at && readIfThere(at.file)
    if (recorded?.summary.id === id) return recorded
    return (await list()).find(({ summary }) => summary.id === id)
  }
  return { list, find }
}
