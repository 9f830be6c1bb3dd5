/**
 * The planned calls, in the order in which they are recorded.
 *
 * Recording takes days of processor time. Each part of the plan therefore covers questions of all kinds in turn, so
 * that the records are a balanced sample at any time.
 */

import * as Combined from "./Combined.ts"
import * as Options from "./Options.ts"
import * as Passages from "./Passages.ts"
import { samples } from "./Policies.ts"
import * as Questions from "./Questions.ts"
import type { Recorded } from "./Records.ts"
import { type ModelId, models, type Way, ways } from "./Ways.ts"

type Question = Questions.Question

/** A call to record. */
export interface Call extends Pick<Recorded, "model" | "way" | "sample"> {
  readonly question: Question
}

/** Calls that run at the same time. */
export type Group = ReadonlyArray<Call>

const largest = models[2].id

/** The questions of these kinds from one position to another, in turns. */
const inTurns = (kinds: ReadonlyArray<Questions.Kind>, from: number, to: number): ReadonlyArray<Question> => {
  const byKind = kinds.map((kind) =>
    Questions.read()
      .filter((one) => one.kind === kind)
      .slice(from, to)
  )
  return Array.from({ length: to - from }, (_, at) => byKind.flatMap((some) => some[at] ?? [])).flat()
}

/** All models in all ways. */
const greedy = (question: Question): ReadonlyArray<Group> =>
  ways.flatMap((way) => models.map(({ id: model }): Group => [{ question, model, way, sample: 0 }]))

const sampled = (question: Question, way: Way, model: ModelId = largest): Group =>
  Array.from({ length: samples }, (_, at) => ({ question, model, way, sample: at + 1 }))

const combined = (question: Question, some: ReadonlyArray<Combined.CombinedWay>): ReadonlyArray<Group> =>
  some.map((way): Group => [{ question, model: Combined.model, way, sample: 0 }])

/**
 * Short answers: direct ones of all models, the votes of the largest one, and the calls of the policy that is compared
 * with them. A prompt is evaluated once for all calls of a model.
 */
const short = (question: Question): ReadonlyArray<Group> => [
  [{ question, model: largest, way: "direct", sample: 0 }],
  sampled(question, "direct"),
  ...combined(question, Passages.isAbout(question) ? ["read"] : Combined.orders),
  [{ question, model: models[1].id, way: "direct", sample: 0 }],
  [{ question, model: models[0].id, way: "direct", sample: 0 }]
]

const { seen, unseen } = Questions

/** Programs of the largest and the smallest model: most of what the learned choosers choose for unseen questions. */
const programs = (question: Question): ReadonlyArray<Group> =>
  [models[2], models[0]].map(({ id: model }): Group => [{ question, model, way: "program", sample: 0 }])

/** Samples of the two best ways of the largest model on the seen kinds; functions are written in one way. */
const votes = (question: Question): ReadonlyArray<Group> =>
  question.kind === "programs"
    ? [sampled(question, "direct"), sampled(question, "steps")]
    : [sampled(question, "program"), sampled(question, "steps")]

const everything = (question: Question): ReadonlyArray<Group> => [
  ...greedy(question),
  ...combined(
    question,
    Options.isLettered(question) ? Combined.combinedWays : ["combine", "choose", "choose-or-answer"]
  )
]

let groups: ReadonlyArray<Group> | undefined

/** All groups in their order; a call that is planned twice is in the first of its groups. */
export const all = (): ReadonlyArray<Group> => {
  groups ??= unique([
    ...inTurns(seen, 0, 5).flatMap(greedy),
    ...inTurns(unseen, 0, 40).flatMap(short),
    ...inTurns(seen, 0, 10).flatMap(greedy),
    ...inTurns(unseen, 0, 10).flatMap(programs),
    ...inTurns(unseen, 40, 100).flatMap(short),
    ...inTurns(seen, 0, 10).flatMap(votes),
    ...inTurns([...seen, ...unseen], 0, 100).flatMap(greedy),
    ...inTurns(unseen, 0, 40).flatMap((question) => [...greedy(question), sampled(question, "steps")]),
    ...inTurns(seen, 0, 10).flatMap(everything),
    ...inTurns(seen, 10, 50).flatMap((question) => [...everything(question), ...votes(question)]),
    ...inTurns(unseen, 0, 100).flatMap((question) => [...everything(question), sampled(question, "steps")])
  ])
  return groups
}

/** Identifies a call in a set. */
export const keyOf = ({ model, question, sample, way }: Call): string =>
  JSON.stringify([question.id, model, way, sample])

const unique = (all: ReadonlyArray<Group>): ReadonlyArray<Group> => {
  const before = new Set<string>()
  return all
    .map((group) => group.filter((call) => !before.has(keyOf(call)) && before.add(keyOf(call))))
    .filter(({ length }) => length > 0)
}
