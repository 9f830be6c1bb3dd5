/**
 * The journal of an evaluation: a line for what is planned, one for each payment and one for each sample. Where a plan
 * was changed the last stands.
 *
 * Lines are appended in whole and reach the disk in batches. A process may be killed between any two bytes: what is
 * behind the last line end is cut off when the journal is opened again.
 */
import fs from "node:fs"
import path from "node:path"
import readline from "node:readline"
import type { Payment } from "@divisi/core/Budget"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Plan, Sample } from "../report/Report.ts"
import { key } from "../report/Report.ts"

/** An answer under its key. */
type Answered = NonNullable<Payment["answered"]>

/** The version of the lines. */
const version = 1

type Line =
  | { readonly type: "plan"; readonly version: number; readonly plan: Plan }
  | { readonly type: "paid"; readonly costUsd: number | null; readonly answered?: Answered | undefined }
  | { readonly type: "sample"; readonly sample: Sample }

/** A journal cannot be used. */
export class JournalError extends Data.TaggedError("JournalError")<{
  readonly file: string
  readonly reason: "unwritable" | "foreign" | "newer" | "in-use"
  readonly detail: string
}> {
  override get message(): string {
    const todo = {
      unwritable: "check the path, its permissions and the space that is left",
      foreign: "choose another folder",
      newer: "update, or choose another folder",
      "in-use": "wait for it, or choose another folder"
    }[this.reason]
    return `${this.file} cannot be used: ${this.detail}; ${todo}.`
  }
}

/** What a journal holds. */
export interface Contents {
  readonly plan: Plan
  /** By their keys; of two samples of one key the later stands. */
  readonly samples: ReadonlyMap<string, Sample>
  readonly paidUsd: number
  /** The last answers that were paid for: the store may have been killed, or lost power, before it had them. */
  readonly lastAnswers: ReadonlyArray<Answered>
  /** The bytes of its whole lines. */
  readonly bytes: number
}

/** A journal that is being written. */
export interface Journal {
  readonly sample: (sample: Sample) => void
  readonly paid: (payment: Payment) => void
  /** Waits until everything is on the disk. */
  readonly flush: () => void
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

const attempt = <A>(file: string, work: () => A): Effect.Effect<A, JournalError> =>
  Effect.try({
    try: work,
    catch: (error) => new JournalError({ file, reason: "unwritable", detail: messageOf(error) })
  })

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const foreign = (file: string, detail: string) => new JournalError({ file, reason: "foreign", detail })

/** Where the last whole line ends: the file is read backwards in pieces. */
const endOfLines = (file: string): number => {
  const descriptor = fs.openSync(file, "r")
  try {
    const piece = Buffer.alloc(65_536)
    for (let end = fs.fstatSync(descriptor).size; end > 0; ) {
      const start = Math.max(0, end - piece.length)
      fs.readSync(descriptor, piece, 0, end - start, start)
      const at = piece.subarray(0, end - start).lastIndexOf(10)
      if (at !== -1) return start + at + 1
      end = start
    }
    return 0
  } finally {
    fs.closeSync(descriptor)
  }
}

const parse = (file: string, text: string, number: number): Line => {
  try {
    const line: unknown = JSON.parse(text)
    if (typeof line === "object" && line !== null && "type" in line) return line as Line
  } catch {
    // Said below.
  }
  throw foreign(file, `line ${number} is none of a journal`)
}

/** How many of the last answers are looked for in the store. */
const answersKept = 1_000

const readAll = async (file: string): Promise<Contents | undefined> => {
  const bytes = endOfLines(file)
  if (bytes === 0) return undefined
  let plan: Plan | undefined
  let paidUsd = 0
  let number = 0
  const samples = new Map<string, Sample>()
  const answers: Array<Answered> = []
  const input = fs.createReadStream(file, { end: bytes - 1 })
  for await (const text of readline.createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    const line = parse(file, text, ++number)
    if (line.type === "plan") {
      if (line.version > version) {
        throw new JournalError({ file, reason: "newer", detail: `it has version ${line.version}` })
      }
      plan = line.plan
    } else if (line.type === "paid") {
      paidUsd += line.costUsd ?? 0
      if (line.answered !== undefined && answers.push(line.answered) > 2 * answersKept) answers.splice(0, answersKept)
    } else if (line.type === "sample") samples.set(key(line.sample), line.sample)
  }
  if (plan === undefined) throw foreign(file, "it does not begin with a plan")
  return { plan, samples, paidUsd, lastAnswers: answers.slice(-answersKept), bytes }
}

/** What a journal holds; `undefined` when there is none, or nothing whole in it. */
export const read = (file: string): Effect.Effect<Contents | undefined, JournalError> =>
  Effect.suspend(() =>
    fs.existsSync(file)
      ? Effect.tryPromise({
          try: () => readAll(file),
          catch: (error) => (error instanceof JournalError ? error : foreign(file, messageOf(error)))
        })
      : Effect.undefined
  )

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

const encode = (line: Line): string => `${JSON.stringify(line)}\n`

const header = (plan: Plan): string => encode({ type: "plan", version, plan })

/** After so many lines, or so long, they are brought to the disk. */
const batch = { lines: 64, millis: 1_000 }

const writer = (descriptor: number): Journal => {
  let waiting = 0
  let since = 0
  const flush = () => {
    if (waiting > 0) fs.fsyncSync(descriptor)
    waiting = 0
  }
  const append = (line: Line) => {
    fs.writeSync(descriptor, encode(line))
    const now = performance.now()
    if (waiting++ === 0) since = now
    if (waiting >= batch.lines || now - since >= batch.millis) flush()
  }
  return {
    sample: (sample) => append({ type: "sample", sample }),
    paid: ({ answered, costUsd }) => append({ type: "paid", costUsd: costUsd ?? null, answered }),
    flush
  }
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

/** One process at a time; the lock of a process that was killed is taken over. */
export const lock = (file: string): Effect.Effect<void, JournalError, Scope.Scope> => {
  const name = `${file}.lock`
  const take = (): void => fs.writeFileSync(name, String(process.pid), { flag: "wx" })
  const acquire = attempt(file, () => {
    fs.mkdirSync(path.dirname(file), { recursive: true })
    try {
      take()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
      const pid = Number(fs.readFileSync(name, "utf8"))
      if (pid > 0 && pid !== process.pid && isRunning(pid)) return pid
      fs.rmSync(name, { force: true })
      take()
    }
    return undefined
  }).pipe(
    Effect.flatMap((pid) =>
      pid === undefined
        ? Effect.void
        : Effect.fail(new JournalError({ file, reason: "in-use", detail: `process ${pid} writes it` }))
    )
  )
  return Effect.acquireRelease(acquire, () => Effect.sync(() => fs.rmSync(name, { force: true })))
}

const isSame = (before: Plan | undefined, plan: Plan): boolean => JSON.stringify(before) === JSON.stringify(plan)

/**
 * Opens a journal: what was in it already, and a way to go on. `check` may refuse what was planned before.
 */
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
  const before = yield* read(file)
  if (before !== undefined) yield* check(before.plan)
  const descriptor = yield* Effect.acquireRelease(
    attempt(file, () => {
      if (fs.existsSync(file)) fs.truncateSync(file, before?.bytes ?? 0)
      const descriptor = fs.openSync(file, "a")
      if (!isSame(before?.plan, plan)) fs.writeSync(descriptor, header(plan))
      return descriptor
    }),
    (descriptor) =>
      Effect.sync(() => {
        fs.fsyncSync(descriptor)
        fs.closeSync(descriptor)
      })
  )
  return { journal: writer(descriptor), before }
})

/** The text of a journal that holds all this. */
export const textOf = ({
  paidUsd,
  plan,
  samples
}: Pick<Contents, "plan" | "paidUsd"> & { readonly samples: ReadonlyArray<Sample> }): string =>
  [
    header(plan),
    encode({ type: "paid", costUsd: paidUsd }),
    ...samples.map((sample) => encode({ type: "sample", sample }))
  ].join("")
