/** The list entry for a run: the fields of `GET /v1/runs`, and additional ones that require a transcript. */
import { type Journal, Message, type Transcript, Transcript as Transcripts } from "@divisi/core"

/** A bar in the small waterfall of a run. `from` and `to` are fractions of the run's duration. */
export interface Bar {
  readonly from: number
  readonly to: number
  readonly state: "answered" | "failed" | "running"
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
  const bars = rounds
    .flatMap(({ steps }) => steps)
    .flatMap(({ endedAt, startedAt, state }): ReadonlyArray<Bar> => {
      if (startedAt === undefined || state === "skipped") return []
      const kind = state === "answered" ? "answered" : state === "failed" ? "failed" : "running"
      return [{ from: share(startedAt), to: share(endedAt ?? end), state: kind }]
    })
  return bars.length <= maxBars ? bars : [...bars.slice(0, maxBars - 1), bars.at(-1)!]
}

const waitsFor = ({ rounds }: Transcript.Transcript): ReadonlyArray<string> =>
  rounds.flatMap(({ steps }) =>
    steps.flatMap(({ waitingFor = [] }) =>
      waitingFor.map(({ call, for: what, id }) => `${what === "approval" ? "approval of " : ""}${call.name} (${id})`)
    )
  )

/** Returns the list entry of a run from its transcript. */
export const fromTranscript = (transcript: Transcript.Transcript): Summary => {
  const { ending, policy, pool, runId, startedAt, task } = transcript
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
    tokens: spend.usage.inputTokens + spend.usage.outputTokens,
    is_play: pool.length > 0 && pool.every(({ isPlay }) => isPlay === true),
    is_unpriced: spend.unpricedCalls > 0,
    bars: barsOf(transcript, end)
  }
}
