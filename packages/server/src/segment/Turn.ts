/**
 * Answers requests with runs of a Conductor. A user turn corresponds to a run, and a request to a segment of that run.
 *
 * A request with tool results resumes the suspended run from its journal, or from the sealed state in the client's
 * history if the journal has evicted it. If neither has the run, or the request has changed, a new run answers the
 * conversation: the client's history is sufficient, so this is not an error.
 */
import { type Budget, Journal, type RunEvent, type Tool } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import type { RunSettings } from "@divisi/core/RunSettings"
import * as Telemetry from "@divisi/core/Telemetry"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import type { Team } from "../Models.ts"
import { type ApiError, invalid } from "../wire/ApiError.ts"
import type { Part, Request, SharedTurn } from "../wire/Wire.ts"
import { abandon } from "./Abandon.ts"
import * as Asked from "./Asked.ts"
import * as CallId from "./CallId.ts"
import * as ClientTool from "./ClientTool.ts"
import * as Failure from "./Failure.ts"
import * as Forked from "./Forked.ts"
import * as History from "./History.ts"
import * as Idempotent from "./Idempotent.ts"
import { ownerIn } from "./Owner.ts"
import * as Repeats from "./Repeats.ts"
import * as Seal from "./Seal.ts"
import * as SegmentParts from "./SegmentParts.ts"
import * as TokenRecords from "./TokenRecords.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Options for answering turns. */
export interface Options {
  readonly settings: RunSettings
  readonly journal: Journal.Journal
  /** The same journal, if it is in memory. It also stores runs that cannot be resumed, at lower cost. */
  readonly recent?: Journal.MemoryJournal | undefined
  readonly notes: SegmentParts.Notes
  /** Encrypts the state of suspended runs for clients to carry. */
  readonly sealer: Seal.Sealer
  /** An account that is charged for all runs. */
  readonly ledger?: Budget.Ledger | undefined
  /** Receives the events from all runs. Exceptions are ignored. */
  readonly listener?: RunEvent.Listener | undefined
}

/** A request, its owner and its team. */
export interface Turn {
  /** Deduplication key of the request. */
  readonly key: string
  readonly request: Request
  readonly team: Team
  /** Owner of the run. Tool results can resume only runs with the same owner. */
  readonly owner: string
  /** The owner's account. */
  readonly ledger?: Budget.Ledger | undefined
  /** The id to use if a new run is started. */
  readonly runId: string
  /** The run id derived from the request's `Idempotency-Key`. */
  readonly named?: string | undefined
  /** Hash of the bytes of a large request, from which the id of its task is derived. Hashing its messages takes long. */
  readonly digest?: string | undefined
  /** Whether the client marked the request as a retry. Set only for the first segment of a response. */
  readonly isRepeated?: boolean | undefined
  /**
   * Whether the response is shared between servers. If so, its final parts are read from the journal. Default: false.
   */
  readonly isShared?: boolean | undefined
}

/** The run that a request resumes, with its tool results. */
interface Resumption {
  readonly runId: string
  readonly results: Readonly<Record<string, Tool.Given>>
}

type Tell = (parts: ReadonlyArray<Part>) => void

const least = (left: number | undefined, right: number | undefined): number | undefined =>
  left === undefined || right === undefined ? (left ?? right) : Math.min(left, right)

// -------------------------------------------------------------------------------------------------------------------
// Runs
// -------------------------------------------------------------------------------------------------------------------

/** Creates the Conductor for a request: the server's settings combined with the client's. */
const conductorOf = (
  { settings }: Options,
  { request, team }: Turn,
  records: Array<TokenRecords.TokenRecord>
): Conductor.Conductor["Service"] => {
  const { choice, settings: asked } = request
  return Conductor.ofChecked({
    ...settings,
    policy:
      choice.returnsTokens === true && team.policy !== undefined
        ? TokenRecords.collecting(team.policy, records)
        : team.policy,
    pool: team.pool,
    seed: choice.seed ?? (asked.seed === undefined ? settings.seed : Math.abs(asked.seed)),
    worker: {
      ...settings.worker,
      maxOutputTokens: least(asked.maxOutputTokens, settings.worker?.maxOutputTokens),
      temperature: asked.temperature ?? settings.worker?.temperature,
      reasoning: asked.reasoning ?? settings.worker?.reasoning,
      preferences: settings.worker?.preferences ?? "omit"
    },
    budget: { ...settings.budget, costUsd: least(choice.costUsd, settings.budget?.costUsd) }
  })
}

/** Returns the server's tools, and the request's tools for the client to execute. */
const toolsOf = ({ settings }: Options, { request }: Turn): ReadonlyArray<Tool.Tool> => {
  const own = settings.tools ?? []
  const names = new Set(own.map(({ name }) => name))
  return [...own, ...request.tools.filter(({ name }) => !names.has(name)).map(ClientTool.make)]
}

/** Returns the run to resume, if the journal contains it and the owner matches. */
const resumptionOf = Effect.fnUntraced(function* (
  { journal }: Options,
  { owner, request }: Turn,
  found: History.Results,
  pieces: ReadonlyArray<Seal.Piece>
): Effect.fn.Return<Resumption | undefined, ApiError> {
  // If the run cannot be read at the moment, the request fails instead of starting a new run, which would be charged
  // again.
  const read = Effect.catch(journal.read(found.runId), (error) =>
    Failure.isUnreachable(error) ? Effect.fail(Failure.unreachable) : Effect.succeed([])
  )
  const known = yield* read
  if (known.length === 0) yield* Effect.ignore(Seal.restore(journal, pieces, request.messages))
  const entries = known.length > 0 || pieces.length === 0 ? known : yield* read
  const events = Journal.eventsOf(entries)
  if (ownerIn(events[0]) !== owner) return undefined
  const ids = events.flatMap((event) => {
    if (event.type === "plan-waiting") return [event.call.id]
    return event.type === "step-waiting" ? event.calls.map(({ id }) => id) : []
  })
  const results: Record<string, Tool.Given> = {}
  for (const { callId, content, isError } of found.results) {
    const id = CallId.find(callId, ids)
    if (id === undefined) return undefined
    results[id] = isError === true ? { content, isError } : { content }
  }
  return { runId: found.runId, results }
})

/** Returns the earlier run for a repeated request, if the journal is persistent. */
const beforeOf = ({ journal, recent }: Options, { isRepeated, key, owner }: Turn) =>
  isRepeated === undefined || recent !== undefined
    ? Effect.undefined
    : Repeats.find(journal, { request: key, owner, isRepeated })

/**
 * Whether a resumed run could not continue: its journal cannot be used, its options changed, or the user continued
 * without it.
 */
const cannotGoOn = ({ ending, error }: Conductor.RunResult): boolean => {
  const tag = typeof error === "object" && error !== null && "_tag" in error ? error._tag : undefined
  if (ending === "interrupted") return true
  if (Failure.isUnreachable(error)) return false
  return ending === "failed" && (tag === "JournalError" || tag === "JournalMismatch" || tag === "OptionsError")
}

/** Whether this process has lost the run or its journal. */
const isLost = ({ error }: Conductor.RunResult): boolean => {
  if (!(error instanceof Journal.JournalError)) return false
  const { _tag } = error.reason
  return _tag === "Fenced" || _tag === "Held" || _tag === "Unreachable"
}

/** A turn that is ready to run. */
export interface Prepared {
  /** Id of the run. */
  readonly runId: string
  /** Runs the turn. Emits parts as they arrive, and returns the final ones. */
  readonly run: (tell: Tell) => Effect.Effect<ReadonlyArray<Part>>
  /** Set if the response is shared between servers. */
  readonly shared?: SharedTurn | undefined
}

/** Records spans for a run under the span of its request if tracing is enabled. Spans include no content. */
const spans: Effect.Effect<Telemetry.SpanRecorder | undefined> = Effect.flatMap(Effect.tracer, (tracer) =>
  tracer === Tracer.nativeTracer
    ? Effect.undefined
    : Effect.map(Effect.option(Effect.currentParentSpan), (parent) =>
        Telemetry.recorder(tracer, { parent: Option.getOrUndefined(parent) })
      )
)

/** Denies tools that require approval, because no person is available to approve them. */
const approve = () => Effect.succeed(false)

/** Prepares a turn: resumes its run or starts a new one. */
export const prepare = Effect.fnUntraced(function* (
  options: Options,
  turn: Turn
): Effect.fn.Return<Prepared, ApiError> {
  const { key, owner, request } = turn
  const isOfStoredRun = request.fork !== undefined || request.resume !== undefined
  const metadata = { owner, request: key, asked: Asked.of(request) }
  const taskId = turn.digest === undefined ? undefined : `task-${CallId.of(turn.digest)}`
  const fork =
    request.fork === undefined ? undefined : yield* Forked.read(options.journal, turn.team, request.fork, metadata)
  const found = isOfStoredRun ? undefined : History.resultsIn(request.messages)
  const named = found === undefined ? turn.named : undefined
  if (named !== undefined) yield* Idempotent.check(options.journal, named, turn.key)
  const pieces = found === undefined ? [] : Seal.piecesOf(options.sealer, { owner, ...found, seals: request.seals })
  const resumption = found === undefined ? request.resume : yield* resumptionOf(options, turn, found, pieces)
  const isNew = found === undefined && named === undefined && !isOfStoredRun
  const before = isNew ? yield* beforeOf(options, turn) : undefined
  const left = isOfStoredRun ? undefined : History.leftIn(request.messages)
  if (left !== undefined) yield* Effect.ignore(abandon(options.journal, left, owner))
  const records: Array<TokenRecords.TokenRecord> = []
  const team = fork === undefined ? turn.team : { ...turn.team, pool: fork.pool }
  const conductor = conductorOf(options, { ...turn, team }, records)
  const tools = toolsOf(options, turn)
  const { toolChoice } = request
  if (tools.length === 0 && toolChoice !== undefined && toolChoice !== "auto" && toolChoice !== "none") {
    return yield* invalid(
      "tool_choice",
      "tool_choice requires a tool, but the request has no tool that this server supports."
    )
  }
  // An in-memory journal is lost with its process, so it only stores runs that a client can resume or that have an
  // idempotency key.
  const isResumable = tools.length > 0 || options.settings.approvePlans === true
  const isKept = options.recent === undefined || isResumable || named !== undefined
  const shared: Conductor.RunOptions = {
    ledger: turn.ledger,
    // The server's account is charged in addition to the owner's.
    payer: options.ledger === undefined ? undefined : { account: options.ledger },
    journal: isKept ? options.journal : undefined,
    tools: tools.length === 0 ? undefined : tools,
    toolChoice: tools.length === 0 ? undefined : request.toolChoice,
    parallelToolCalls: tools.length === 0 ? undefined : request.parallelToolCalls,
    output: request.output,
    approve
  }

  const isShared = turn.isShared === true
  const fold = {
    maxRounds: conductor.maxRounds,
    // Clients that turn off reasoning do not receive notes.
    notes: request.settings.reasoning?.type === "off" ? "off" : options.notes,
    isShaped: request.output !== undefined && request.output.type !== "text",
    isStreamed: request.isStreamed,
    stopSequences: request.settings.stopSequences,
    isOneByOne: request.parallelToolCalls === false,
    isTagged: request.isTagged === true,
    fieldNames: request.fieldNames
  } as const

  const segment = (
    runId: string,
    given: ReadonlyArray<string>,
    tell: Tell,
    go: (hears: Pick<Conductor.RunOptions, "listener" | "telemetry">) => Effect.Effect<Conductor.RunResult>
  ) => {
    const parts = SegmentParts.make({ ...fold, given })
    const keep = isKept ? undefined : options.recent?.listener(runId)
    return Effect.flatMap(spans, (telemetry) => {
      const listener: RunEvent.Listener = (event) => {
        keep?.(event)
        const made = isShared ? [] : parts.take(event)
        if (made.length > 0) tell(made)
        options.listener?.(event)
      }
      const run = go({ listener, telemetry })
      if (isShared) {
        return Effect.flatMap(run, (result) =>
          // Another server is executing the run, or takes it over when this server's claim ends.
          isLost(result) ? Effect.interrupt : Effect.succeed({ result, last: recorded(parts, result) })
        )
      }
      return Effect.map(
        Effect.onInterrupt(run, () => Effect.sync(() => tell(parts.stop()))),
        (result) => ({ result, last: Effect.suspend(() => ended(parts, result)) })
      )
    })
  }

  /**
   * Returns all parts of a shared response: the ones that every server derives from the journal, and the final ones.
   */
  const recorded = (parts: SegmentParts.SegmentParts, result: Conductor.RunResult) =>
    Effect.matchEffect(options.journal.read(result.runId), {
      onFailure: () => Effect.interrupt,
      onSuccess: (entries) => {
        const before = SegmentParts.takeAll(parts, entries)
        return Effect.map(ended(parts, result), (last) => [...before, ...last])
      }
    })

  /** Returns the final parts. The state of a suspended run precedes its calls, for clients that carry it. */
  const ended = (parts: SegmentParts.SegmentParts, result: Conductor.RunResult) => {
    const end = parts.end(result)
    const last = request.choice.returnsTokens === true ? TokenRecords.addTo(end, records) : end
    if (result.ending !== "suspended" || !request.carriesState) return Effect.succeed(last)
    const { runId } = result
    const from = runId === found?.runId ? Seal.lengthOf(pieces) : 0
    const sealed = Seal.take(options.sealer, options.journal, { runId, owner, from })
    return Effect.map(
      Effect.orElseSucceed(sealed, () => undefined),
      (state): ReadonlyArray<Part> => {
        const at = last.findIndex(({ type }) => type === "tool-call")
        return state === undefined ? last : [...last.slice(0, at), { type: "state", state }, ...last.slice(at)]
      }
    )
  }

  const go = (runId: string, tell: Tell) =>
    segment(runId, [], tell, (hears) => {
      const runOptions = { ...shared, runId, ...hears }
      const run =
        fork === undefined
          ? conductor.run({ id: taskId, messages: request.messages, metadata }, runOptions)
          : conductor.fork(fork.of, runOptions)
      return runId === turn.runId ? run : Idempotent.waitingForOthers(run)
    })
  const sharing = (given: ReadonlyArray<string>) => (isShared ? { shared: { key, fold: { ...fold, given } } } : {})
  const begin = (runId: string) => (tell: Tell) => Effect.flatMap(go(runId, tell), ({ last }) => last)

  if (before !== undefined) {
    const run = (tell: Tell) =>
      Effect.flatMap(go(before, tell), ({ last, result }) => (cannotGoOn(result) ? begin(turn.runId)(tell) : last))
    return { runId: before, run, ...sharing([]) }
  }
  if (resumption === undefined) {
    return { runId: named ?? turn.runId, run: begin(named ?? turn.runId), ...sharing([]) }
  }
  const goOn = (tell: Tell) =>
    Effect.flatMap(
      segment(resumption.runId, Object.keys(resumption.results), tell, (hears) =>
        // If another server executes the run, waits for it: starting the run again would be charged twice.
        Idempotent.waitingForOthers(conductor.resume(resumption, { ...shared, ...hears }))
      ),
      // A request that names a run must continue that run, so it does not fall back to a new one.
      ({ last, result }) => (request.resume === undefined && cannotGoOn(result) ? begin(turn.runId)(tell) : last)
    )
  return { runId: resumption.runId, run: goOn, ...sharing(Object.keys(resumption.results)) }
})
