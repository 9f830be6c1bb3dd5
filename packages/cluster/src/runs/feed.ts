/**
 * Streams a run: its journal entries from a sequence number, and chunks of answers while it is executed on this server.
 */
import { Journal } from "@divisi/core"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { Listener } from "./owned.ts"
import { Item } from "./protocol.ts"

/** Polling interval for the journal if another process executes the run, in milliseconds. */
const lookMillis = 250

/** The last item in the stream of a run that was cancelled before it started. */
export const cancelled = '{"type":"cancelled"}'

/** The item that shows that a silent stream is still connected. */
const alive = '{"type":"alive"}'

/** Interval of these items, in milliseconds. */
const aliveMillis = 5_000

/**
 * Time without an item after which a stream is reopened, in milliseconds. If a server loses a run while a reader is
 * connected, the cluster can close the connection without telling the reader.
 */
const silentMillis = 20_000

/** Access to the runs to be streamed. */
export interface Source {
  readonly journal: Journal.Journal
  readonly listen: (id: string, listener: Listener) => () => void
  /** Whether a run was cancelled and is no longer executed. */
  readonly isCancelled: (id: string) => Effect.Effect<boolean>
}

const entryItem = (seq: number, entry: Journal.Entry) => new Item({ seq, body: JSON.stringify(entry) })

/**
 * Streams a run until it ends. Each entry is delivered exactly once, in order. Chunks of answers between them have no
 * sequence number and are not repeated.
 */
export const attach = (source: Source, id: string, from: number): Stream.Stream<Item, string> =>
  Stream.callback<Item, string>((queue) =>
    Effect.gen(function* () {
      const changes = yield* Queue.sliding<void>(1)
      const stop = source.listen(id, (piece) => {
        if (piece === undefined) Queue.offerUnsafe(changes, undefined)
        else Queue.offerUnsafe(queue, new Item({ body: JSON.stringify({ type: "event", event: piece }) }))
      })
      yield* Effect.addFinalizer(() => Effect.sync(stop))
      const keepAlive = Effect.sync(() => Queue.offerUnsafe(queue, new Item({ body: alive })))
      yield* Effect.forkScoped(Effect.forever(Effect.delay(keepAlive, aliveMillis)))
      let next = from
      for (;;) {
        const entries = yield* Effect.mapError(source.journal.read(id, next), ({ message }) => message)
        for (const entry of entries) Queue.offerUnsafe(queue, entryItem(next++, entry))
        if (Journal.isEnded(id, entries)) break
        if (entries.length === 0 && (yield* source.isCancelled(id))) {
          Queue.offerUnsafe(queue, new Item({ body: cancelled }))
          break
        }
        yield* Effect.timeoutOption(Queue.take(changes), lookMillis)
      }
      Queue.endUnsafe(queue)
    }).pipe(Effect.catch((error) => Effect.sync(() => Queue.failCauseUnsafe(queue, Cause.fail(error)))))
  )

/** Delay before a stream is reopened, in milliseconds. */
const againMillis = 200

/**
 * Streams a run without gaps. If the server that executes it drains, dies, loses it or falls silent, the stream is
 * reopened on the next owner, starting with the first entry that was not received.
 */
export const follow = (
  id: string,
  open: (from: number) => Stream.Stream<Item, unknown>,
  from: number
): Stream.Stream<Item> =>
  Stream.suspend(() => {
    let next = from
    let isOver = false
    const receive = (item: Item): boolean => {
      if (item.body === cancelled) isOver = true
      if (item.seq === undefined) return item.body !== cancelled && item.body !== alive
      // The transport repeats a request with its original sequence number, so duplicates are dropped.
      if (item.seq !== next) return false
      next += 1
      const entry: Journal.Entry = JSON.parse(item.body)
      isOver = entry.type === "event" && entry.event.type === "run-finished" && entry.event.runId === id
      return true
    }
    const opened = Stream.suspend(() => open(next))
    const once = Stream.transformPull(opened, (pull) =>
      Effect.succeed(Effect.timeoutOrElse(pull, { duration: silentMillis, orElse: () => Cause.done() }))
    ).pipe(
      Stream.filter(receive),
      Stream.catchCause(() => Stream.empty)
    )
    const all = (): Stream.Stream<Item> =>
      Stream.concat(
        once,
        Stream.suspend(() => (isOver ? Stream.empty : Stream.concat(nap, all())))
      )
    const nap = Stream.drain(Stream.fromEffect(Effect.sleep(againMillis)))
    return all()
  })
