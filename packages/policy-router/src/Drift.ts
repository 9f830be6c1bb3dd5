/**
 * Selects the outcomes that are still valid evidence. Vendors update models under the same name, which makes old
 * outcomes unreliable.
 *
 * Outcomes decay with age: after one half-life every second outcome is kept, after two every fourth, and the selection
 * is deterministic. Selected outcomes are not reweighted, so error estimates computed from them stay valid. If a
 * worker's scores on a kind of question changed abruptly, all earlier outcomes are dropped. The detection threshold is
 * lower where the vendor's responses start to name a different model.
 */
import { type Outcome, Seed, Options as Tables } from "@divisi/core"

/** A detected change in a worker's scores on a kind of question. */
export interface Change {
  readonly worker: string
  /** The kind of question. Undefined if the outcomes have no kind. */
  readonly kind?: string | undefined
  /** The vendor's name for the new model, if it changed at the same time. */
  readonly model?: string | undefined
  /** When the first answer after the change was scored, in milliseconds since 1970. */
  readonly at: number
  readonly before: { readonly mean: number; readonly count: number }
  readonly since: { readonly mean: number; readonly count: number }
}

/** The selected outcomes and the detected changes. */
export interface Recent {
  readonly outcomes: ReadonlyArray<Outcome.Outcome>
  readonly changes: ReadonlyArray<Change>
}

/** Options for selecting recent outcomes. */
export interface Options {
  /** The current time in milliseconds since 1970. */
  readonly now: number
  /** The half-life of evidence, in days. `Infinity` disables decay. Default: 180. */
  readonly halfLifeDays?: number | undefined
}

const day = 86_400_000

/**
 * Minimum number of answers required on each side of a change. Fewer are required if the vendor names a new model at
 * that point.
 */
const leastAnswers = 12
const leastOfNamed = 6

/**
 * Minimum difference of means for a change, in standard errors. Every position is tested, so it must be well above two:
 * of 1,000 simulated series with no change (50 to 1,000 answers each), 2 to 35 were flagged.
 */
const threshold = 3.5
/** Threshold where the vendor names a new model. Only that position is tested, and a change is likely beforehand. */
const thresholdOfNamed = 2

const meanOf = (total: number, count: number) => ({ mean: total / count, count })

/** Returns the positions in a series at which the vendor first names a new model. */
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

/** Returns the most significant change point in a series of scores, or `undefined` if none passes the threshold. */
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
    // Pool only the variance within the two parts: the variance between them is the effect under test.
    const within = squares - before ** 2 / at - (total - before) ** 2 / left
    const variance = Math.max(within / (row.length - 2), 0.01)
    const distance = Math.abs(difference) / Math.sqrt(variance / at + variance / left) / needed
    if (distance > largest) [found, largest] = [at, distance]
  }
  return found
}

/** Returns the outcomes after the last change in a series, and all changes that were detected. */
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
    halfLifeDays: Tables.either(
      Tables.number(Number.MIN_VALUE),
      Tables.expects("Infinity", (value) => value === Infinity)
    )
  } satisfies Tables.ShapeOf<Options>,
  { required: ["now"] }
)

/** Returns the outcomes that are still valid evidence, in chronological order, and the detected changes. */
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
