/**
 * The journal of an evaluation has one line for the plan, one per sample, and one for each other payment. If the plan
 * was changed, the last one applies. Calls and their answers are stored separately, in the journal of the runs.
 *
 * Lines are appended atomically and flushed to disk in batches. Each line has a checksum, so a damaged line can be
 * skipped without affecting the others. While the disk is not writable, lines are retained in memory and no further
 * calls are made.
 */

import fs from "node:fs"
import path from "node:path"
import { isObject } from "@divisi/core/Fields"
import { JsonLines, Lock, Sealed, WholeFile } from "@divisi/files"
import { detailOf, type FileError } from "@divisi/files/FileError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Plan, Sample } from "../report/Report.ts"
import { key, runId } from "../report/Report.ts"
import { names } from "../report/ReportFile.ts"

/** Format version of the lines. */
const version = 1

/**
 * A line in the journal. `totalUsd` is the total paid for all finished samples, so that a damaged line does not lose a
 * payment. `run` is the run that the line completes.
 */
type Line =
  | { readonly type: "plan"; readonly version: number; readonly plan: Plan }
  | { readonly type: "paid"; readonly totalUsd: number; readonly run?: string | undefined }
  | { readonly type: "sample"; readonly totalUsd: number; readonly run?: string | undefined; readonly sample: Sample }

/** The journal of an evaluation cannot be read or written. */
export class JournalError extends Data.TaggedError("JournalError")<{
  readonly file: string
  readonly reason: "full" | "unwritable" | "foreign" | "damaged" | "torn" | "newer" | "in-use"
  readonly detail: string
  /** Number of stored answers, if any may exist. */
  readonly kept?: number | undefined
}> {
  override get message(): string {
    const { detail, file, kept = 0, reason } = this
    const answers = kept === 0 ? "" : ` ${kept} ${kept === 1 ? "answer has" : "answers have"} been saved.`
    if (reason === "full") {
      const disk = path.dirname(path.resolve(file))
      return `The disk with ${disk} is full. Free some space and run the command again.${answers}`
    }
    const todo = {
      unwritable: "Check the path and its permissions, and run the command again",
      foreign: "Choose another folder",
      damaged: "Rerun the evaluation in the same folder; only lost answers are paid for again",
      torn: "Delete it and rerun the command; runs in progress start over",
      newer: "Update Divisi, or choose another folder",
      "in-use": "Wait until it finishes, or choose another folder"
    }[reason]
    return `Cannot use ${file}: ${detail}. ${todo}.${answers}`
  }
}

/** Contents of a journal. */
export interface Contents {
  /** Omitted if every plan line is damaged. */
  readonly plan: Plan | undefined
  /** Samples by key. If a key occurs twice, the later sample applies. */
  readonly samples: ReadonlyMap<string, Sample>
  /** USD paid for all finished runs. */
  readonly paidUsd: number
  /** Names of the finished runs. */
  readonly ended: ReadonlySet<string>
  /** Line numbers that cannot be read. */
  readonly damaged: ReadonlyArray<number>
}

/** A finished run and its cost. */
export interface Ended {
  readonly run?: string | undefined
  readonly paidUsd: number
}

/** A journal open for writing. Entries that cannot be written stay pending and are written before later ones. */
export interface Journal {
  /** Records a run that finished with a sample. */
  readonly sample: (sample: Sample, ended: Ended) => void
  /** Records a run that finished without a sample, or a payment that belongs to no run. */
  readonly paid: (ended: Ended) => void
  /** Writes the total paid again, so that a damaged line does not lose it. */
  readonly sum: () => void
  /** Retries pending entries. Returns the error if some still cannot be written, otherwise `undefined`. */
  readonly waiting: () => JournalError | undefined
  /** Flushes all entries to disk. Returns the error if that fails. */
  readonly flush: () => JournalError | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const foreign = (file: string, detail: string) => new JournalError({ file, reason: "foreign", detail })

/** Creates the error for a file that cannot be written. */
export const unwritable =
  (kept?: number) =>
  (error: Pick<FileError, "file" | "reason" | "cause">): JournalError =>
    new JournalError({
      file: error.file,
      reason: error.reason === "Full" ? "full" : "unwritable",
      detail: detailOf(error.cause),
      kept
    })

/** Whether a value read from the file is a plan. */
const isPlan = (plan: unknown): plan is Plan => {
  if (!isObject(plan)) return false
  const { benchmarks, config, pool } = plan as Partial<Plan>
  return isObject(config) && Array.isArray(config.policies) && Array.isArray(benchmarks) && Array.isArray(pool)
}

/** Collects the contents of a journal line by line. */
const gather = (file: string) => {
  let plan: Plan | undefined
  let paidUsd = 0
  let lines = 0
  const samples = new Map<string, Sample>()
  const ended = new Set<string>()
  const damaged: Array<number> = []
  const add = (value: unknown): void => {
    const line = value as Line
    if (line.type === "plan" && isPlan(line.plan)) {
      if (line.version > version) {
        throw new JournalError({ file, reason: "newer", detail: `it has version ${line.version}` })
      }
      plan = line.plan
    } else if (line.type === "paid" && Number.isFinite(line.totalUsd)) {
      // It contains no other information.
    } else if (line.type === "sample" && Number.isFinite(line.totalUsd) && isObject(line.sample)) {
      samples.set(key(line.sample), line.sample)
    } else throw foreign(file, "it was not written by an evaluation")
    if (line.type !== "plan") {
      paidUsd = line.totalUsd
      if (line.run !== undefined) ended.add(line.run)
    }
    lines += 1
  }
  const contents = (): Contents | undefined => {
    if (lines === 0 && damaged.length === 0) return undefined
    return { plan, samples, paidUsd, ended, damaged }
  }
  return { add, contents, damaged, hasLines: () => lines > 0 }
}

/** Start of the first line of every journal. */
const beginning = '{"type":"plan"'

/**
 * Whether a file without a readable line is a journal with an incomplete or damaged first line, as opposed to some
 * other file.
 */
const isBegun = (file: string): boolean => {
  const descriptor = fs.openSync(file, "r")
  try {
    const piece = Buffer.alloc(beginning.length)
    const length = fs.readSync(descriptor, piece, 0, piece.length, 0)
    return beginning.startsWith(piece.toString("latin1", 0, length))
  } finally {
    fs.closeSync(descriptor)
  }
}

const attempt = <A>(file: string, run: () => A) =>
  Effect.try({
    try: run,
    catch: (error) => (error instanceof JournalError ? error : foreign(file, detailOf(error)))
  })

/** Reads a journal. Returns `undefined` if the file does not exist or has no intact line. */
export const read = (file: string): Effect.Effect<Contents | undefined, JournalError> =>
  Effect.gen(function* () {
    yield* Effect.mapError(JsonLines.checkPlain(file), ({ cause }) => foreign(file, detailOf(cause)))
    if (!fs.existsSync(file)) return undefined
    const gathered = gather(file)
    const onDamaged = ({ line }: JsonLines.LineError) => void gathered.damaged.push(line)
    yield* Stream.runForEach(JsonLines.read(file, { seal: "required", onDamaged }), (value) =>
      attempt(file, () => gathered.add(value))
    ).pipe(Effect.mapError((error) => (error instanceof JournalError ? error : foreign(file, detailOf(error)))))
    if (!(gathered.hasLines() || (yield* attempt(file, () => isBegun(file))))) {
      return yield* foreign(file, "line 1 is not part of an evaluation journal")
    }
    return gathered.contents()
  })

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

const header = (plan: Plan): Line => ({ type: "plan", version, plan })

/** Lines are flushed to disk after this many lines or this much time. */
const batch = { isSealed: true, syncLines: 64, syncMillis: 1_000 }

const journalOf = (writer: JsonLines.Writer, before: Contents | undefined): Journal => {
  const lines: Array<Line> = []
  let paidUsd = before?.paidUsd ?? 0
  let kept = before?.samples.size ?? 0
  const attempted = (run: () => void): JournalError | undefined => {
    try {
      run()
      return undefined
    } catch (error) {
      return unwritable(kept)(error as FileError)
    }
  }
  const waiting = () =>
    attempted(() => {
      for (let line = lines[0]; line !== undefined; line = lines[0]) {
        writer.append(line)
        lines.shift()
        if (line.type === "sample") kept += 1
      }
    })
  const write = (line: Line) => {
    lines.push(line)
    waiting()
  }
  let isSummed = true
  const totalWith = (ended: Ended): number => {
    isSummed = false
    paidUsd += ended.paidUsd
    return paidUsd
  }
  return {
    sample: (sample, ended) => write({ type: "sample", totalUsd: totalWith(ended), run: ended.run, sample }),
    paid: (ended) => write({ type: "paid", totalUsd: totalWith(ended), run: ended.run }),
    sum: () => {
      if (!isSummed) write({ type: "paid", totalUsd: paidUsd })
      isSummed = true
    },
    waiting,
    flush: () => waiting() ?? attempted(writer.flush)
  }
}

/** Locks the journal, so that only one process writes to it. */
export const lock = (file: string): Effect.Effect<void, JournalError, Scope.Scope> =>
  Effect.mapError(Lock.hold(`${file}.lock`), ({ message, reason }) =>
    reason._tag === "Held"
      ? new JournalError({ file, reason: "in-use", detail: `it is in use by ${Lock.nameOf(reason.holder)}` })
      : new JournalError({ file, reason: "unwritable", detail: message })
  )

/** Rewrites the readable part of a damaged journal. If the plan is lost, all samples are rerun. */
const repair = (file: string, { damaged, plan }: Contents): Effect.Effect<void, JournalError> =>
  WholeFile.writeWith(file, async (sink) => {
    const values = Stream.toAsyncIterable(JsonLines.read(file, { seal: "required", onDamaged: () => {} }))
    for await (const value of values) {
      if (plan !== undefined || (value as Line).type !== "sample")
        await sink.write(`${Sealed.stringify(value as Line)}\n`)
    }
  }).pipe(
    Effect.mapError(unwritable()),
    Effect.tap(() =>
      Effect.logWarning(
        `${file} was damaged in ${damaged.length === 1 ? "line" : "lines"} ${damaged.join(", ")}, which ${damaged.length === 1 ? "was" : "were"} ignored. The lost samples are measured again.`
      )
    )
  )

const isSame = (before: Plan | undefined, plan: Plan): boolean => JSON.stringify(before) === JSON.stringify(plan)

/** Opens a journal. Returns its contents and a journal to append to. `check` may reject the stored plan. */
export const open = Effect.fnUntraced(function* <E>(
  file: string,
  plan: Plan,
  check: (before: Plan) => Effect.Effect<void, E>
): Effect.fn.Return<
  { readonly journal: Journal; readonly before: Contents | undefined },
  JournalError | E,
  Scope.Scope
> {
  yield* lock(file)
  const { journal, results, samples } = names
  yield* Effect.mapError(WholeFile.sweep(path.dirname(file), [journal, results, samples]), unwritable())
  const found = yield* read(file)
  if (found?.plan !== undefined) yield* check(found.plan)
  if (found !== undefined && found.damaged.length > 0) yield* repair(file, found)
  const before = found?.plan === undefined && found !== undefined ? { ...found, samples: new Map() } : found
  const writer = yield* JsonLines.open(file, batch).pipe(
    Effect.tap((writer) =>
      isSame(before?.plan, plan) ? Effect.void : JsonLines.attempt(() => writer.append(header(plan)))
    ),
    Effect.mapError(unwritable(before?.samples.size))
  )
  return { journal: journalOf(writer, before), before }
})

/** Replaces a journal with the given contents, without answers. */
export const replace = (
  file: string,
  contents: { readonly plan: Plan; readonly paidUsd: number; readonly samples: ReadonlyArray<Sample> }
): Effect.Effect<void, JournalError> => {
  const { paidUsd, plan, samples } = contents
  const lines: ReadonlyArray<Line> = [
    header(plan),
    { type: "paid", totalUsd: paidUsd },
    ...samples.map((sample): Line => ({ type: "sample", totalUsd: paidUsd, run: runId(sample), sample }))
  ]
  return WholeFile.write(
    file,
    lines.map((line) => `${Sealed.stringify(line)}\n`)
  ).pipe(Effect.mapError(unwritable()))
}
