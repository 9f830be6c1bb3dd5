/**
 * Serializes writes to a SQLite file. Pending writes share one transaction, and their callers are notified after the
 * commit.
 */
import type { DatabaseSync } from "node:sqlite"
import * as Effect from "effect/Effect"
import * as Sqlite from "../Sqlite.ts"
import { isBusy, mostNaps, napMillis } from "./database.ts"

/** A unit of work on the file. Its own exceptions (as opposed to errors of the file) fail only this task. */
interface Task {
  readonly work: () => unknown
  /** Whether it must be on the disk itself before it is acknowledged, so that it survives a loss of power. */
  readonly isDurable: boolean
  readonly resume: (done: Effect.Effect<unknown, unknown>) => void
}

/** Queues writes to one file. */
export interface Writer {
  /** Runs work in the next transaction. */
  readonly write: <A>(work: () => A, isDurable: boolean) => Effect.Effect<A, unknown>
  /** Like `write`, but without waiting for the result. */
  readonly later: (work: () => unknown) => void
  /** Writes all pending work immediately. */
  readonly close: () => void
}

/** Creates the writer for an open file. */
export const make = (database: DatabaseSync): Writer => {
  const begin = database.prepare("BEGIN IMMEDIATE")
  const commit = database.prepare("COMMIT")
  let waiting: Array<Task> = []
  let isScheduled = false
  let isDurable: boolean | undefined
  let naps = 0

  /** `FULL` waits for the disk at each commit; with `NORMAL` commits survive only the end of the process. */
  const setDurable = (wanted: boolean) => {
    if (wanted === isDurable) return
    database.exec(`PRAGMA synchronous = ${wanted ? "FULL" : "NORMAL"}`)
    isDurable = wanted
  }

  const doAll = (tasks: ReadonlyArray<Task>): ReadonlyArray<Effect.Effect<unknown, unknown>> =>
    tasks.map(({ work }) => {
      try {
        return Effect.succeed(work())
      } catch (error) {
        if (Sqlite.codeOf(error) !== undefined) throw error
        return Effect.fail(error)
      }
    })

  const attempt = (tasks: ReadonlyArray<Task>): ReadonlyArray<Effect.Effect<unknown, unknown>> => {
    setDurable(tasks.some((task) => task.isDurable))
    begin.run()
    try {
      const done = doAll(tasks)
      commit.run()
      return done
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK")
      throw error
    }
  }

  const flush = (mayNap: boolean) => {
    isScheduled = false
    const tasks = waiting
    waiting = []
    if (tasks.length === 0) return
    try {
      const done = attempt(tasks)
      naps = 0
      for (const [index, { resume }] of tasks.entries()) resume(done[index]!)
    } catch (error) {
      if (mayNap && isBusy(error) && naps < mostNaps) {
        naps += 1
        isScheduled = true
        waiting = [...tasks, ...waiting]
        setTimeout(() => flush(true), napMillis)
        return
      }
      naps = 0
      for (const { resume } of tasks) resume(Effect.fail(error))
    }
  }

  const add = (task: Task) => {
    waiting.push(task)
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => flush(true))
  }

  return {
    write: <A>(work: () => A, isDurable: boolean) =>
      Effect.callback<A, unknown>((resume) => {
        add({ work, isDurable, resume: resume as Task["resume"] })
      }),
    later: (work) => add({ work, isDurable: false, resume: () => {} }),
    close: () => flush(false)
  }
}
