/** A session consists of the runs of a server or user over a period. This module computes its totals and its timeline. */
import { Transcript } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import { cost, noSpend, type Pricing, type Spend } from "@divisi/core/Usage"
import * as Spans from "./Spans.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A worker to compare with, and its price. */
export interface Reference {
  readonly worker: string
  readonly pricing: Pricing
}

/** The runs of a session. */
export interface Session {
  /** Title of the page. */
  readonly title: string
  readonly runs: ReadonlyArray<Transcript.Transcript>
  /** Number of further runs whose records cannot be read. Default: 0. */
  readonly unreadable?: number | undefined
  /** The worker whose price is applied to the same tokens, for comparison. */
  readonly against?: Reference | undefined
  /** Runs of the same work by a single worker. */
  readonly alone?: ReadonlyArray<Transcript.Transcript> | undefined
}

/** Spending. `costUsd` excludes play money, whose prices are made up. */
export interface Spending extends Spend {
  /** Cost of the calls to workers with prices in play money. */
  readonly playUsd: number
}

/** Totals for a worker or the policy. */
export interface WorkerFigures {
  readonly id: string
  readonly spend: Spending
  /** Number of calls by purpose. */
  readonly calls: Readonly<Record<Transcript.Purpose, number>>
  /** Number of calls that failed or were interrupted. They are included in `calls`. */
  readonly lostCalls: number
  /** Number of tool calls made by the worker. */
  readonly toolCalls: number
}

/** Totals over a set of runs. */
export interface Totals {
  readonly runs: number
  /** Number of runs by ending; `unfinished` for runs in progress. */
  readonly endings: Readonly<Record<string, number>>
  /** Start of the first run and time of the last event, in milliseconds since 1970. */
  readonly from: number
  readonly to: number
  /** Time during which at least one worker was active or a plan was being written, in milliseconds. */
  readonly workedMillis: number
  /** Time during which no worker was active and a tool was running or pending, in milliseconds. */
  readonly toolMillis: number
  readonly spend: Spending
}

/** All figures computed for a session. */
export interface Figures extends Totals {
  /** Spending by purpose of the call. */
  readonly purposes: Readonly<Record<Transcript.Purpose, Spending>>
  /**
   * Fraction of the spending that did not go to answering steps; `undefined` if nothing was spent. The fraction of the
   * cost is that of play money if nothing else was spent.
   */
  readonly orchestration: { readonly cost: number | undefined; readonly tokens: number | undefined }
  /** Workers sorted by cost, highest first. */
  readonly workers: ReadonlyArray<WorkerFigures>
  /**
   * Cost at one worker's price for all tokens, and for the tokens of answering steps only. Excludes calls in play money,
   * unless all calls are.
   */
  readonly against?: { readonly worker: string; readonly allUsd: number; readonly answersUsd: number } | undefined
  readonly alone?: Totals | undefined
}

/** A run on the timeline. */
export interface Line {
  readonly id: string
  /** The first words of the question. */
  readonly question: string
  readonly startedAt: number
  readonly millis: number
  readonly ending: string
  readonly policy: string
  readonly steps: number
  readonly calls: number
  /** Cost without play money, in USD. */
  readonly costUsd: number
  readonly playUsd: number
  /** Calls and periods with tools alone, in lanes so that they do not overlap. */
  readonly lanes: ReadonlyArray<ReadonlyArray<Spans.Span>>
}

/** The data of the page about a session. */
export interface Opened {
  readonly title: string
  readonly figures: Figures
  /** Number of runs that are left out, because their records cannot be read. Omitted if all can be read. */
  readonly unreadable?: number
  /** Price of the worker in `figures.against`. */
  readonly pricing?: Pricing | undefined
  /** The most expensive runs, in order of their start. */
  readonly runs: ReadonlyArray<Line>
}

/** API path of the page's data. */
export const path = "v1/costs"

// -------------------------------------------------------------------------------------------------------------------
// Adding up
// -------------------------------------------------------------------------------------------------------------------

/** Purposes of calls, in display order. */
export const purposes = ["plan", "step", "answer", "judgement"] as const satisfies ReadonlyArray<Transcript.Purpose>

/** A payment, and whether it is in play money. */
interface Charge extends Transcript.Payment {
  readonly isPlay: boolean
}

/** The model of a policy is not in the pool. Its calls are in play money if all workers are. */
const isPlayIn = ({ pool }: Transcript.Transcript): ((worker: string) => boolean) => {
  const isPlayPool = Transcript.isAllPlay(pool)
  const known = new Map(pool.map(({ id, isPlay }) => [id, isPlay === true]))
  return (worker) => known.get(worker) ?? isPlayPool
}

const chargesOf = (run: Transcript.Transcript): ReadonlyArray<Charge> => {
  const isPlay = isPlayIn(run)
  return Transcript.payments(run).map((payment) => ({ ...payment, isPlay: isPlay(payment.worker) }))
}

/** Returns the name of a worker in a run. Workers that have real and made-up prices under one id have two names. */
type NameOf = (run: Transcript.Transcript) => (worker: string) => string

const namesIn = (charges: ReadonlyArray<Charge>): NameOf => {
  const real = new Set(charges.flatMap(({ isPlay, worker }) => (isPlay ? [] : worker)))
  return (run) => {
    const isPlay = isPlayIn(run)
    return (worker) => (real.has(worker) && isPlay(worker) ? `${worker} (play money)` : worker)
  }
}

const nothing: Spending = { ...noSpend, playUsd: 0 }

const sum = (charges: ReadonlyArray<Charge>): Spending =>
  charges.reduce<Spending>((total, charge) => {
    const whole = Transcript.withPayment(total, charge)
    const added = whole.costUsd - total.costUsd
    return charge.isPlay
      ? { ...whole, costUsd: total.costUsd, playUsd: total.playUsd + added }
      : { ...whole, playUsd: total.playUsd }
  }, nothing)

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
    spend: sum(runs.flatMap(chargesOf))
  }
}

/** Orders by cost, and then by play money, highest first. */
const byCost = (left: Pick<Spending, "costUsd" | "playUsd">, right: Pick<Spending, "costUsd" | "playUsd">): number =>
  right.costUsd - left.costUsd || right.playUsd - left.playUsd

const stepsOf = (run: Transcript.Transcript): ReadonlyArray<Transcript.StepRecord> =>
  run.rounds.flatMap(({ steps }) => steps.flatMap((step) => [step, ...(step.nested ? stepsOf(step.nested) : [])]))

const workersOf = (runs: ReadonlyArray<Transcript.Transcript>, nameOf: NameOf): ReadonlyArray<WorkerFigures> => {
  const asked = counts(
    runs.flatMap((run) =>
      stepsOf(run).flatMap(({ turns = [] }) =>
        turns.flatMap(({ tools, worker }) => tools.map(() => nameOf(run)(worker)))
      )
    )
  )
  const named = runs.flatMap((run) => chargesOf(run).map((charge) => ({ charge, name: nameOf(run)(charge.worker) })))
  const figures = [...Map.groupBy(named, ({ name }) => name)].map(([id, some]): WorkerFigures => {
    const own = some.map(({ charge }) => charge)
    const callsFor = (purpose: Transcript.Purpose) => sum(own.filter((charge) => charge.purpose === purpose)).calls
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
    (left, right) => byCost(left.spend, right.spend) || (left.id < right.id ? -1 : left.id > right.id ? 1 : 0)
  )
}

/** Includes the price per call, if any. */
const priced = ({ perCall = 0, ...perToken }: Pricing, { calls, usage }: Spend): number =>
  (cost(perToken, usage) ?? 0) + perCall * calls

const shareOf = (part: number, whole: number): number | undefined => (whole > 0 ? part / whole : undefined)

/** Computes the figures for a session with at least one run. */
export const figures = ({ against, alone, runs }: Session): Figures => {
  const charges = runs.flatMap(chargesOf)
  const of = (purpose: Transcript.Purpose) => sum(charges.filter((charge) => charge.purpose === purpose))
  const answers = of("answer")
  const whole = totals(runs)
  const { spend } = whole
  const isAllPlay = charges.every(({ isPlay }) => isPlay)
  const compared = charges.filter(({ isPlay }) => isPlay === isAllPlay)
  const share = (cost: (spending: Spending) => number) => shareOf(cost(spend) - cost(answers), cost(spend))
  return {
    ...whole,
    purposes: { plan: of("plan"), step: of("step"), answer: answers, judgement: of("judgement") },
    orchestration: {
      cost: share(spend.costUsd > 0 ? ({ costUsd }) => costUsd : ({ playUsd }) => playUsd),
      tokens: share(tokensOf)
    },
    workers: workersOf(runs, namesIn(charges)),
    against: against && {
      worker: against.worker,
      allUsd: priced(against.pricing, sum(compared)),
      answersUsd: priced(against.pricing, sum(compared.filter(({ purpose }) => purpose === "answer")))
    },
    alone: alone && totals(alone)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// The page's data
// -------------------------------------------------------------------------------------------------------------------

/** Maximum number of runs on the timeline. */
const maxLines = 100

/** A tag that clients put before the user's text. */
const added = /^\s*<([a-z][\w-]*)>[\s\S]*?<\/\1>/i

/** Maximum length of a question to process, in characters. It may be followed by many files. */
const maxRead = 100_000

/** Maximum length of the first words of a question, in characters. */
const maxWords = 60

/** Returns the first words of a question. */
const wordsOf = ({ task }: Transcript.Transcript): string => {
  let text = Task.question(task).slice(0, maxRead)
  for (let next = text.replace(added, ""); next !== text; next = text.replace(added, "")) text = next
  const words = text.trim().replace(/\s+/g, " ")
  return words.length <= maxWords ? words : `${words.slice(0, maxWords).toWellFormed()}…`
}

const lineOf = (run: Transcript.Transcript, nameOf: NameOf): Line => {
  const { ending = "unfinished", policy, rounds, runId, startedAt } = run
  const { calls, costUsd, playUsd } = sum(chargesOf(run))
  return {
    ...{ id: runId, question: wordsOf(run), startedAt, millis: Transcript.endOf(run) - startedAt },
    ...{ ending, policy, calls, costUsd, playUsd },
    steps: rounds.reduce((sum, { steps }) => sum + steps.length, 0),
    lanes: Spans.lanes(
      Spans.of(run).map((span) => (span.worker === undefined ? span : { ...span, worker: nameOf(run)(span.worker) }))
    )
  }
}

/** Returns the data of the page about a session with at least one run. It contains no answers. */
export const open = (session: Session): Opened => {
  const nameOf = namesIn(session.runs.flatMap(chargesOf))
  const lines = session.runs.map((run) => lineOf(run, nameOf)).toSorted(byCost)
  return {
    title: session.title,
    figures: figures(session),
    ...(session.unreadable !== undefined && session.unreadable > 0 && { unreadable: session.unreadable }),
    ...(session.against !== undefined && { pricing: session.against.pricing }),
    runs: lines.slice(0, maxLines).toSorted((one, other) => one.startedAt - other.startedAt)
  }
}
