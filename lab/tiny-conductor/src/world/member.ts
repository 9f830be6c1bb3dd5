/**
 * Generates the workers of a team: random skills, prices and error rates, and descriptions that may or may not mention
 * them.
 */
import { Family, type GymWorker } from "@divisi/gym"
import * as Draw from "../../../../packages/gym/src/internal/draw.ts"
import * as Describe from "./describe.ts"
import * as HandWritten from "./HandWritten.ts"
import { recordName, type Words } from "./lexicon.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The requirements of a team. */
interface Wanted {
  readonly count: number
  /** The kinds of the question's parts. */
  readonly kinds: ReadonlyArray<Family.FamilyName>
  /** A kind that no worker does. */
  readonly missing: Family.FamilyName | undefined
  readonly words?: Words | undefined
  readonly heldOutShapes?: boolean | undefined
  readonly heldOutSkills?: boolean | undefined
  readonly handWritten?: boolean | undefined
  readonly truth?: "right" | "doubtful" | undefined
  readonly prices?: "by lot" | "by skill" | undefined
  readonly record?: number | undefined
  readonly careless?: boolean | undefined
}

interface Described {
  readonly profile: GymWorker.Profile
  readonly pieces: ReadonlyArray<Describe.Piece>
}

/** The shares of wrong answers by skill. */
const slips = { exact: 0, good: 0.04, careless: 0.25, middling: 0.4, weak: 0.65 } as const

/** The share of questions of a family that a worker is expected to get right, 0 to 1. */
export const expected = (profile: GymWorker.Profile, family: Family.FamilyName): number => {
  const skill = profile.skills[family]
  return skill === undefined || profile.checksOnly === true ? 0 : 1 - (skill.slips ?? 0)
}

// -------------------------------------------------------------------------------------------------------------------
// Skills
// -------------------------------------------------------------------------------------------------------------------

/** A tenth of the sets of two and more skills is kept out of training. */
export const isHeldOutSet = (kinds: ReadonlyArray<Family.FamilyName>): boolean =>
  kinds.length > 1 && Math.abs(Draw.derive("skills", ...[...kinds].sort())) % 5 === 0

const noFacts: Describe.Facts = {
  good: [],
  weak: [],
  checks: [],
  isCareless: false,
  isExact: false,
  isGeneral: false,
  price: undefined
}

/** Draws the facts of a worker: a specialist, a generalist, a cheap worker that tries everything, or a checker. */
const drawFacts = (
  draw: Draw.Draw,
  pool: ReadonlyArray<Family.FamilyName>,
  { careless = false, missing }: Wanted
): Describe.Facts => {
  // A worker that tries everything would also try the missing kind.
  const kind = draw.int(0, missing === undefined ? 99 : 64)
  const isCareless = draw.chance(careless ? 0.85 : 0.15)
  if (kind < (careless ? 25 : 8)) return { ...noFacts, checks: draw.some(pool, draw.int(1, careless ? 5 : 3)) }
  if (kind < 65) {
    const good = draw.some(pool, draw.int(1, 3))
    const weak = draw.chance(0.4) ? draw.some(others(pool, good), draw.int(1, 2)) : []
    return { ...noFacts, good, weak, isCareless, isExact: !isCareless && draw.chance(0.5) }
  }
  const good = draw.some(pool, kind < 92 ? draw.int(2, 4) : 0)
  const weak = kind < 92 ? draw.some(others(pool, good), draw.int(1, 3)) : []
  return { ...noFacts, good, weak, isCareless: isCareless && good.length > 0, isGeneral: true }
}

const others = <A>(items: ReadonlyArray<A>, taken: ReadonlyArray<A>): ReadonlyArray<A> =>
  items.filter((item) => !taken.includes(item))

const factsOf = (draw: Draw.Draw, wanted: Wanted): Describe.Facts => {
  const pool = others(Family.names, wanted.missing === undefined ? [] : [wanted.missing])
  for (let attempt = 0; attempt < 50; attempt++) {
    const facts = drawFacts(draw, pool, wanted)
    if (facts.good.length > 1 && isHeldOutSet(facts.good) !== (wanted.heldOutSkills ?? false)) continue
    if (wanted.heldOutSkills === true && facts.good.length === 1) continue
    return facts
  }
  return { ...noFacts, good: [draw.pick(pool)] }
}

/** The skills of a worker, from the facts in its description. */
const skillsOf = (
  { checks, good, isCareless, isExact, isGeneral, weak }: Describe.Facts,
  missing: Family.FamilyName | undefined
): GymWorker.Profile["skills"] => {
  const skill = (share: number): GymWorker.Skill => ({ slips: share })
  const found: { [Name in Family.FamilyName]?: GymWorker.Skill } = {}
  if (isGeneral) for (const name of Family.names) found[name] = skill(slips.middling)
  for (const name of weak) found[name] = skill(slips.weak)
  for (const name of good) found[name] = skill(isCareless ? slips.careless : isExact ? slips.exact : slips.good)
  for (const name of checks) found[name] = skill(0)
  if (missing !== undefined) delete found[missing]
  return found
}

/** A price between the lowest and a hundred times as much. */
const priceAt = (tenfolds: number): number => Number((0.2 * 10 ** Math.min(2, Math.max(0, tenfolds))).toFixed(2))

const priceOf = (draw: Draw.Draw): number => priceAt(draw.int(0, 200) / 100)

/** A price that rises with skills and falls with carelessness, with a random factor of up to two. */
const priceBySkill = (draw: Draw.Draw, { good, isCareless, isGeneral, weak }: Describe.Facts): number =>
  priceAt(
    0.3 +
      0.25 * good.length +
      (isGeneral && good.length > 0 ? 0.5 : 0) -
      0.1 * weak.length -
      (isCareless ? 0.3 : 0) +
      draw.int(-30, 30) / 100
  )

const profileOf = (
  draw: Draw.Draw,
  id: string,
  facts: Describe.Facts,
  output: number,
  missing: Family.FamilyName | undefined
): GymWorker.Profile => ({
  id,
  description: "",
  pricing: { inputPerMillion: output / 4, outputPerMillion: output, isPlay: true },
  skills: skillsOf(facts, missing),
  checksOnly: facts.checks.length > 0 && facts.good.length === 0,
  generalist: facts.isGeneral,
  thorough: draw.chance(0.2)
})

// -------------------------------------------------------------------------------------------------------------------
// Records
// -------------------------------------------------------------------------------------------------------------------

/** The right answers of a worker to questions of a kind, and the number of questions. */
export interface Tally {
  readonly right: number
  readonly asked: number
}

/** Random past answers of a worker to questions of all kinds. */
export const past = (
  draw: Draw.Draw,
  profile: GymWorker.Profile,
  count: number
): ReadonlyMap<Family.FamilyName, Tally> => {
  const tried = new Map<Family.FamilyName, Tally>()
  for (let index = 0; index < count; index++) {
    const name = draw.pick(Family.names)
    const { asked, right } = tried.get(name) ?? { right: 0, asked: 0 }
    tried.set(name, { right: right + (draw.chance(expected(profile, name)) ? 1 : 0), asked: asked + 1 })
  }
  return tried
}

/** The record of a worker: `dates 3/4 high`. A worker that only checks has no answers. */
const recordOf = (draw: Draw.Draw, profile: GymWorker.Profile, count: number): ReadonlyArray<Describe.Piece> => {
  if (profile.checksOnly === true) return []
  const pieces = [...past(draw, profile, count)].flatMap(([name, { asked, right }], index) => {
    const share = right / asked
    const mark: Describe.Mark | undefined = share >= 0.7 ? "good" : share <= 0.4 ? "weak" : undefined
    const level = mark === "good" ? "high" : mark === "weak" ? "low" : "middling"
    return [
      { text: index === 0 ? "" : ", " },
      { text: recordName[name], kinds: [name], mark },
      { text: ` ${right}/${asked} ${level}` }
    ]
  })
  return [{ text: "\nRecord: " }, ...pieces, { text: "." }]
}

// -------------------------------------------------------------------------------------------------------------------
// Teams
// -------------------------------------------------------------------------------------------------------------------

const id = (draw: Draw.Draw, index: number): string =>
  `${draw.pick(["worker", "model", "agent", "unit", "node"])}-${draw.int(100, 999)}-${index}`

/** A doubtful description: empty, vague, or with the facts of a random worker. */
const doubtful = (draw: Draw.Draw, style: Describe.Style, wanted: Wanted): ReadonlyArray<Describe.Piece> => {
  const kind = draw.int(0, 2)
  if (kind === 0) return []
  if (kind === 1) return Describe.describeVaguely(draw, style)
  // What it says is no label for a reader: it would be right to say of these words what they say.
  return Describe.describe(draw, factsOf(draw, { ...wanted, missing: undefined }), style)
}

/** A member with a hand-written description. */
const byHand = (draw: Draw.Draw, index: number, wanted: Wanted): Described => {
  const fits = HandWritten.descriptions.filter(
    ({ good, isGeneral }) => wanted.missing === undefined || (!isGeneral && !good.includes(wanted.missing))
  )
  const { text, ...full } = draw.pick(fits)
  const output = full.price === "dear" ? 15 : full.price === "cheap" ? 0.4 : priceOf(draw)
  return { profile: profileOf(draw, id(draw, index), full, output, wanted.missing), pieces: [{ text }] }
}

const one = (draw: Draw.Draw, index: number, wanted: Wanted): Described => {
  const style = { words: wanted.words ?? "known", isHeldOut: wanted.heldOutShapes ?? false }
  if (wanted.handWritten === true) return byHand(draw, index, wanted)
  const isBySkill = wanted.prices === "by skill"
  const byLot = isBySkill ? undefined : priceOf(draw)
  const found = factsOf(draw, wanted)
  const output = byLot ?? priceBySkill(draw, found)
  const price = output < 0.6 ? "cheap" : output > 8 ? "dear" : undefined
  const facts: Describe.Facts = { ...found, price }
  const profile = profileOf(draw, id(draw, index), facts, output, wanted.missing)
  const isDoubtful = wanted.truth === "doubtful" && draw.chance(0.5)
  const told = isDoubtful ? doubtful(draw, style, wanted) : Describe.describe(draw, facts, style)
  const record = wanted.record === undefined ? [] : recordOf(draw, profile, wanted.record)
  return { profile, pieces: [...told, ...record] }
}

/** Whether any member does a kind well enough. */
const covers = (members: ReadonlyArray<Described>, kind: Family.FamilyName): boolean =>
  members.some(({ profile }) => expected(profile, kind) > 0.7)

/**
 * Draws the workers of a team. Unless a kind must be missing, the team usually has a worker for each kind of the
 * question, if its size allows.
 */
export const draw = (from: Draw.Draw, wanted: Wanted): ReadonlyArray<Described> => {
  let members = Array.from({ length: wanted.count }, (_, index) => one(from, index, wanted))
  const needed = wanted.kinds.filter((kind) => kind !== wanted.missing)
  for (let attempt = 0; attempt < 40; attempt++) {
    const open = needed.filter((kind) => !covers(members, kind))
    if (open.length === 0 || open.length > wanted.count) break
    const at = from.int(0, wanted.count - 1)
    members = members.with(at, one(from, at, wanted))
  }
  return members
}
