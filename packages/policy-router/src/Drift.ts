/**
 * Selects the outcomes that still count. Vendors change models under the same name, so old outcomes become outdated.
 *
 * Evidence decays: of outcomes that are one half-life old, every second one counts, of those that are two half-lives
 * old, every fourth one, always the same ones. The selected outcomes are unchanged, so errors computed from them are
 * correct. If the scores of a worker for a kind of question have changed abruptly, older outcomes do not count. The
 * threshold is lower if the vendor's responses name another model from then on.
 */
import { type Outcome, Seed, Options as Tables } from "@divisi/core"

/** A worker whose scores for a kind of question have changed. */
export interface Change {
  readonly worker: string
  /** Absent for outcomes without a kind. */
  readonly kind?: string | undefined
  /** The vendor's name for the current model, if it changed at that time. */
  readonly model?: string | undefined
  /** The time at which the first answer after the change was scored, in milliseconds since 1970. */
  readonly at: number
  readonly before: { readonly mean: number; readonly count: number }
  readonly since: { readonly mean: number; readonly count: number }
}

/** The outcomes that still count, and the detected changes. */
export interface Recent {
  readonly outcomes: ReadonlyArray<Outcome.Outcome>
  readonly changes: ReadonlyArray<Change>
}

/** The settings for the decay of evidence. */
export interface Options {
  /** The current time in milliseconds since 1970. */
  readonly now: number
  /** The half-life in days. `Infinity` disables the decay. Default: 180. */
  readonly halfLifeDays?: number | undefined
}

const day = 86_400_000

/** A change has so many answers on either side; fewer do where the vendor names another model from there on. */
const leastAnswers = 12
const leastOfNamed = 6

/**
 * A difference of means of so many standard errors is a change. All places are looked at, so it has to be more than
 * two: of 1,000 rows of a worker that does not change, of 50 to 1,000 answers, 2 to 35 were taken for one that does.
 */
const threshold = 3.5
/**
 * If the vendor names another model from some point on, only that point is tested, and there is a prior reason for a
 * change.
 */
const thresholdOfNamed = 2

const meanOf = (total: number, count: number) => ({ mean: total / count, count })

/** The places of a row from which on the vendor names a model that it has not named before. */
const namedAt = (row: ReadonlyArray<Outcome.Outcome>): ReadonlySet<number> => {
  const known = new Set<string>()
  const places = new Set<number>()
  for (const [at, { model }] of row.entries()) {
    if (model === undefined || known.has(model)) continue
    if (known.size > 0) places.add(at)
    known.add(model)
  }
  return places
}

/**
 * Returns the position in a time series of scores with the largest difference, if it passes the threshold for a change.
 */
const changeIn = (row: ReadonlyArray<Outcome.Outcome>, named: ReadonlySet<number>): number | undefined => {
  const total = row.reduce((sum, { score }) => sum + score, 0)
  const squares = row.reduce((sum, { score }) => sum + score * score, 0)
  let [found, largest, before] = [undefined as number | undefined, 1, 0]
  for (let at = 1; at <= row.length - leastOfNamed; at++) {
    before += row[at - 1]!.score
    const left = row.length - at
    const [least, needed] = named.has(at) ? [leastOfNamed, thresholdOfNamed] : [leastAnswers, threshold]
    if (at < least || left < least) continue
    const difference = before / at - (total - before) / left
    // The spread within the two parts: that between them is what is asked for.
    const within = squares - before ** 2 / at - (total - before) ** 2 / left
    const variance = Math.max(within / (row.length - 2), 0.01)
    const distance = Math.abs(difference) / Math.sqrt(variance / at + variance / left) / needed
    if (distance > largest) [found, largest] = [at, distance]
  }
  return found
}

/** The part of a row after its last change. */
const sinceChange = (row: ReadonlyArray<Outcome.Outcome>): Recent => {
  const named = namedAt(row)
  const at = changeIn(row, named)
  if (at === undefined) return { outcomes: row, changes: [] }
  const [before, since] = [row.slice(0, at), row.slice(at)]
  const sum = (part: ReadonlyArray<Outcome.Outcome>) =>
    meanOf(
      part.reduce((total, { score }) => total + score, 0),
      part.length
    )
  const { kind, model, worker } = since[0]!
  const change = {
    worker,
    kind,
    model: named.has(at) ? model : undefined,
    at: since[0]!.at,
    before: sum(before),
    since: sum(since)
  }
  const later = sinceChange(since)
  return { outcomes: later.outcomes, changes: [change, ...later.changes] }
}

const rowOf = ({ kind, worker }: Outcome.Outcome): string => JSON.stringify([worker, kind])

const table = Tables.table(
  {
    now: Tables.number(0),
    halfLifeDays: Tables.number(Number.MIN_VALUE, Infinity)
  } satisfies Tables.ShapeOf<Options>,
  { required: ["now"] }
)

/** Returns the outcomes that still count, in chronological order. */
export const recent = (outcomes: ReadonlyArray<Outcome.Outcome>, options: Options): Recent => {
  Tables.check("Drift.recent", options, table)
  const { halfLifeDays = 180, now } = options
  const inTime = outcomes.toSorted((left, right) => left.at - right.at)
  const rows = [...Map.groupBy(inTime, rowOf).values()].map(sinceChange)
  const isKept = ({ at, question, run = "", worker }: Outcome.Outcome) =>
    Seed.draw(Seed.spread(0, question, run, worker))() < 0.5 ** (Math.max(0, now - at) / day / halfLifeDays)
  return {
    outcomes: rows
      .flatMap(({ outcomes }) => outcomes)
      .filter(isKept)
      .toSorted((left, right) => left.at - right.at),
    changes: rows.flatMap(({ changes }) => changes)
  }
}
