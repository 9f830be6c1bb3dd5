/** The list entry for a run: the fields of `GET /v1/runs`, and additional ones that require a transcript. */
import { type Journal, Message, type Transcript, Transcript as Transcripts } from "@divisi/core"
import { reusedSteps } from "./Waterfall.ts"

/** A bar in the small waterfall of a run. `from` and `to` are fractions of the run's duration. */
export interface Bar {
  readonly from: number
  readonly to: number
  readonly state: "answered" | "failed" | "reused" | "running"
}

/** A run in a list. */
export interface Summary extends Journal.Listed {
  /** Number of tokens. Set if a transcript was read. */
  readonly tokens?: number
  readonly is_play?: boolean
  readonly is_unpriced?: boolean
  readonly bars?: ReadonlyArray<Bar>
}

/** Maximum number of bars in a small waterfall. */
const maxBars = 6

const barsOf = (transcript: Transcript.Transcript, end: number): ReadonlyArray<Bar> => {
  const { rounds, startedAt } = transcript
  const whole = Math.max(1, end - startedAt)
  const share = (time: number) => Math.min(1, Math.max(0, (time - startedAt) / whole))
  const reused = new Set(reusedSteps(transcript))
  const bars = rounds
    .flatMap(({ steps }) => steps)
    .flatMap((step): ReadonlyArray<Bar> => {
      const { endedAt, startedAt, state } = step
      if (startedAt === undefined || state === "skipped") return []
      const ended = state === "answered" || state === "failed" ? state : "running"
      const kind = reused.has(step) ? "reused" : ended
      return [{ from: share(startedAt), to: share(endedAt ?? end), state: kind }]
    })
  return bars.length <= maxBars ? bars : [...bars.slice(0, maxBars - 1), bars.at(-1)!]
}

/** Describes the pending calls as journals do, so that both kinds of lists are the same. */
const waitsFor = (transcript: Transcript.Transcript): ReadonlyArray<string> =>
  Transcripts.pendingCalls(transcript).map(
    ({ call, for: what, id }) => `${call.name} (${id}${what === "result" ? "" : ", needs approval"})`
  )

/** Returns the list entry of a run from its transcript. */
export const fromTranscript = (transcript: Transcript.Transcript): Summary => {
  const { ending, forkOf, policy, pool, runId, startedAt, task } = transcript
  const end = Transcripts.endOf(transcript)
  const spend = transcript.spend ?? Transcripts.spendSoFar(transcript)
  const question = task.messages.findLast(({ role }) => role === "user")
  return {
    id: runId,
    object: "run",
    state: ending === "suspended" ? "waiting" : (ending ?? "running"),
    question: Message.text(question),
    policy,
    workers: [...new Set(transcript.rounds.flatMap(({ steps }) => steps.map(({ worker }) => worker)))],
    started_at: startedAt,
    changed_at: end,
    cost_usd: spend.costUsd,
    calls: spend.calls,
    owner: typeof task.metadata?.owner === "string" ? task.metadata.owner : null,
    waits_for: waitsFor(transcript),
    ...(forkOf !== undefined && { fork_of: forkOf.runId }),
    tokens: spend.usage.inputTokens + spend.usage.outputTokens,
    is_play: Transcripts.isAllPlay(pool),
    is_unpriced: spend.unpricedCalls > 0,
    bars: barsOf(transcript, end)
  }
}
