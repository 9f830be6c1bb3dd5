/**
 * A router: a policy that calls one worker per question, chosen from a table of the workers' strengths by kind of
 * question.
 *
 * The policy calls the best overall worker, unless the question resembles graded questions of a kind on which another
 * worker is reliably better. The run's notes name the assumed kind and the reason for the choice.
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

/** Options for {@link make}. */
export interface Options {
  readonly name?: string | undefined
  /** The tradeoff between quality and cost. Default: `"best"`. */
  readonly dial?: Dial | undefined
  /** The embedder to use. Must be the one that the table was trained with. Default: `Embedder.hashed()`. */
  readonly embedder?: Embedder.Embedder | undefined
  /**
   * Share of questions, from 0 to 1, that are routed to another worker to collect new data. Such a worker has equal or
   * unknown quality and costs no more. Default: 0. The transcript records the probability of each choice.
   */
  readonly explore?: number | undefined
  /** Policies for the teams in the table, keyed by id (`policy:<name>`). Teams without an entry are not used. */
  readonly teams?: ReadonlyMap<string, Policy.Policy> | undefined
}

/** A routing decision and the reason for it. */
export interface Decision {
  readonly worker: string
  /** The kind whose center is nearest to the question. Undefined if the table has no kinds. */
  readonly kind?: string | undefined
  /** Cosine similarity between the question and that center, from -1 to 1. */
  readonly likeness: number
  /** Whether the similarity is high enough to treat the question as one of that kind. */
  readonly isNear: boolean
  /** Ids of workers with similar or better results on this kind, at no higher cost. Candidates for exploration. */
  readonly alike: ReadonlyArray<string>
  /** A human-readable reason. */
  readonly why: string
}

/** Chooses a worker for a question, given its embedding. */
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

/** Maximum expected loss in score for a worker that is explored instead of the chosen one. */
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

/**
 * Creates a decision function from a table. Chooses only from the workers in `among`. Default: all workers in the
 * table.
 */
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
  // The overall choice: the first of these that is available. The table lists workers best first.
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
    const said = `similar to ${kind.name} (${likeness.toFixed(2)})`
    const choice = kind.choices[dial]
    if (!isNear) {
      const why = `It is ${said}, below the minimum of ${least.toFixed(2)}, so the kind is unknown and ${stand} is used.`
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

/** Returns workers that are not in the table and whose list price is at most that of the chosen worker. */
const strangers = (table: Table, chosen: string, workers: ReadonlyArray<Worker>): ReadonlyArray<string> => {
  const priceOf = (pricing: Worker["pricing"]) => pricing?.outputPerMillion ?? Number.NaN
  const most = priceOf(workers.find(({ id }) => id === chosen)?.pricing)
  return workers.flatMap(({ id, pricing }) => (!isKnown(table, id) && priceOf(pricing) <= most ? [id] : []))
}

/** Occasionally replaces the choice with another worker. The result is deterministic for a question and seed. */
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
  teams: Tables.expects("a Map of policies, keyed by name", (value) => value instanceof Map)
} satisfies Tables.ShapeOf<Options>

/**
 * Creates a policy that calls the worker chosen by a table.
 *
 * **Details**
 *
 * The question is sent to the worker unchanged. Only workers whose ids are in the table are chosen; other workers of
 * the pool are called only for exploration. If the table contains no worker of the pool, the policy fails with a
 * `PolicyError`, so that a fallback policy can plan. If the table chooses a team, the policy of the team plans the run.
 * In a recursive round, the previous answer is accepted. If it is missing or a critic rejected it, the best remaining
 * worker is called.
 *
 * If the run has exactly one named check (`checks`), the worker's answer must pass it. If the check fails, the best
 * remaining worker is called, up to the limit of `revisions`. If no worker remains, the answer of the first choice is
 * used.
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
  /** Returns the eligible workers that are in the table, and the embedding of the question. */
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
