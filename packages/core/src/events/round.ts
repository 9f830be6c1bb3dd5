/** The events `round-started` and `round-finished`. A round is one workflow, proposed and run. */
import type { Attributes } from "./Attributes.ts"
import type { OpenRound } from "./OpenRecord.ts"
import type { Stamped } from "./RunEvent.ts"

/** Emitted when a round starts, before the policy is asked for a workflow. */
export interface RoundStarted {
  readonly type: "round-started"
  readonly round: number
}

/** Emitted when a round has finished. */
export interface RoundFinished {
  readonly type: "round-finished"
  readonly round: number
  /** Undefined if the round has no answer. */
  readonly answer?: string
  /** Whether the policy confirmed the previous answer. */
  readonly confirmed: boolean
}

export const begin = ({ at, round }: Stamped<RoundStarted>): OpenRound => ({
  round,
  startedAt: at,
  completions: [],
  lost: [],
  notes: [],
  steps: [],
  confirmed: false
})

export const foldFinished = (round: OpenRound, { answer, at, confirmed }: Stamped<RoundFinished>): void => {
  round.endedAt = at
  if (answer !== undefined) round.answer = answer
  round.confirmed = confirmed
}

export const describeStarted = (span: Attributes, { round }: RoundStarted): void =>
  span.attribute("divisi.round", round)

export const describeFinished = (span: Attributes, { confirmed }: RoundFinished): void =>
  span.attribute("divisi.confirmed", confirmed)
