/**
 * Runs whose process ended in the middle of them, and the requests that they were to answer: the same request goes on
 * with its run, and what was answered before is not paid for again.
 */
import * as Journal from "@divisi/core/Journal"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** Gives the run that a request was to be answered by, once. */
export type Stopped = (request: string) => string | undefined

/** A client that has not come again by then does not come, and a journal may have very many. */
const limits = { ageMillis: 3_600_000, runs: 1_000 }

/** The request that a run answers. */
const requestOf = (entries: ReadonlyArray<Journal.Entry>): unknown => {
  const [first] = Journal.eventsOf(entries)
  return first?.type === "run-started" ? first.task.metadata?.request : undefined
}

/** How often it is looked again where other servers write to the journal, too, which may end at any time. */
const lookMillis = 5_000

const look = (
  journal: Journal.Journal,
  isShared: boolean,
  query?: Journal.Query
): Effect.Effect<Map<string, string>, Journal.JournalError> =>
  Effect.gen(function* () {
    const listed = yield* journal.list(query)
    // The clocks of servers differ: where they share a journal, the age counts from what was written last.
    const now = isShared ? Math.max(0, ...listed.map(({ changedAt }) => changedAt)) : yield* Clock.currentTimeMillis
    const runs = listed
      .filter((run) => Journal.stateOf(run) === "stopped" && now - run.changedAt < limits.ageMillis)
      .slice(0, limits.runs)
    const known = new Map<string, string>()
    for (const { run } of runs) {
      const request = requestOf(yield* journal.read(run))
      if (typeof request === "string") known.set(request, run)
    }
    return known
  })

/** Finds the runs in a journal that were stopped: at first, or again and again where it is shared. */
export const find = Effect.fnUntraced(function* (
  journal: Journal.Journal,
  isShared: boolean
): Effect.fn.Return<Stopped, never, Scope.Scope> {
  // One that cannot be read has none.
  let known = yield* Effect.orElseSucceed(look(journal, isShared), () => new Map<string, string>())
  if (isShared) {
    const again = Effect.map(look(journal, isShared, { limit: limits.runs }), (found) => {
      known = found
    })
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(lookMillis), Effect.ignore(again))))
  }
  return (request) => {
    const run = known.get(request)
    known.delete(request)
    return run
  }
})
