/** Processes that are killed at a write of their journal, and what they leave. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { RunEvent } from "../src/events/RunEvent.ts"
import * as Transcript from "../src/events/Transcript.ts"
import * as Journal from "../src/journal/Journal.ts"

/** Returns a transcript without its times and unconfirmed calls. */
export const timeless = (events: ReadonlyArray<RunEvent>): unknown =>
  JSON.parse(JSON.stringify(Transcript.fromEvents(events)), (key, value) => {
    if (/At$|^at$|Millis$/.test(key)) return undefined
    if (key === "lost") return value.filter((call: Transcript.LostCall) => call.isInDoubt !== true)
    return key === "spend" ? undefined : value
  })

export const eventsIn = (memory: Journal.Memory, run = "r") =>
  Effect.map(Journal.makeMemory(memory).read(run), Journal.eventsOf)

/** Returns a process that is killed before or after the given number of writes; nothing of it survives. */
export const killedAt = (memory: Journal.Memory, count: number, isAfter: boolean) =>
  Effect.gen(function* () {
    const process = Journal.makeMemory(memory)
    const dead = yield* Deferred.make<void>()
    let written = 0
    const die = Effect.suspend(() => {
      process.end()
      return Effect.andThen(Deferred.succeed(dead, undefined), Effect.never)
    })
    const journal: Journal.Journal = {
      ...process,
      append: (batch) => {
        written += 1
        if (written < count) return process.append(batch)
        if (written > count) return Effect.never
        return isAfter ? Effect.andThen(process.append(batch), die) : die
      }
    }
    return { journal, dead: Deferred.await(dead) }
  })

/** Returns a journal's memory with the given entries of a run, whose process is dead. */
export const leftWith = (entries: ReadonlyArray<Journal.Entry>, run = "r") =>
  Effect.gen(function* () {
    const memory = Journal.memory()
    const process = Journal.makeMemory(memory)
    const { epoch } = yield* process.claim(run)
    yield* process.append({ run, epoch, seq: 0, entries, head: undefined })
    process.end()
    return memory
  })
