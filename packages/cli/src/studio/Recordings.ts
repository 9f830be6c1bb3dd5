/** Finds the runs below a folder, in transcripts, event files and journals. Files are read on demand. */
import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs"
import path from "node:path"
import { setImmediate } from "node:timers/promises"
import type { RunEvent, Transcript } from "@divisi/core"
import * as Wire from "@divisi/core/Wire"
import { Summary } from "@divisi/studio"
import * as Result from "effect/Result"
import * as TextFile from "../invocation/TextFile.ts"
import * as Recording from "../replay/Recording.ts"

/** A run recorded in a file. */
export interface Recorded {
  readonly file: string
  readonly summary: Summary.Summary
}

/** Limits on the number of files, the size of a file in bytes, and the folder depth. */
const maxFiles = 20_000
const maxBytes = 256 * 1_048_576
const maxDepth = 8

/** Returns the files below a folder whose extension matches, in order. If `place` is a file, returns that file. */
export const filesIn = (place: string, endings: RegExp): ReadonlyArray<string> => {
  if (!statSync(place).isDirectory()) return endings.test(place) ? [place] : []
  const found: Array<string> = []
  const visit = (folder: string, depth: number) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
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
    return TextFile.decode(bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0)))
  } finally {
    closeSync(descriptor)
  }
}

const mayBeRun = (file: string): boolean => statSync(file).size <= maxBytes && /"(runId|rounds)"/.test(beginning(file))

/** Reads a transcript from a file. Returns `undefined` if the file is not a recording. */
export const transcriptIn = (file: string): Transcript.Transcript | undefined => {
  try {
    if (!mayBeRun(file)) return undefined
    const read = Recording.read(TextFile.read(file))
    return Result.isSuccess(read) ? read.success.run : undefined
  } catch {
    return undefined
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
  listed: () => ReadonlyArray<string> = () => filesIn(place, /\.(json|ndjson|jsonl)$/)
): Recordings => {
  const known = new Map<string, { readonly stamp: string; readonly recorded: Recorded | undefined }>()
  let runs = new Map<string, Recorded>()
  const read = (file: string): Recorded | undefined => {
    const { mtimeMs, size } = statSync(file)
    const stamp = `${mtimeMs}/${size}`
    const found = known.get(file)
    if (found?.stamp === stamp) return found.recorded
    const transcript = transcriptIn(file)
    const recorded = transcript && { file, summary: Summary.fromTranscript(transcript) }
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
    for (const file of listed()) {
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
