/** A session and its results: the runs of a server or of a user in a period, added up. */
import { Transcript } from "@divisi/core"
import { cost, noSpend, type Pricing, type Spend } from "@divisi/core/Usage"
import * as Spans from "./Spans.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A worker that might have done it alone, by its price. */
export interface Reference {
  readonly worker: string
  readonly pricing: Pricing
}

/** The runs of a session. */
export interface Session {
  readonly title: string
  readonly runs: ReadonlyArray<Transcript.Transcript>
  /** One worker, at whose price the same tokens are calculated. */
  readonly against?: Reference | undefined
  /** The runs of the same work, done again by one worker alone. */
  readonly alone?: ReadonlyArray<Transcript.Transcript> | undefined
}

/** The figures of one worker, or of the policy. */
export interface WorkerFigures {
  readonly id: string
  readonly spend: Spend
  /** Calls by what they were for. */
  readonly calls: Readonly<Record<Transcript.Purpose, number>>
  /** Calls that failed or were interrupted; they are among its calls. */
  readonly lostCalls: number
  /** Tools that it asked for. */
  readonly toolCalls: number
}

/** The totals of runs. */
export interface Totals {
  readonly runs: number
  /** Runs by how they ended; those that have not ended are `unfinished`. */
  readonly endings: Readonly<Record<string, number>>
  /** When the first began and the last thing happened, in milliseconds since 1970. */
  readonly from: number
  readonly to: number
  /** While at least one worker was asked, or a plan was written. */
  readonly workedMillis: number
  /** The time in which no worker was active, and a tool was running or pending. */
  readonly toolMillis: number
  readonly spend: Spend
}

/** The figures of a session. */
export interface Figures extends Totals {
  /** Whether all prices are play money. */
  readonly isPlay: boolean
  /** The spending by purpose of calls. */
  readonly purposes: Readonly<Record<Transcript.Purpose, Spend>>
  /** The share of all that was not for the steps that answer; `undefined` of nothing. */
  readonly orchestration: { readonly cost: number | undefined; readonly tokens: number | undefined }
  /** In order of cost, the highest first. */
  readonly workers: ReadonlyArray<WorkerFigures>
  /** The cost of the same tokens at one worker's price: of all tokens, and of those of the answering steps alone. */
  readonly against?: { readonly worker: string; readonly allUsd: number; readonly answersUsd: number } | undefined
  readonly alone?: Totals | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Adding up
// -------------------------------------------------------------------------------------------------------------------

/** In the order in which they are shown. */
export const purposes = ["plan", "step", "answer", "judgement"] as const satisfies ReadonlyArray<Transcript.Purpose>

const sum = (payments: ReadonlyArray<Transcript.Payment>): Spend => payments.reduce(Transcript.withPayment, noSpend)

const tokensOf = ({ usage: { inputTokens, outputTokens } }: Spend): number => inputTokens + outputTokens

const counts = <Key extends string>(keys: ReadonlyArray<Key>): Readonly<Record<Key, number>> => {
  const counted = {} as Record<Key, number>
  for (const key of keys) counted[key] = (counted[key] ?? 0) + 1
  return counted
}

const totals = (runs: ReadonlyArray<Transcript.Transcript>): Totals => {
  const spans = runs.flatMap(Spans.of)
  const worked = Spans.length(spans.filter(({ worker }) => worker !== undefined))
  return {
    runs: runs.length,
    endings: counts(runs.map(({ ending = "unfinished" }) => ending)),
    from: Math.min(...runs.map(({ startedAt }) => startedAt)),
    to: Math.max(...runs.map(Transcript.endOf)),
    workedMillis: worked,
    toolMillis: Spans.length(spans) - worked,
    spend: sum(runs.flatMap(Transcript.payments))
  }
}

const stepsOf = (run: Transcript.Transcript): ReadonlyArray<Transcript.StepRecord> =>
  run.rounds.flatMap(({ steps }) => steps.flatMap((step) => [step, ...(step.nested ? stepsOf(step.nested) : [])]))

const workersOf = (
  runs: ReadonlyArray<Transcript.Transcript>,
  payments: ReadonlyArray<Transcript.Payment>
): ReadonlyArray<WorkerFigures> => {
  const asked = counts(
    runs.flatMap(stepsOf).flatMap(({ turns = [] }) => turns.flatMap(({ tools, worker }) => tools.map(() => worker)))
  )
  const figures = [...Map.groupBy(payments, ({ worker }) => worker)].map(([id, own]): WorkerFigures => {
    const callsFor = (purpose: Transcript.Purpose) => sum(own.filter((payment) => payment.purpose === purpose)).calls
    return {
      id,
      spend: sum(own),
      calls: {
        plan: callsFor("plan"),
        step: callsFor("step"),
        answer: callsFor("answer"),
        judgement: callsFor("judgement")
      },
      lostCalls: sum(own.filter(({ isLost }) => isLost)).calls,
      toolCalls: asked[id] ?? 0
    }
  })
  return figures.toSorted(
    (left, right) => right.spend.costUsd - left.spend.costUsd || (left.id < right.id ? -1 : left.id > right.id ? 1 : 0)
  )
}

/** A price per call counts for each call. */
const priced = ({ perCall = 0, ...perToken }: Pricing, { calls, usage }: Spend): number =>
  (cost(perToken, usage) ?? 0) + perCall * calls

const shareOf = (part: number, whole: number): number | undefined => (whole > 0 ? part / whole : undefined)

/** Calculates the figures of a session, which has at least one run. */
export const figures = ({ against, alone, runs }: Session): Figures => {
  const payments = runs.flatMap(Transcript.payments)
  const of = (purpose: Transcript.Purpose) => sum(payments.filter((payment) => payment.purpose === purpose))
  const answers = of("answer")
  const whole = totals(runs)
  const { spend } = whole
  return {
    ...whole,
    isPlay: runs.every(({ pool }) => pool.every(({ isPlay }) => isPlay === true)),
    purposes: { plan: of("plan"), step: of("step"), answer: answers, judgement: of("judgement") },
    orchestration: {
      cost: shareOf(spend.costUsd - answers.costUsd, spend.costUsd),
      tokens: shareOf(tokensOf(spend) - tokensOf(answers), tokensOf(spend))
    },
    workers: workersOf(runs, payments),
    against: against && {
      worker: against.worker,
      allUsd: priced(against.pricing, spend),
      answersUsd: priced(against.pricing, answers)
    },
    alone: alone && totals(alone)
  }
}
