/**
 * The router: a policy that calls one worker, chosen by the kind of question from a table of the workers' strengths.
 *
 * The policy calls the best overall worker, unless the question is similar to graded questions of a kind for which
 * another worker is reliably better. Its notes give the assumed kind and the reason for its choice.
 */

import { Embedder, OneWorker, Seed, Options as Tables } from "@divisi/core"
import * as Policy from "@divisi/core/Policy"
import * as Task from "@divisi/core/Task"
import type { Worker } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Space from "./space.ts"
import { type Dial, isWorker, type Kind, type Standing, type Table } from "./Table.ts"
import { argmax, dot, pointOf } from "./vectors.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Options of a router. */
export interface Options {
  readonly name?: string | undefined
  /** The tradeoff between quality and cost. Default: `"best"`. */
  readonly dial?: Dial | undefined
  /** The embedder that the table was learned with. Default: `Embedder.hashed()`. */
  readonly embedder?: Embedder.Embedder | undefined
  /**
   * The share of questions that are sent to another worker of equal or unknown quality and at most the same price, so
   * that new data about it is collected. Default: 0. The probability of each choice is in the transcript.
   */
  readonly explore?: number | undefined
  /** The policies of teams, by their ids in the table (`policy:<name>`). Other teams are not used. */
  readonly teams?: ReadonlyMap<string, Policy.Policy> | undefined
}

/** The chosen worker, with the reason. */
export interface Decision {
  readonly worker: string
  /** The kind with the nearest center; absent if the table has no kinds. */
  readonly kind?: string | undefined
  /** The question's similarity to that center, from -1 to 1. */
  readonly likeness: number
  /** Whether the similarity is high enough to count as a question of that kind. */
  readonly isNear: boolean
  /** Other workers that were nearly as good or better for this kind, at no higher cost. */
  readonly alike: ReadonlyArray<string>
  /** The reason, as a sentence for display. */
  readonly why: string
}

/** Chooses a worker for a question by its embedding. */
export type Decide = (point: Float32Array) => Decision

// -------------------------------------------------------------------------------------------------------------------
// Deciding
// -------------------------------------------------------------------------------------------------------------------

const points = (advantage: number): string => `${advantage < 0 ? "" : "+"}${(100 * advantage).toFixed(1)}`

const reasonOf = (kind: Kind, standing: Standing | undefined, best: string): string => {
  if (standing === undefined || standing.worker === best)
    return `no worker is significantly better than ${best} at this kind`
  const { advantage, questions, standardError, worker } = standing
  if (advantage === null) return `${worker} is the choice for this kind`
  const error = standardError === null ? "" : ` ± ${(100 * standardError).toFixed(1)}`
  return `at this kind, ${worker} scores ${points(advantage)}${error} points relative to ${best}, on ${questions} of ${kind.questions} questions`
}

/** The maximum amount by which a worker that is tried instead of another may be worse. */
const tolerance = 0.02

const alikeAt = ({ workers }: Pick<Kind, "workers">, choice: string, isThere: (worker: string) => boolean) => {
  const chosen = workers.find(({ worker }) => worker === choice)
  const [cost, expected] = [chosen?.costUsd ?? Number.NaN, chosen?.expected ?? Number.NaN]
  const isAlike = (one: Standing) =>
    one.worker !== choice && isWorker(one.worker) && isThere(one.worker) && one.questions > 0
      ? (one.expected ?? Number.NaN) >= expected - tolerance && (one.costUsd ?? Number.NaN) <= cost
      : false
  return workers.filter(isAlike).map(({ worker }) => worker)
}

/** Makes a decision function from a table. Only workers in `among` are chosen. Default: all workers of the table. */
export const decider = (
  table: Table,
  {
    among,
    dial = "best"
  }: { readonly among?: ReadonlyArray<string> | undefined; readonly dial?: Dial | undefined } = {}
): Decide => {
  const space: Space.Space = { mean: pointOf(table.space.mean), scale: pointOf(table.space.scale) }
  const centres = table.kinds.map(({ centre }) => pointOf(centre))
  const isThere = (worker: string) => among === undefined || among.includes(worker)
  // The table's workers are in order, the best first.
  const stand = [table.choices[dial], table.best, ...table.workers.map(({ worker }) => worker)].find(
    (worker) => isWorker(worker) && isThere(worker)
  )
  if (stand === undefined) throw new RangeError("No worker in the table is available.")
  return (point) => {
    const place = Space.place(space, point)
    const likenesses = centres.map((centre) => dot(place, centre))
    const at = argmax(likenesses)
    if (at < 0) return { worker: stand, likeness: 0, isNear: false, alike: [], why: `${stand} is the best so far.` }
    const [kind, likeness] = [table.kinds[at]!, likenesses[at]!]
    const least = kind.leastLikeness[dial]
    const isNear = likeness >= least
    const said = `${likeness.toFixed(2)} like ${kind.name}`
    const choice = kind.choices[dial]
    if (!isNear) {
      const why = `It is at most ${said}, but ${least.toFixed(2)} is needed, so the kind is unknown and ${stand} is used.`
      return { worker: stand, kind: kind.name, likeness, isNear, alike: [], why }
    }
    if (!isThere(choice)) {
      const why = `It is ${said}; ${choice} is not in the pool.`
      return { worker: stand, kind: kind.name, likeness, isNear, alike: [], why }
    }
    const standing = kind.workers.find(({ worker }) => worker === choice)
    return {
      worker: choice,
      kind: kind.name,
      likeness,
      isNear,
      alike: alikeAt(kind, choice, isThere),
      why: `It is ${said}: ${reasonOf(kind, standing, table.best)}.`
    }
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Policy
// -------------------------------------------------------------------------------------------------------------------

const isKnown = (table: Table, worker: string): boolean => table.workers.some((one) => one.worker === worker)

/** Workers that nothing is known of, at no higher list price than the one that was chosen. */
const strangers = (table: Table, chosen: string, workers: ReadonlyArray<Worker>): ReadonlyArray<string> => {
  const priceOf = (pricing: Worker["pricing"]) => pricing?.outputPerMillion ?? Number.NaN
  const most = priceOf(workers.find(({ id }) => id === chosen)?.pricing)
  return workers.flatMap(({ id, pricing }) => (!isKnown(table, id) && priceOf(pricing) <= most ? [id] : []))
}

/** Now and then another worker, the same one for the same question and seed. */
const explored = (share: number, { worker, why }: Decision, others: ReadonlyArray<string>, seed: number) => {
  if (others.length === 0) return { worker, why, probability: 1 }
  const draw = Seed.draw(seed)
  if (!Seed.chance(draw, share)) return { worker, why, probability: 1 - share }
  const tried = Seed.pick(draw, others)
  return { worker: tried, why: `${why} To learn about it, ${tried} is tried.`, probability: share / others.length }
}

const optionsTable = {
  name: Tables.name,
  dial: Tables.oneOf("best", "within-2", "half"),
  embedder: Tables.madeBy("an embedder", "embed"),
  explore: Tables.number(0, 1),
  teams: Tables.expects("a Map of policies by their names", (value) => value instanceof Map)
} satisfies Tables.ShapeOf<Options>

/**
 * Makes a policy that calls the worker that a table chooses.
 *
 * **Details**
 *
 * The policy sends the worker the question unchanged. It knows the workers of a pool whose ids are in the table; the
 * others are called only for exploration. If it knows no worker of the pool, it fails with a `PolicyError`, so that a
 * fallback can plan. If a team is chosen, the team's policy plans. In a recursive round, the previous answer is
 * accepted. If it is missing, or a critic rejected it, the best remaining worker is called.
 *
 * If the run has exactly one named check (`checks`), a worker's answer must pass it. If it fails, the best of the other
 * workers is called, as long as `revisions` allows. If no worker remains, the first choice's answer is used.
 */
export const make = (table: Table, options: Options = {}): Policy.Policy => {
  Tables.check("Router.make", options, optionsTable)
  const {
    dial,
    embedder = Embedder.hashed(),
    explore = 0,
    name = "router",
    teams = new Map<string, Policy.Policy>()
  } = options
  const deciders = new Map<string, Decide>()
  const deciderOf = (among: ReadonlyArray<string>): Decide => {
    const key = JSON.stringify(among)
    const known = deciders.get(key) ?? decider(table, { among, dial })
    deciders.set(key, known)
    return known
  }
  const fail = (detail: string) => Effect.fail(new Policy.PolicyError({ policy: name, detail }))
  const most = (values: ReadonlyArray<number | undefined>) =>
    Math.max(0, ...values.map((value = 0) => value)) || undefined
  const planners = [...teams.values()]
  /** The workers that may be asked, of whom the table knows, and where the question lies. */
  const look = Effect.fnUntraced(function* (context: Policy.Context) {
    if (table.embedder !== embedder.name) {
      return yield* fail(`its table was trained with the embedder ${table.embedder}, not ${embedder.name}.`)
    }
    const can = OneWorker.able(context).map((ordinal) => context.pool.workers[ordinal]!)
    const known = can.flatMap(({ id }) => (isKnown(table, id) ? [id] : []))
    if (known.length === 0)
      return yield* fail(
        `its table contains no worker in this pool. It contains ${table.workers.map(({ worker }) => worker).join(", ")}.`
      )
    const [point] = yield* Effect.mapError(
      Embedder.ask(embedder, [Task.question(context.task)]),
      ({ message: detail }) => new Policy.PolicyError({ policy: name, detail })
    )
    return { can, known, point: point! }
  })
  const notAsked = ({ pool }: Policy.Context, known: ReadonlyArray<string>, previous: Policy.Previous) => {
    const were = OneWorker.asked(previous).map((ordinal) => pool.workers[ordinal]?.id)
    return known.filter((id) => !were.includes(id))
  }
  const propose = Effect.fnUntraced(function* (context: Policy.Context) {
    const { pool, previous, seed, task } = context
    const isDone = Policy.canStand(previous) && previous?.feedback === undefined
    if (isDone && teams.size === 0) return { workflow: { steps: [] } }
    const { can, known, point } = yield* look(context)
    const decision = deciderOf([...known, ...teams.keys()])(point)
    const team = teams.get(decision.worker)
    if (team !== undefined) {
      const proposal = yield* Policy.propose(team, context)
      return { policy: team.name, author: team, ...proposal, notes: [decision.why, ...(proposal.notes ?? [])] }
    }
    if (isDone) return { workflow: { steps: [] } }
    const ask = (worker: string) =>
      OneWorker.asking(
        context,
        pool.workers.findIndex(({ id }) => id === worker)
      )
    if (previous === undefined) {
      if (explore === 0) return { workflow: ask(decision.worker), notes: [decision.why] }
      const others = [...decision.alike, ...strangers(table, decision.worker, can)]
      const chosen = explored(explore, decision, others, Seed.derive(seed, "explore", task.id))
      return { workflow: ask(chosen.worker), notes: [chosen.why], probability: chosen.probability }
    }
    const left = notAsked(context, known, previous)
    const { why, worker } = deciderOf(left.length === 0 ? known : left)(point)
    return { workflow: ask(worker), notes: [why] }
  })
  return {
    name,
    maxSteps: most(planners.map(({ maxSteps }) => maxSteps)),
    recursion: most(planners.map(({ recursion }) => recursion)),
    propose,
    revise: Effect.fnUntraced(function* (context) {
      const { pool, previous } = context
      const { known, point } = yield* look(context)
      if (notAsked(context, known, previous).length > 0) return Policy.revisionOf(yield* propose(context))
      const { worker } = deciderOf(known)(point)
      return OneWorker.standing(
        previous,
        pool.workers.findIndex(({ id }) => id === worker)
      )
    })
  }
}
