/**
 * Shares background responses between servers. Any server can stream any response, because its parts are derived from
 * the run's journal, and the final response is archived. One server executes the run and renews its claim; if that
 * server crashes, freezes or drains, another one claims the response and resumes the run.
 */
import { Journal, Transcript } from "@divisi/core"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Caller } from "../Caller.ts"
import * as Endpoint from "../http/Endpoint.ts"
import type { Offer } from "../Offer.ts"
import { interrupt } from "../segment/Abandon.ts"
import * as Failure from "../segment/Failure.ts"
import * as SegmentParts from "../segment/SegmentParts.ts"
import type { Segment, Segments, Take } from "../segment/Segments.ts"
import * as Turn from "../segment/Turn.ts"
import { ApiError } from "../wire/ApiError.ts"
import * as Steps from "../wire/Steps.ts"
import type { About, Part } from "../wire/Wire.ts"
import * as Archive from "./Archive.ts"
import { read } from "./ResponsesReader.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Tracks which server executes each response. A claim expires after `leaseMillis` unless it is renewed. */
export interface Claims {
  readonly leaseMillis: number
  /** Registers a response, claimed by this server. */
  readonly add: (id: string) => Effect.Effect<void, ApiError>
  /** Claims up to `count` responses whose claim has expired. */
  readonly claim: (count: number) => Effect.Effect<ReadonlyArray<string>, ApiError>
  /** Renews claims and returns the ids that this server still holds. */
  readonly renew: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, ApiError>
  readonly release: (ids: ReadonlyArray<string>) => Effect.Effect<void, ApiError>
  /** Removes a completed response. */
  readonly remove: (id: string) => Effect.Effect<void, ApiError>
}

/** Options for sharing responses. */
export interface Shared {
  readonly claims: Claims
  /** Returns the account and current rights of an owner. Fails if its key no longer exists. */
  readonly callerOf: (owner: string) => Effect.Effect<Caller, ApiError>
}

/**
 * Dependencies of shared responses.
 *
 * @internal
 */
export interface Options extends Shared {
  readonly archive: Archive.Archive
  readonly journal: Journal.Journal
  /**
   * Waits until the journal contains the run of a segment, or the segment ends. Returns whether the journal contains
   * the run.
   */
  readonly recorded: (segment: Segment) => Effect.Effect<boolean>
  readonly segments: Segments
  readonly offer: () => Offer
  readonly heartbeatMillis: number
  readonly isDraining: () => boolean
}

/** The stored form of a response that is not complete. */
type Begun = Pick<Archive.Record, "input" | "owner"> & { readonly about: About }

/**
 * Background responses that this server shares with other servers.
 */
export interface SharedResponses {
  /**
   * The journal for shared runs. While the server drains, it blocks new calls, so that a run can be handed over once
   * its calls in flight are complete.
   */
  readonly journal: Journal.Journal
  /** Stores a response that this server has started, and later its completed form. */
  readonly keep: (id: string, segment: Segment, begun: Omit<Begun, "about">) => Effect.Effect<void, ApiError>
  /** Returns a segment with the parts available up to now. */
  readonly segmentOf: (about: About) => Effect.Effect<Segment>
  /** Cancels a response, whichever server executes it. */
  readonly cancel: (id: string, begun: Begun) => Effect.Effect<void, ApiError>
  /** Stops the run of a response that is about to be deleted. */
  readonly stop: (id: string, about: About) => Effect.Effect<void, ApiError>
}

/** Polling interval for a journal with readers, in milliseconds. */
const lookMillis = 200

/** Maximum number of responses claimed at once. */
const claimedAtOnce = 16

const stopped: Part = { type: "error", error: Failure.stopped }

const idOf = ({ id }: About): string => `resp_${id}`

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

interface News {
  readonly parts: ReadonlyArray<Part>
  readonly isLast: boolean
}

/** Reads the parts of a response, starting with the first. */
const reader = ({ archive, journal }: Pick<Options, "archive" | "journal">, about: About) => {
  const fold = SegmentParts.make(about.shared!.fold)
  let entries = 0
  let count = 0
  // Reads the journal before the archive: the next segment of a run starts only after this one was archived.
  return Effect.gen(function* (): Effect.fn.Return<News, ApiError | Journal.JournalError> {
    const read = yield* journal.read(about.runId, entries)
    const text = yield* archive.get(idOf(about))
    const record = text === undefined ? undefined : Archive.decode(text)
    if (record === undefined) return { parts: [stopped], isLast: true }
    if (record.isBegun !== true) return { parts: record.segment.parts.slice(count), isLast: true }
    entries += read.length
    const parts = SegmentParts.takeAll(fold, read)
    count += parts.length
    return { parts, isLast: false }
  })
}

const nothing: News = { parts: [], isLast: false }

const heartbeat: ReadonlyArray<Part> = [{ type: "heartbeat" }]

/** Returns a segment whose readers each start with the first part. */
const follow = (options: Options, about: About, parts: ReadonlyArray<Part>): Segment => {
  /** Waits for more parts, or for the next heartbeat. Keeps polling while the database is unreachable. */
  const next = (look: ReturnType<typeof reader>): Effect.Effect<News> => {
    const wait = (left: number): Effect.Effect<News> =>
      Effect.flatMap(
        Effect.orElseSucceed(look, () => nothing),
        (news) => {
          if (news.parts.length > 0 || news.isLast) return Effect.succeed(news)
          if (left <= 0) return Effect.succeed({ parts: heartbeat, isLast: false })
          return Effect.andThen(Effect.sleep(lookMillis), wait(left - lookMillis))
        }
      )
    return wait(options.heartbeatMillis)
  }
  /** Delivers parts to a reader, and waits until it accepts more. */
  const give = (take: Take, { isLast, parts }: News): Effect.Effect<void> =>
    Effect.callback<void>((resume) => {
      if (take(parts, isLast, () => resume(Effect.void)) || isLast) resume(Effect.void)
    })
  const all = (take: (news: News) => Effect.Effect<void>): Effect.Effect<void> =>
    Effect.suspend(() => {
      const look = reader(options, about)
      const step: Effect.Effect<void> = Effect.flatMap(next(look), (news) =>
        Effect.andThen(take(news), news.isLast ? Effect.void : step)
      )
      return step
    })
  return {
    about,
    parts,
    isOver: () => false,
    onOver: () => {},
    onEnd: () => Effect.void,
    read: Stream.suspend(() => {
      const look = reader(options, about)
      const news = Stream.fromEffectRepeat(next(look))
      return Stream.map(
        Stream.takeUntil(news, ({ isLast }) => isLast),
        ({ parts }) => parts
      )
    }),
    follow: (take) => all((news) => give(take, news)),
    over: all(() => Effect.void),
    begun: () => Effect.void,
    stop: Effect.void
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Handing over
// -------------------------------------------------------------------------------------------------------------------

/**
 * Wraps a journal so that runs stop before their next call once `isDraining` returns true. `stop` runs when a run has
 * no calls in flight.
 */
const handing = (base: Journal.Journal, isDraining: () => boolean, stop: (run: string) => Effect.Effect<void>) => {
  const runs = new Map<string, { readonly open: Set<string>; isWaiting: boolean }>()
  const of = (id: string) => {
    const known = runs.get(id) ?? { open: new Set<string>(), isWaiting: false }
    runs.set(id, known)
    return known
  }
  const look = (id: string) =>
    Effect.suspend(() => {
      const { isWaiting, open } = of(id)
      return isWaiting && open.size === 0 ? stop(id) : Effect.void
    })
  const journal: Journal.Journal = {
    ...base,
    append: (batch) =>
      Effect.tap(base.append(batch), () => {
        const { open } = of(batch.run)
        for (const attempt of Journal.attemptsIn(batch.entries, "begun")) open.add(attempt)
        for (const attempt of Journal.attemptsIn(batch.entries, "ended")) open.delete(attempt)
        return look(batch.run)
      }),
    admit: (id) =>
      Effect.suspend(() => {
        if (!isDraining()) return Effect.void
        of(id).isWaiting = true
        return Effect.andThen(look(id), Effect.never)
      }),
    release: (id, epoch, unwritten) =>
      Effect.andThen(
        Effect.sync(() => runs.delete(id)),
        base.release(id, epoch, unwritten)
      )
  }
  return journal
}

/** Ends a run that any server may be executing. Its executor fails before the next call. */
const end = Effect.fnUntraced(function* (
  base: Journal.Journal,
  runId: string
): Effect.fn.Return<void, Journal.JournalError> {
  const claim = yield* base.claim(runId, { takeOver: true })
  const finish = Effect.gen(function* () {
    const summary = yield* base.find(runId)
    const transcript = Transcript.fromEvents(Journal.eventsOf(yield* base.read(runId)))
    if (summary === undefined || transcript === undefined || summary.ending !== undefined) return
    const { caller, calls, costUsd, policy, question, request, startedAt, workers } = summary
    const head = { question, policy, workers, startedAt, costUsd, calls, caller, request }
    yield* interrupt(base, claim, transcript, head, "The response was cancelled.")
  })
  yield* Effect.ensuring(finish, base.release(runId, claim.epoch))
})

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

const isStop = (parts: ReadonlyArray<Part>): boolean => {
  const last = parts.at(-1)
  return last?.type === "error" && last.error === Failure.stopped
}

/**
 * Shares a server's background responses until the scope closes, at which point its claims are released.
 *
 * @internal
 */
export const make = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<SharedResponses, never, Scope.Scope> {
  const { archive, callerOf, claims, isDraining, offer, segments } = options
  const scope = yield* Effect.scope
  /** Responses executed by this server. */
  const mine = new Map<string, Segment>()
  const stopRun = (run: string) =>
    Effect.forEach(
      [...mine.values()].filter(({ about }) => about.runId === run),
      ({ stop }) => Effect.forkIn(stop, scope),
      { discard: true }
    )
  const journal = handing(options.journal, isDraining, stopRun)
  const taking: Journal.Journal = {
    ...journal,
    claim: (run) => journal.claim(run, { takeOver: true })
  }

  /** Archives a response. Fails if the archive does not accept it. */
  const store = Effect.fnUntraced(function* (
    id: string,
    { about, input, owner }: Begun,
    parts: ReadonlyArray<Part>,
    more: { readonly isBegun?: true; readonly isCancelled?: true } = {}
  ): Effect.fn.Return<void, ApiError> {
    yield* archive.set(id, Archive.encode({ owner, input, isCancelled: false, ...more, segment: { about, parts } }))
    const text = yield* archive.get(id)
    const record = text === undefined ? undefined : Archive.decode(text)
    if (record === undefined || record.isBegun !== more.isBegun) return yield* Failure.unreachable
  })

  /** Archives a completed response, unless this server has lost its claim and another server continues. */
  const finish = (id: string, begun: Begun, parts: ReadonlyArray<Part>): Effect.Effect<void> =>
    Effect.gen(function* () {
      mine.delete(id)
      if (isStop(parts)) return yield* claims.release([id])
      if ((yield* claims.renew([id])).length === 0) return
      yield* Effect.tapError(store(id, begun, parts), () => claims.release([id]))
      yield* claims.remove(id)
    }).pipe(Effect.ignore)

  /** Executes a response on this server until its completed form is archived. */
  const execute = (id: string, segment: Segment, begun: Begun): Effect.Effect<void> =>
    Effect.suspend(() => {
      mine.set(id, segment)
      const written = segment.onEnd((last) => finish(id, begun, [...segment.parts, ...last]))
      // Reading the segment to its end keeps it running without a client.
      return Effect.andThen(written, Effect.asVoid(Effect.forkIn(segment.over, scope)))
    })

  const fail = (id: string, begun: Begun, error: ApiError) =>
    error.kind === "overloaded" ? claims.release([id]) : finish(id, begun, [{ type: "error", error }])

  const isRecorded = (run: string): Effect.Effect<boolean, ApiError> =>
    Effect.matchEffect(options.journal.find(run), {
      // A run that is recorded but damaged counts as recorded.
      onFailure: (error) => (Failure.isUnreachable(error) ? Effect.fail(Failure.unreachable) : Effect.succeed(true)),
      onSuccess: (known) => Effect.succeed(known !== undefined)
    })

  /** Takes over a response from another server. */
  const takeOver = Effect.fnUntraced(function* (id: string): Effect.fn.Return<void, ApiError> {
    const text = yield* archive.get(id)
    const record = text === undefined ? undefined : Archive.decode(text)
    const { shared } = record?.segment.about ?? {}
    if (record === undefined || record.isBegun !== true || shared === undefined) return yield* claims.remove(id)
    const { input, owner, segment } = record
    const { about } = segment
    const begun = { about, input, owner }
    if (!(yield* isRecorded(about.runId))) {
      // The run was never recorded: no client received its id, and a repeated request has started a separate run.
      yield* Effect.tapError(store(id, begun, [stopped]), () => claims.release([id]))
      return yield* claims.remove(id)
    }
    const begin = Effect.gen(function* () {
      const caller = yield* callerOf(owner)
      const { messages, tools } = yield* Steps.paced(() => read(about.body, {}))
      const request = { ...about.request, messages, tools }
      const now = offer()
      const team = Endpoint.teamOf(now, caller, request)
      const { ledger } = caller
      const turns = { ...now.turns, journal: taking }
      const turn = { key: shared.key, request, team, owner, ledger, runId: about.runId, isShared: true }
      const { run } = yield* Turn.prepare(turns, turn)
      const key = `${id} of another server`
      const asking = { key, isRepeated: false, isExact: true, about, characters: text!.length }
      return yield* segments.open({ ...asking, run: (tell) => now.use(run(tell)) })
    })
    const attempted = Effect.catchDefect(begin, (defect) =>
      Effect.fail(
        defect instanceof ApiError
          ? defect
          : new ApiError({ kind: "server", message: "The response cannot be continued.", cause: defect })
      )
    )
    const made = yield* Effect.result(attempted)
    yield* made._tag === "Success" ? execute(id, made.success, begun) : fail(id, begun, made.failure)
  })

  const look = Effect.gen(function* () {
    const ids = [...mine.keys()]
    const left = new Set(ids.length === 0 ? [] : yield* claims.renew(ids))
    for (const id of ids) {
      const segment = mine.get(id)
      if (left.has(id) || segment === undefined) continue
      yield* Effect.forkIn(segment.stop, scope)
    }
    if (isDraining()) return
    for (const id of yield* claims.claim(claimedAtOnce)) yield* Effect.forkIn(Effect.ignore(takeOver(id)), scope)
  })
  yield* Effect.addFinalizer(() => Effect.ignore(claims.release([...mine.keys()])))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.ignore(look), Effect.sleep(claims.leaseMillis / 3))))

  const partsOf = (about: About): Effect.Effect<ReadonlyArray<Part>> =>
    Effect.map(
      Effect.orElseSucceed(reader(options, about), () => nothing),
      ({ parts }) => parts
    )
  /** Stops a run, whichever server executes it. */
  const stop = (id: string, about: About): Effect.Effect<void, ApiError> => {
    const own = mine.get(id)
    const elsewhere = Effect.catch(end(options.journal, about.runId), (error) =>
      Failure.isUnreachable(error) ? Effect.fail(Failure.unreachable) : Effect.void
    )
    // After the claim is removed, no server can take the response over.
    return Effect.andThen(claims.remove(id), own === undefined ? elsewhere : own.stop)
  }

  return {
    journal,
    keep: (id, segment, begun) =>
      Effect.gen(function* () {
        const all = { ...begun, about: segment.about }
        if (segment.isOver()) return yield* store(id, all, segment.parts)
        yield* store(id, all, [stopped], { isBegun: true })
        yield* claims.add(id)
        yield* execute(id, segment, all)
        // A client that received an id polls for it; one that did not repeats its request, which finds the recorded
        // run.
        const isKnown = yield* options.recorded(segment)
        const isRefused = segment.isOver() && !isStop(segment.parts)
        if (!isKnown && !isRefused) return yield* Failure.unreachable
      }),
    segmentOf: (about) => Effect.map(partsOf(about), (parts) => follow(options, about, parts)),
    stop,
    cancel: (id, begun) =>
      Effect.gen(function* () {
        yield* stop(id, begun.about)
        yield* store(id, begun, [...(yield* partsOf(begun.about)), stopped], { isCancelled: true })
      })
  }
})
