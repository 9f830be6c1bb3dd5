/** Evaluations on disks that are full, and folders that a disk, or a hand, has changed. */

import fs from "node:fs"
import path from "node:path"
import { Baselines } from "@divisi/core"
import * as Message from "@divisi/core/Message"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Task from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { Sealed } from "@divisi/files"
import { FileError } from "@divisi/files/FileError"
import { IntegerGrader } from "@divisi/graders/math"
import { afterEach, describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Evaluation from "../src/evaluation/Evaluation.ts"
import * as Journal from "../src/evaluation/journal.ts"
import * as Regrade from "../src/evaluation/Regrade.ts"
import * as ReportFile from "../src/report/ReportFile.ts"
import { folder } from "./folder.ts"

const doubles = (length: number) =>
  Evaluation.madeSuite({
    id: "doubles",
    title: "Doubles",
    prompt: "doubles/1",
    licence: "MIT",
    tasks: Array.from({ length }, (_, n) =>
      Task.make({ id: `task-${n}`, question: `Twice ${n}?`, reference: `${2 * n}` })
    ),
    grader: IntegerGrader.integer,
    seed: 0
  })

const suites = [doubles(6)]

/** Answers, and counts how often it is asked. */
const counting = (text = "") => {
  const asked: Array<string> = []
  const worker = ScriptedWorker.make({
    id: "a",
    pricing: { inputPerMillion: 1_000, outputPerMillion: 10_000 },
    replies: ({ messages }) => {
      const question = Message.text(messages.at(-1))
      asked.push(question)
      return `${text}${2 * Number(/\d+/.exec(question)?.[0])}`
    }
  })
  return { asked, pool: WorkerPool.makeUnsafe([worker]) }
}

/** Runs an evaluation, and collects its messages. */
const evaluate = (at: string, pool: WorkerPool.WorkerPool, options: Partial<Evaluation.Options> = {}) => {
  const said: Array<unknown> = []
  const logger = Logger.make(({ message }) => void said.push(message))
  return Evaluation.run({
    suites,
    policies: [{ policy: Baselines.single(0) }],
    pool,
    folder: at,
    concurrency: 2,
    ...options
  }).pipe(
    Effect.map(({ report, samples }) => ({ report, samples, said: said.flat().join("\n") })),
    Effect.provide(Logger.layer([logger]))
  )
}

const essence = (samples: Evaluation.Evaluated["samples"]) =>
  samples.map(({ answer, score, task }) => [task, answer, score])

const journalOf = (at: string) => path.join(at, ReportFile.names.journal)

const { writeSync } = fs
afterEach(() => {
  fs.writeSync = writeSync
})

/** Has the disk be full for some calls after the first ones: it takes a part, and then nothing. */
const fill = (after: number, calls: number) => {
  let left = after
  fs.writeSync = ((descriptor: number, data: Uint8Array, offset: number, length: number, position: number) => {
    left -= 1
    if (left >= 0 || left < -calls) return writeSync(descriptor, data, offset, length, position)
    if (left % 2 === -1 && length > 1) return writeSync(descriptor, data, offset, length >> 1, position)
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" })
  }) as typeof fs.writeSync
}

describe("an answer with what Unicode takes for an end of line", () => {
  it.effect("leaves an evaluation that can be opened, graded and read again", () =>
    Effect.gen(function* () {
      const at = folder()
      const { asked, pool } = counting("a\u2028b\u2029c\u0085d\re ")
      const first = yield* evaluate(at, pool)
      const again = yield* evaluate(at, pool)
      expect([asked.length, again.report]).toEqual([6, first.report])
      const regraded = yield* Regrade.regrade({ folder: at, suites })
      expect([regraded.graded, regraded.changes]).toEqual([6, []])
      expect((yield* ReportFile.readSamples(at)).length).toBe(6)
    })
  )
})

describe("a full disk", () => {
  it.effect("that has room again does no harm, no matter where the journal was full", () =>
    Effect.gen(function* () {
      const expected = essence((yield* evaluate(folder(), counting().pool)).samples)
      for (let after = 1; after < 9; after++) {
        for (const calls of [1, 2, 3, 8]) {
          const at = folder()
          const { asked, pool } = counting()
          fill(after, calls)
          // If the disk was full for long, run it again.
          const first = yield* Effect.result(evaluate(at, pool))
          fs.writeSync = writeSync
          const { samples, said } = yield* evaluate(at, pool)
          expect(essence(samples)).toEqual(expected)
          expect([said, (yield* Journal.read(journalOf(at)))?.damaged]).toEqual(["", []])
          // Two are under way at once: no more can be lost with the process, and none without.
          expect(asked.length).toBeLessThanOrEqual(first._tag === "Success" ? 6 : 8)
        }
      }
    })
  )

  it.effect("ends it with advice, makes no further call, and reports how many answers are stored", () =>
    Effect.gen(function* () {
      const at = folder()
      const { asked, pool } = counting()
      fill(5, Number.POSITIVE_INFINITY)
      const error = yield* Effect.flip(evaluate(at, pool))
      expect(error._tag).toBe("JournalError")
      expect(error.message).toBe(
        `The disk with ${at} is full. Free some space and run the command again; 2 answers have been saved.`
      )
      expect(asked.length).toBeLessThanOrEqual(4)
      fs.writeSync = writeSync
      const before = asked.length
      const { report } = yield* evaluate(at, pool)
      expect(report.extent).toMatchObject({ status: "complete", samples: 6 })
      expect(asked.length - before).toBeLessThanOrEqual(4)
    })
  )

  it.effect("finds an answer that could not be written in memory, and does not pay for it again", () =>
    Effect.gen(function* () {
      const { asked, pool } = counting()
      // From the first answer on the disk takes nothing, and no store keeps it either, until both samples are made.
      let hasRoom = false
      fs.writeSync = ((...args: Parameters<typeof writeSync>) => {
        if (asked.length === 0 || hasRoom) return writeSync(...args)
        throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" })
      }) as typeof writeSync
      const single = Baselines.single(0)
      const answered = yield* Deferred.make<void>()
      // The other sample is under way, and asks the same when the first could not be written.
      const late: typeof single = {
        ...single,
        name: "late",
        propose: (context) => Effect.andThen(Deferred.await(answered), single.propose(context))
      }
      const { samples } = yield* evaluate(folder(), pool, {
        suites: [doubles(1)],
        policies: [{ policy: late }, { policy: single }],
        run: { worker: { temperature: 0 } },
        sampleSeed: () => 0,
        store: { get: () => Effect.undefined, set: () => Effect.void },
        onProgress: ({ done }) => {
          if (done === 1) Deferred.doneUnsafe(answered, Effect.void)
          hasRoom = done === 2
        }
      })
      expect([asked.length, samples.map(({ score }) => score)]).toEqual([1, [1, 1]])
    })
  )

  it.effect("keeps no sample whose transcript it does not take", () =>
    Effect.gen(function* () {
      const at = folder()
      const { asked, pool } = counting()
      let room = 3
      const onTranscript = () => (room-- > 0 ? Effect.void : full)
      const file = path.join(at, "transcripts", "x.json")
      const full = Effect.fail(new FileError({ file, tried: "written", reason: "Full", cause: new Error("ENOSPC") }))
      const error = yield* Effect.flip(evaluate(at, pool, { onTranscript, concurrency: 1 }))
      expect(error.message).toContain(`The disk with ${path.join(at, "transcripts")}`)
      const transcripts: Array<string> = []
      const { samples } = yield* evaluate(at, pool, { onTranscript: (_, { task }) => void transcripts.push(task) })
      expect([samples.length, transcripts.length, asked.length]).toEqual([6, 3, 6])
    })
  )
})

describe("a damaged journal", () => {
  const lines = (at: string) => fs.readFileSync(journalOf(at), "utf8").trimEnd().split("\n")

  it.effect("loses the damaged line alone, reports it once, and pays for nothing that another line holds", () =>
    Effect.gen(function* () {
      const expected = essence((yield* evaluate(folder(), counting().pool)).samples)
      const whole = folder()
      yield* evaluate(whole, counting().pool)
      for (const [index, line] of lines(whole).entries()) {
        const at = folder()
        const { asked, pool } = counting()
        yield* evaluate(at, pool)
        const paidUsd = (yield* Journal.read(journalOf(at)))!.paidUsd
        const damaged = lines(at)
        damaged[index] = damaged[index]!.replace(/[0-9a-f](?="\}$)/, (digit) => (digit === "0" ? "1" : "0"))
        fs.writeFileSync(journalOf(at), `${damaged.join("\n")}\n`)
        const refused = yield* Effect.flip(Regrade.regrade({ folder: at, suites }))
        expect(refused.message).toContain(`line ${index + 1} cannot be read. Rerun the evaluation in the same folder`)
        const { samples, said } = yield* evaluate(at, pool)
        expect(essence(samples)).toEqual(expected)
        expect(said).toContain(`was damaged in line ${index + 1}, which was ignored`)
        expect(asked).toHaveLength(6)
        expect((yield* Journal.read(journalOf(at)))!.paidUsd).toBeCloseTo(paidUsd, 9)
        expect((yield* evaluate(at, pool)).said).toBe("")
        expect((yield* Regrade.regrade({ folder: at, suites })).graded).toBe(6)
        expect(line.length).toBeGreaterThan(0)
      }
    })
  )

  it.effect("of another user is refused and left, also through a link", () =>
    Effect.gen(function* () {
      const { pool } = counting()
      for (const [isLink, text] of [
        [true, "a precious line without end"],
        [false, "a precious line without end"],
        [false, '{"type":"planet"}\n'],
        [true, ""]
      ] as const) {
        const at = folder()
        const victim = isLink ? path.join(at, "victim") : journalOf(at)
        fs.writeFileSync(victim, text)
        if (isLink) fs.symlinkSync("victim", journalOf(at))
        const error = yield* Effect.flip(evaluate(at, pool))
        expect(error.message).toContain("choose another folder")
        expect(fs.readFileSync(victim, "utf8")).toBe(text)
      }
    })
  )

  it.effect("that was killed in its first line is begun again", () =>
    Effect.gen(function* () {
      for (const text of ["", "{", '{"type":"plan","version":1,"pl']) {
        const at = folder()
        fs.writeFileSync(journalOf(at), text)
        expect((yield* evaluate(at, counting().pool)).samples).toHaveLength(6)
      }
    })
  )

  it.effect("that is made up gives a typed error", () =>
    Effect.gen(function* () {
      for (const line of [
        { type: "plan", version: 1, plan: {} },
        { type: "plan", version: 1, plan: null },
        { type: "sample" },
        { type: "sample", sample: null },
        { type: "paid", totalUsd: "x" },
        { type: "paid", totalUsd: 1, answered: null },
        {}
      ]) {
        const at = folder()
        fs.writeFileSync(journalOf(at), `${Sealed.stringify(line)}\n`)
        const ended = yield* Effect.result(evaluate(at, counting().pool))
        if (ended._tag === "Failure") expect(ended.failure._tag).toBe("JournalError")
      }
    })
  )
})

describe("a damaged report", () => {
  it.effect("is not read as another one", () =>
    Effect.gen(function* () {
      const at = folder()
      const { pool } = counting()
      yield* evaluate(at, pool)
      for (const [name, from, to] of [
        [ReportFile.names.results, '"mean": 1', '"mean": 0'],
        [ReportFile.names.samples, '"score":1', '"score":0'],
        [ReportFile.names.samples, /^.*\n/, ""]
      ] as const) {
        const file = path.join(at, name)
        fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace(from, to))
        const read = name === ReportFile.names.results ? ReportFile.read(at) : ReportFile.readSamples(at)
        const error = yield* Effect.flip(read as Effect.Effect<unknown, ReportFile.ReportError>)
        expect(error.message).toContain("Rerun the evaluation in the same folder to rewrite it")
        yield* evaluate(at, pool)
        yield* read as Effect.Effect<unknown, ReportFile.ReportError>
      }
    })
  )
})
