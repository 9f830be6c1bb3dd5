/**
 * The replay middleware: reports calls recorded in the journal or transcript again, without making or paying for them.
 * Writes the outcome of each new attempt to the journal.
 */
import * as Effect from "effect/Effect"
import { millisSince, ticks } from "../../Elapsed.ts"
import type { AnswerOrigin } from "../../events/RunEvent.ts"
import { defined } from "../../Fields.ts"
import type { Known, Outcome, Recorded, RecordedCall } from "../../journal/RecordedRun.ts"
import { attemptName, placeName, unpaid } from "../../loop/accounts.ts"
import type { Answered, Ask, At, CallError, CallMiddleware, CallRun, Settled } from "../../loop/call.ts"
import type { Recalled } from "../../loop/numbering.ts"
import { lostDetail, placeOf, reportFailure, reportInterruption, show } from "../../loop/reports.ts"
import { fingerprint } from "../../run/fingerprint.ts"
import type { Slot } from "../../run/Recording.ts"
import { type Answer, type Entry, type Failure, key } from "../../run/ResponseCache.ts"
import type { RunSettings } from "../../run/RunSettings.ts"
import type { Message } from "../../task/Message.ts"
import { noUsage, type Paid } from "../../task/Usage.ts"
import { type Worker, WorkerError, type WorkerRequest } from "../../task/Worker.ts"
import { type Before, bookDoubt, repay, retire } from "./charges.ts"

/** Settings for replaying a run's earlier calls. */
export interface ReplaySettings extends Omit<Before, "run"> {
  /** Undefined if no transcript was given. The journal takes precedence. */
  readonly recorded: Recorded | undefined
  readonly options: Pick<RunSettings, "onUnconfirmedCall">
}

// -------------------------------------------------------------------------------------------------------------------
// Identity
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the identity of a call: the caller's worker, messages, settings and output format, before any adjustment for
 * the worker or for account limits. This lets a run be resumed with a different budget. A resumed run builds identical
 * messages, including the order of properties, whereas user code may order properties differently. Tools are excluded,
 * because tool servers may change their lists and paid answers must remain valid.
 */
export const identityOf = ({
  request,
  sample,
  turn,
  worker
}: Pick<Ask, "request" | "sample" | "turn" | "worker">): string =>
  keyOf(worker, { ...request, messages: [], tools: undefined }, sample) +
  request.messages.map(turn === 0 ? digestOf : cachedDigestOf).join()

/** Returns the cache key of a call without its messages. For most calls, it is written without sorting each object. */
const keyOf = (worker: Worker, request: WorkerRequest, sample: number): string => {
  if (worker.settings !== undefined || request.seed !== undefined || request.temperature !== undefined)
    return key(worker, request, sample)
  const fields = []
  for (const name in request) {
    const value: unknown = request[name as keyof WorkerRequest]
    if (value === undefined) continue
    if (typeof value === "object" && name !== "messages") return key(worker, request, sample)
    fields.push(`"${name}":${JSON.stringify(value)}`)
  }
  return `[${JSON.stringify(worker.id)},{${fields.sort().join()}},${sample}]`
}

const digestOf = (message: Message): string => fingerprint(JSON.stringify(message))

/** Cached digests of messages, so that a conversation of many turns is not hashed in every turn. */
const digests = new WeakMap<Message, string>()

const cachedDigestOf = (message: Message): string => {
  const known = digests.get(message)
  if (known !== undefined) return known
  const digest = digestOf(message)
  digests.set(message, digest)
  return digest
}

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

const answerIn = ({ echo, finishReason, model, reasoning, text, toolCalls, usage }: Answered): Answer =>
  defined({ text, reasoning, finishReason, toolCalls, echo, usage, model })

/** Writes the outcome of an attempt without an answer in the same tick in which it is charged. */
const write = ({ call, recording }: Slot, attempt: number, { failure, paid }: Settled): void => {
  const at = { call, attempt }
  if (failure !== undefined) {
    const { message, reason, retryInMillis, unasked } = failure
    recording.note({
      ...at,
      ...defined({ type: "failed", reason, message, retryInMillis, unasked }),
      ...(paid ?? unpaid)
    })
  } else if (paid === undefined) recording.note({ ...at, type: "withdrawn" })
  else recording.note({ ...at, type: "interrupted", ...paid })
}

/** Wraps a call so that the outcomes of its attempts are written to the journal. Only one attempt is answered. */
const writing = (at: At, slot: Slot): At => {
  let isAnswered = false
  return {
    ...at,
    slot,
    name: slot.call,
    onAnswered: (attempt, answered) => {
      if (isAnswered) return
      isAnswered = true
      const { costUsd, usage } = answered
      const { call, recording } = slot
      recording.note({ call, attempt, type: "answered", answer: answerIn(answered), usage, costUsd })
    },
    onCached: ({ attempt }, answer) => {
      const { call, hash, recording } = slot
      recording.note({ type: "found", call, attempt, hash, answer })
    },
    settled: (ask, now, end) => {
      if (!isAnswered) write(slot, now.attempt, end)
      at.settled(ask, now, end)
    }
  }
}

/** Whether a call is the first of a step without items. */
const isFirstCall = ({ item, turn }: Ask): boolean => item === undefined && turn === 0

/** Whether the outcome is an answer without tool calls. */
const isAnswer = (outcome: Outcome | undefined): boolean =>
  (outcome?.type === "answered" || outcome?.type === "found") && (outcome.answer as Answer).toolCalls === undefined

// -------------------------------------------------------------------------------------------------------------------
// Replay
// -------------------------------------------------------------------------------------------------------------------

/** Returns the numbers of the calls that the run made earlier. */
export const recalling = ({ runId }: CallRun, { recorded, recording }: ReplaySettings): Recalled | undefined => {
  const recalled = recording?.recalled
  const requestsOf = (calls: ReadonlyArray<RecordedCall>): ReadonlyMap<number, string> => {
    const requests = new Map<number, string>()
    for (const { request, turn } of calls) if (request !== undefined) requests.set(turn, request)
    return requests
  }
  if (recalled !== undefined) {
    return (of) => {
      const { count, has } = recalled(runId, of.round, placeName(of))
      return {
        count,
        requests: requestsOf(recorded?.calls(of) ?? []),
        isSame: (call, _, isNext) => has(identityOf(call), isNext)
      }
    }
  }
  if (recorded === undefined) return undefined
  return (of) => {
    const calls = recorded.calls(of)
    const requests = requestsOf(calls)
    return {
      count: calls.reduce((count, { turn }) => Math.max(count, turn + 1), 0),
      requests,
      isSame: ({ turn }, request, isNext) => {
        const same = requests.get(turn)
        return same === undefined ? isNext : same === request
      }
    }
  }
}

/** Delivers an answer to the run. */
const deliver = (ask: Ask, answered: Answered): Answered => {
  show(ask, answered)
  ask.onAnswer(answered)
  return answered
}

type Replayed = Effect.Effect<Answered, CallError>

const reportLost = ({ emit }: CallRun, ask: Ask, paid: Paid, chargeId: string | undefined) =>
  emit?.({ ...defined({ type: "call-lost", ...placeOf(ask), chargeId }), ...paid })

/** Reports the recorded attempts of a call unchanged, and makes the missing ones. */
export const replay = (run: CallRun, settings: ReplaySettings): CallMiddleware => {
  const { chargesRun, recorded, recording } = settings
  const { onUnconfirmedCall = "again" } = settings.options
  const before: Before = { run, recording, chargesRun }
  /** Whether a call must not be made, because no step waits for its answer any longer. */
  const isOver = (ask: Ask): boolean => run.isReplayed || ask.isReplayed === true
  /**
   * Whether a recorded answer is used although the request may differ, because a limit stops steps again, possibly
   * others than before.
   */
  const isKept = (ask: Ask, { isReopened, outcome }: Known): boolean =>
    isFirstCall(ask) && ask.isLimited === true && isReopened === true && isAnswer(outcome)
  /**
   * Whether the recorded answer of the last step is replaced, because a limit had stopped steps that have answers now. A
   * journal shows this by the request, a transcript by the recorded steps. A step that used tools keeps its answer.
   */
  const isOutdated = (ask: Ask, { hash, isReopened, outcome }: Known, slot: Slot | undefined): boolean => {
    const { isLimited, round, step } = ask
    if (isLimited !== false || !isFirstCall(ask) || !isAnswer(outcome)) return false
    if (slot?.isWhole !== true) return recorded?.isKept(round, step!) === true
    const count = () => recording!.recalled!(run.runId, round, placeName(ask)).count
    return isReopened === true && hash !== undefined && hash !== slot.hash && count() === 1
  }
  return (next) => {
    const again = (ask: Ask, begun: At, past: ReadonlyArray<Known>): Replayed => {
      const { worker } = ask
      const { slot } = begun
      const since = ticks(run.clock)

      const from = (attempt: number, failures: ReadonlyArray<Failure>): Replayed => {
        const at: At = { ...begun, attempt, failures }
        const known = past[attempt]
        if (known === undefined) return isOver(ask) ? Effect.interrupt : next(ask, at)
        if (known.isRetired === true) return from(attempt + 1, [])
        if (isOutdated(ask, known, slot)) return replaced(known.outcome!, at)
        if (slot !== undefined && known.hash !== undefined && known.hash !== slot.hash && !isKept(ask, known)) {
          return slot.recording.mismatch(slot.call, `sends ${worker.id} a different request than before`)
        }
        const { handle } = known
        if (
          known.outcome === undefined &&
          handle !== undefined &&
          !isOver(ask) &&
          typeof worker.recovery === "object"
        ) {
          slot?.recording.markCharged(attemptName(at)!)
          return next(ask, { ...at, handle })
        }
        const { outcome = { type: "lost" as const, ...(known.worst ?? unpaid) } } = known
        // If the run is resumed from a transcript, its journal must still be complete.
        if (slot !== undefined && slot.past[attempt]?.outcome === undefined) {
          slot.recording.note({ ...outcome, call: slot.call, attempt })
          if (slot.past[attempt] !== undefined) slot.past[attempt].outcome = outcome
        }
        return tell(outcome, at)
      }

      const after = ({ attempt, failures }: At): Replayed => Effect.suspend(() => from(attempt + 1, failures))

      /** Charges and reports an answer as an interrupted call, and makes its call again. */
      const replaced = (outcome: Outcome, at: At): Replayed => {
        const { attempt } = at
        const name = attemptName(at)
        const paid = outcome.type === "found" ? unpaid : outcome
        if (slot !== undefined && slot.past[attempt]?.outcome === undefined) {
          const { costUsd, usage } = paid
          slot.recording.note({ type: "interrupted", call: slot.call, attempt, usage, costUsd })
        }
        const event = defined({ type: "call-interrupted", ...placeOf(ask), chargeId: name, isRetired: true } as const)
        const report = (paid: Paid) => run.emit?.({ ...event, ...paid })
        return Effect.andThen(
          repay(run, name, paid, report),
          Effect.suspend(() => from(attempt + 1, []))
        )
      }

      const tell = (outcome: Outcome, at: At): Replayed => {
        const name = attemptName(at)
        switch (outcome.type) {
          case "lost":
            return lost(outcome, at, name)
          case "interrupted": {
            if (!chargesRun) return after(at)
            const report = (paid: Paid) => reportInterruption(run, ask, paid, name)
            return Effect.andThen(repay(run, name, outcome, report), after(at))
          }
          case "failed":
            return failed(outcome, at, name)
          // The entry was written by this package and is protected by the version and checksum of its journal or
          // transcript.
          case "found":
            return outcome.origin === undefined
              ? next(ask, { ...at, cached: { entry: outcome.answer as Entry, since } })
              : Effect.sync(() => given(outcome.answer as Entry, outcome.origin!))
          case "answered":
            return repay(run, name, outcome, ({ costUsd }) => {
              if (name !== undefined) slot?.recording.markCharged(name)
              return answered(outcome.answer as Entry, costUsd)
            })
        }
      }

      /** Delivers an answer that no worker was called for. */
      const given = (entry: Entry, origin: AnswerOrigin): Answered =>
        deliver(ask, { ...entry, usage: noUsage, costUsd: 0, cached: false, origin, addedMillis: 0 })

      /** Delivers an answer that the run has already paid for, with its original duration. */
      const answered = (entry: Entry, costUsd: number | undefined): Answered => {
        const { durationMillis } = entry
        const addedMillis = durationMillis === undefined ? 0 : durationMillis - millisSince(run.clock, since)
        return deliver(ask, { ...entry, costUsd, cached: false, addedMillis })
      }

      const failed = (
        outcome: Extract<Outcome, { readonly type: "failed" }>,
        at: At,
        name: string | undefined
      ): Replayed => {
        const { attempt, failures } = at
        const { message, reason, retryInMillis, unasked, usage } = outcome
        const failure: Failure = { reason, message, usage, retryInMillis, unasked }
        const report = (paid: Paid) => reportFailure(run, ask, failures.length, failure, paid, name)
        const booked = unasked === true ? Effect.sync(() => report(unpaid)) : repay(run, name, outcome, report)
        const isLast = past[attempt + 1] === undefined
        if (retryInMillis === undefined) {
          // A permanent failure is followed by further attempts only if the run was resumed, in which case they start
          // from scratch.
          return Effect.andThen(
            booked,
            isLast ? Effect.fail(new WorkerError({ worker: worker.id, reason, usage })) : after({ ...at, failures: [] })
          )
        }
        const wait = isLast ? Effect.sleep(retryInMillis) : Effect.void
        return Effect.andThen(Effect.andThen(booked, wait), after({ ...at, failures: [...failures, failure] }))
      }

      /** Charges and reports an unconfirmed call at its worst case. */
      const lost = (worst: Paid, at: At, name: string | undefined): Replayed => {
        const booked = !chargesRun
          ? Effect.void
          : Effect.uninterruptible(
              Effect.map(bookDoubt(run.ledger, name, worst), (paid) => reportLost(run, ask, paid, name))
            )
        if (onUnconfirmedCall === "again" || worker.recovery === "free") return Effect.andThen(booked, after(at))
        const reason = { _tag: "Timeout", detail: lostDetail } as const
        return Effect.andThen(booked, Effect.fail(new WorkerError({ worker: worker.id, reason })))
      }

      return from(0, [])
    }

    return (ask, at) => {
      const made = () => {
        const { by, item, round, step, turn, worker } = ask
        const slot = recording?.slot(run.runId, round, placeName(ask), identityOf(ask), ask.isNew === true)
        const address = { by, round, step, item, turn, worker: worker.id }
        // A journal contains more information than a transcript derived from it: which attempts are made again.
        const transcript = slot?.isWhole === true ? undefined : recorded
        const written = slot?.past ?? []
        const past =
          written.length === 0
            ? (transcript?.attempts(address, slot === undefined ? at.name : undefined) ?? [])
            : written
        const retired = slot?.isWhole === true ? slot.retired : (transcript?.retired(address) ?? [])
        const begun = slot === undefined ? at : writing(at, slot)
        if (past.length === 0 && isOver(ask)) return Effect.interrupt
        const answered = past.length === 0 ? next(ask, begun) : again(ask, begun, past)
        return retired.length === 0 ? answered : Effect.andThen(retire(before, retired), answered)
      }
      // A numbered call must receive its address synchronously, so that concurrent calls receive numbers and addresses
      // in the same order.
      return ask.isNew === undefined ? Effect.suspend(made) : made()
    }
  }
}
