/**
 * The journal of an evaluation: a line for what is planned, one for each payment and one for each sample. Where a plan
 * was changed the last stands.
 *
 * Lines are appended in whole and reach the disk in batches.
 */
import fs from "node:fs"
import type { Payment } from "@divisi/core/Budget"
import { detailOf } from "@divisi/files/FileError"
import * as JsonLines from "@divisi/files/JsonLines"
import * as Lock from "@divisi/files/Lock"
import * as WholeFile from "@divisi/files/WholeFile"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
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
}

/** A journal that is being written. */
export interface Journal {
  readonly sample: (sample: Sample) => void
  readonly paid: (payment: Payment) => void
  /** Waits until everything is on the disk. */
  readonly flush: () => void
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const foreign = (file: string, detail: string) => new JournalError({ file, reason: "foreign", detail })

const unwritable = (file: string) => (error: { readonly cause: unknown }) =>
  new JournalError({ file, reason: "unwritable", detail: detailOf(error.cause) })

const lineOf = (file: string, value: unknown, number: number): Line => {
  if (typeof value === "object" && value !== null && "type" in value) return value as Line
  throw foreign(file, `line ${number} is none of a journal`)
}

/** How many of the last answers are looked for in the store. */
const answersKept = 1_000

/** Gathers what lines hold, one after another. */
const gather = (file: string) => {
  let plan: Plan | undefined
  let paidUsd = 0
  let number = 0
  const samples = new Map<string, Sample>()
  const answers: Array<Answered> = []
  const add = (value: unknown): void => {
    const line = lineOf(file, value, ++number)
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
  const contents = (): Contents | undefined => {
    if (number === 0) return undefined
    if (plan === undefined) throw foreign(file, "it does not begin with a plan")
    return { plan, samples, paidUsd, lastAnswers: answers.slice(-answersKept) }
  }
  return { add, contents }
}

const unreadable = (file: string) => (error: unknown) => {
  if (error instanceof JournalError) return error
  return foreign(
    file,
    error instanceof JsonLines.LineError ? `line ${error.line} is none of a journal` : detailOf(error)
  )
}

/** What a journal holds; `undefined` when there is none, or nothing whole in it. */
export const read = (file: string): Effect.Effect<Contents | undefined, JournalError> =>
  Effect.suspend(() => {
    if (!fs.existsSync(file)) return Effect.undefined
    const gathered = gather(file)
    const attempt = <A>(run: () => A) => Effect.try({ try: run, catch: (error) => error as JournalError })
    return Stream.runForEach(JsonLines.read(file), (value) => attempt(() => gathered.add(value))).pipe(
      Effect.andThen(attempt(gathered.contents)),
      Effect.mapError(unreadable(file))
    )
  })

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

const header = (plan: Plan): Line => ({ type: "plan", version, plan })

/** After so many lines, or so long, they are brought to the disk. */
const batch = { syncLines: 64, syncMillis: 1_000 }

const journalOf = ({ append, flush }: JsonLines.Writer): Journal => {
  const write = (line: Line) => append(line)
  return {
    sample: (sample) => write({ type: "sample", sample }),
    paid: ({ answered, costUsd }) => write({ type: "paid", costUsd: costUsd ?? null, answered }),
    flush
  }
}

/** One process at a time. */
export const lock = (file: string): Effect.Effect<void, JournalError, Scope.Scope> =>
  Effect.mapError(Lock.hold(`${file}.lock`), ({ message, reason }) =>
    reason._tag === "Held"
      ? new JournalError({ file, reason: "in-use", detail: `${Lock.nameOf(reason.holder)} writes it` })
      : new JournalError({ file, reason: "unwritable", detail: message })
  )

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
  const writer = yield* JsonLines.open(file, batch).pipe(
    Effect.tap((writer) =>
      isSame(before?.plan, plan) ? Effect.void : JsonLines.attempt(() => writer.append(header(plan)))
    ),
    Effect.mapError(unwritable(file))
  )
  return { journal: journalOf(writer), before }
})

/** Writes a journal anew that holds all this, and no answers. */
export const replace = (
  file: string,
  contents: Pick<Contents, "plan" | "paidUsd"> & { readonly samples: ReadonlyArray<Sample> }
): Effect.Effect<void, JournalError> => {
  const { paidUsd, plan, samples } = contents
  const lines: ReadonlyArray<Line> = [
    header(plan),
    { type: "paid", costUsd: paidUsd },
    ...samples.map((sample): Line => ({ type: "sample", sample }))
  ]
  return WholeFile.write(
    file,
    lines.map((line) => `${JSON.stringify(line)}\n`)
  ).pipe(Effect.mapError(unwritable(file)))
}
