/**
 * The process to kill: resumes all unfinished runs and starts new ones, eight at a time. With an additional argument,
 * it kills itself before or after a given number of journal writes for one run.
 */
import type { Journal } from "@divisi/core"
import { DiskAccounts, DiskJournal } from "@divisi/files"
import * as Effect from "effect/Effect"
import * as World from "./World.ts"

const [folder = "", port = "", point] = process.argv.slice(2)

const die = () => process.kill(process.pid, "SIGKILL")

/** Dies at a write. */
const mortal = (journal: Journal.Journal, moment: string, count: number): Journal.Journal => {
  let writes = 0
  return {
    ...journal,
    append: (batch) =>
      Effect.suspend(() => {
        writes += 1
        if (writes === count && moment === "before") die()
        const written = journal.append(batch)
        return writes === count ? Effect.tap(written, () => Effect.sync(die)) : written
      })
  }
}

const ask = async (asked: World.Asked) => {
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: JSON.stringify(asked) })
  return (await response.json()) as ReturnType<typeof World.answer>
}

function* fresh(): Generator<string> {
  for (let count = 0; ; count++) yield `${process.pid}-${count}`
}

const program = Effect.gen(function* () {
  const kept = yield* DiskJournal.make({ file: `${folder}/runs.sqlite` })
  const accounts = yield* DiskAccounts.make({ file: `${folder}/accounts.sqlite` })
  const ledger = yield* accounts.open({ name: "all", limits: { costUsd: 1e9 } })
  const conductor = World.conductor(ask)
  const [moment, count] = point?.split("-") ?? []
  const journal = moment === undefined ? kept : mortal(kept, moment, Number(count))
  const go = (runId: string) => conductor.run(World.questionOf(runId), { runId, journal, ledger })
  if (moment !== undefined) return void (yield* go("r"))
  const open = (yield* journal.list()).filter(({ ending }) => ending === undefined).map(({ run }) => run)
  console.log("going")
  const names = fresh()
  const lane = Effect.forever(Effect.suspend(() => go(open.pop() ?? names.next().value)))
  yield* Effect.all(
    Array.from({ length: 8 }, () => lane),
    { concurrency: "unbounded" }
  )
})

Effect.runPromise(Effect.scoped(program))
