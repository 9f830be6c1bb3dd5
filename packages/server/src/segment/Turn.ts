/**
 * Answers requests with runs of a Conductor: a user's turn is a run, a request a segment of it.
 *
 * A request with tool results resumes the suspended run from its journal, or from the state in the client's history if
 * the journal has evicted it. If neither has the run, or the client's request has changed, a new run answers the
 * conversation: the client's history is sufficient. It is never an error.
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
import type { Part, Request } from "../wire/Wire.ts"
import { abandon } from "./Abandon.ts"
import * as CallId from "./CallId.ts"
import * as ClientTool from "./ClientTool.ts"
import * as Failure from "./Failure.ts"
import * as History from "./History.ts"
import * as Idempotent from "./Idempotent.ts"
import { ownerIn } from "./Owner.ts"
import * as Repeats from "./Repeats.ts"
import * as Seal from "./Seal.ts"
import * as SegmentParts from "./SegmentParts.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** How turns are answered. */
export interface Options {
  readonly settings: RunSettings
  readonly journal: Journal.Journal
  /** The same journal if it is in memory: it stores runs that cannot be resumed more cheaply. */
  readonly recent?: Journal.MemoryJournal | undefined
  readonly notes: SegmentParts.Notes
  /** Seals the state of suspended runs, for clients to carry. */
  readonly sealer: Seal.Sealer
  /** An account that all runs share. */
  readonly ledger?: Budget.Ledger | undefined
  /** Receives the events of all runs. Its exceptions are ignored. */
  readonly listener?: RunEvent.Listener | undefined
}

/** A request with who answers it. */
export interface Turn {
  /** Deduplication key. */
  readonly key: string
  readonly request: Request
  readonly team: Team
  /** The owner: tool results resume only runs of the same owner. */
  readonly owner: string
  /** The account of its owner. */
  readonly ledger?: Budget.Ledger | undefined
  /** The id of a new run. */
  readonly runId: string
  /** The run that the `Idempotency-Key` of the request names. */
  readonly named?: string | undefined
  /** Whether the client marked the request as a retry. Absent for a later segment of a response. */
  readonly isRepeated?: boolean | undefined
}

/** A run that a request resumes. */
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

/** The Conductor of a request: the server's, with what the client wants of its answer. */
const conductorOf = ({ settings }: Options, { request, team }: Turn): Conductor.Conductor["Service"] => {
  const { choice, settings: asked } = request
  return Conductor.make({
    ...settings,
    policy: team.policy,
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

/** The tools of the server, and those of the request, for the client to run. */
const toolsOf = ({ settings }: Options, { request }: Turn): ReadonlyArray<Tool.Tool> => {
  const own = settings.tools ?? []
  const names = new Set(own.map(({ name }) => name))
  return [...own, ...request.tools.filter(({ name }) => !names.has(name)).map(ClientTool.make)]
}

/** Returns the run that a conversation resumes, if its journal has it and the owner is the same. */
const resumptionOf = Effect.fnUntraced(function* (
  { journal }: Options,
  { owner, request }: Turn,
  found: History.Results,
  pieces: ReadonlyArray<Seal.Piece>
): Effect.fn.Return<Resumption | undefined, ApiError> {
  // If a run cannot be read at the moment, it is not restarted, because it would be paid for twice.
  const read = Effect.catch(journal.read(found.runId), (error) =>
    Failure.isUnreachable(error) ? Effect.fail(Failure.unreachable) : Effect.succeed([])
  )
  const known = yield* read
  if (known.length === 0) yield* Effect.ignore(Seal.restore(journal, pieces, request.messages))
  const entries = known.length > 0 || pieces.length === 0 ? known : yield* read
  const events = Journal.eventsOf(entries)
  if (ownerIn(events[0]) !== owner) return undefined
  const ids = events.flatMap((event) => (event.type === "step-waiting" ? event.calls.map(({ id }) => id) : []))
  const results: Record<string, Tool.Given> = {}
  for (const { callId, content, isError } of found.results) {
    const id = CallId.find(callId, ids)
    if (id === undefined) return undefined
    results[id] = isError === true ? { content, isError } : { content }
  }
  return { runId: found.runId, results }
})

/** The run that a request had before, where it is one that was sent again and the journal outlives its process. */
const beforeOf = ({ journal, recent }: Options, { isRepeated, key, owner }: Turn) =>
  isRepeated === undefined || recent !== undefined
    ? Effect.undefined
    : Repeats.find(journal, { request: key, owner, isRepeated })

/**
 * Whether a resumed run could not continue: because of its journal, because its options changed, or because its user
 * had continued without it.
 */
const cannotGoOn = ({ ending, error }: Conductor.RunResult): boolean => {
  const tag = typeof error === "object" && error !== null && "_tag" in error ? error._tag : undefined
  if (ending === "interrupted") return true
  if (Failure.isUnreachable(error)) return false
  return ending === "failed" && (tag === "JournalError" || tag === "JournalMismatch" || tag === "OptionsError")
}

/** A turn that can be run. */
export interface Prepared {
  /** The run that it is a segment of. */
  readonly runId: string
  /** Tells parts as they come, and returns the last. */
  readonly run: (tell: Tell) => Effect.Effect<ReadonlyArray<Part>>
}

/** Creates spans of a run below the span of its request if tracing is on. They contain no content. */
const spans: Effect.Effect<Telemetry.SpanRecorder | undefined> = Effect.flatMap(Effect.tracer, (tracer) =>
  tracer === Tracer.nativeTracer
    ? Effect.undefined
    : Effect.map(Effect.option(Effect.currentParentSpan), (parent) =>
        Telemetry.recorder(tracer, { parent: Option.getOrUndefined(parent) })
      )
)

/** No person is available to approve a tool. */
const approve = () => Effect.succeed(false)

/** Prepares a turn: resumes its run, or starts one. */
export const prepare = Effect.fnUntraced(function* (
  options: Options,
  turn: Turn
): Effect.fn.Return<Prepared, ApiError> {
  const { owner, request } = turn
  const found = History.resultsIn(request.messages)
  const named = found === undefined ? turn.named : undefined
  if (named !== undefined) yield* Idempotent.check(options.journal, named, turn.key)
  const pieces = found === undefined ? [] : Seal.piecesOf(options.sealer, { owner, ...found, seals: request.seals })
  const resumption = found === undefined ? undefined : yield* resumptionOf(options, turn, found, pieces)
  const before = found === undefined && named === undefined ? yield* beforeOf(options, turn) : undefined
  const left = History.leftIn(request.messages)
  if (left !== undefined) yield* Effect.ignore(abandon(options.journal, left, owner))
  const conductor = conductorOf(options, turn)
  const tools = toolsOf(options, turn)
  const { toolChoice } = request
  if (tools.length === 0 && toolChoice !== undefined && toolChoice !== "auto" && toolChoice !== "none") {
    return yield* invalid(
      "tool_choice",
      "tool_choice requires a tool, but the request has no tool that this server supports."
    )
  }
  // From memory, which ends with its process, only a run is continued that calls tools of its client or that a key names.
  const isKept = options.recent === undefined || tools.length > 0 || named !== undefined
  const shared: Conductor.RunOptions = {
    ledger: turn.ledger,
    // Every payment is charged to this account in addition to the owner's.
    payer: options.ledger === undefined ? undefined : { account: options.ledger },
    journal: isKept ? options.journal : undefined,
    tools: tools.length === 0 ? undefined : tools,
    toolChoice: tools.length === 0 ? undefined : request.toolChoice,
    parallelToolCalls: tools.length === 0 ? undefined : request.parallelToolCalls,
    output: request.output,
    approve
  }

  const segment = (
    runId: string,
    given: ReadonlyArray<string>,
    tell: Tell,
    go: (hears: Pick<Conductor.RunOptions, "listener" | "telemetry">) => Effect.Effect<Conductor.RunResult>
  ) => {
    const parts = SegmentParts.make({
      maxRounds: conductor.maxRounds,
      // If the client turned reasoning off, notes are off, too.
      notes: request.settings.reasoning?.type === "off" ? "off" : options.notes,
      isShaped: request.output !== undefined && request.output.type !== "text",
      stopSequences: request.settings.stopSequences,
      isOneByOne: request.parallelToolCalls === false,
      isTagged: request.isTagged === true,
      given
    })
    const keep = isKept ? undefined : options.recent?.listener(runId)
    return Effect.flatMap(spans, (telemetry) => {
      const listener: RunEvent.Listener = (event) => {
        keep?.(event)
        tell(parts.take(event))
        options.listener?.(event)
      }
      const run = Effect.onInterrupt(go({ listener, telemetry }), () => Effect.sync(() => tell(parts.stop())))
      return Effect.map(run, (result) => ({ result, last: Effect.suspend(() => ended(parts, result)) }))
    })
  }

  /** Returns the last parts. The state of a suspended run precedes its calls, for clients that carry it. */
  const ended = (parts: SegmentParts.SegmentParts, result: Conductor.RunResult) => {
    const last = parts.end(result)
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
      const run = conductor.run(
        { messages: request.messages, metadata: { owner, request: turn.key } },
        { ...shared, runId, ...hears }
      )
      return runId === turn.runId ? run : Idempotent.waitingForOthers(run)
    })
  const begin = (runId: string) => (tell: Tell) => Effect.flatMap(go(runId, tell), ({ last }) => last)

  if (before !== undefined) {
    const run = (tell: Tell) =>
      Effect.flatMap(go(before, tell), ({ last, result }) => (cannotGoOn(result) ? begin(turn.runId)(tell) : last))
    return { runId: before, run }
  }
  if (resumption === undefined) return { runId: named ?? turn.runId, run: begin(named ?? turn.runId) }
  const goOn = (tell: Tell) =>
    Effect.flatMap(
      segment(resumption.runId, Object.keys(resumption.results), tell, (hears) =>
        conductor.resume(resumption, { ...shared, ...hears })
      ),
      ({ last, result }) => (cannotGoOn(result) ? begin(turn.runId)(tell) : last)
    )
  return { runId: resumption.runId, run: goOn }
})
