/**
 * The router: a policy that asks one worker, chosen by the kind of the question from a table of who is good at what.
 *
 * It asks the best worker of all unless the question is near graded ones of a kind where another is surely better. Its
 * notes say what it took the question for, and why it asks whom it asks.
 */
import * as Embedder from "@divisi/core/Embedder"
import * as Policy from "@divisi/core/Policy"
import * as Task from "@divisi/core/Task"
import * as Effect from "effect/Effect"
import { able } from "./able.ts"
import * as Space from "./space.ts"
import type { Dial, Kind, Standing, Table } from "./Table.ts"
import { argmax, dot, pointOf } from "./vectors.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** How a router chooses. */
export interface Options {
  readonly name?: string | undefined
  /** What is wanted for the money; `"best"` by default. */
  readonly dial?: Dial | undefined
  /** The embedder that the table was learned with; `Embedder.hashed()` by default. */
  readonly embedder?: Embedder.Embedder | undefined
}

/** Who is asked, and why. */
export interface Decision {
  readonly worker: string
  /** The kind whose centre is nearest; absent where the table has none. */
  readonly kind?: string | undefined
  /** How like it the question is, from -1 to 1. */
  readonly likeness: number
  /** Whether it is like enough for the kind to be believed. */
  readonly isNear: boolean
  /** A sentence for people. */
  readonly why: string
}

/** Decides where a question goes, by its point. */
export type Decide = (point: Float32Array) => Decision

// -------------------------------------------------------------------------------------------------------------------
// Deciding
// -------------------------------------------------------------------------------------------------------------------

const points = (advantage: number): string => `${advantage < 0 ? "" : "+"}${(100 * advantage).toFixed(1)}`

const reasonOf = (kind: Kind, standing: Standing | undefined, best: string): string => {
  if (standing === undefined || standing.worker === best) return `nobody there is surely better than ${best}`
  const { advantage, questions, standardError, worker } = standing
  if (advantage === null) return `${worker} is the choice there`
  const error = standardError === null ? "" : ` ± ${(100 * standardError).toFixed(1)}`
  return `there ${worker} is ${points(advantage)}${error} points to ${best}, on ${questions} of ${kind.questions} questions`
}

/** Decides by a table. Workers that are not in `among` are never chosen; without it all of the table's may be. */
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
  // The table's workers stand in order, the best first.
  const stand = [table.choices[dial], table.best, ...table.workers.map(({ worker }) => worker)].find(isThere)
  if (stand === undefined) throw new RangeError("No worker of the table may be asked.")
  return (point) => {
    const place = Space.place(space, point)
    const likenesses = centres.map((centre) => dot(place, centre))
    const at = argmax(likenesses)
    if (at < 0) return { worker: stand, likeness: 0, isNear: false, why: `${stand} is the best so far.` }
    const [kind, likeness] = [table.kinds[at]!, likenesses[at]!]
    const least = kind.leastLikeness[dial]
    const isNear = likeness >= least
    const said = `${likeness.toFixed(2)} like ${kind.name}`
    const choice = kind.choices[dial]
    if (!isNear) {
      const why = `It is ${said} at most, where ${least.toFixed(2)} is needed: too new, so ${stand} is asked.`
      return { worker: stand, kind: kind.name, likeness, isNear, why }
    }
    if (!isThere(choice)) {
      return { worker: stand, kind: kind.name, likeness, isNear, why: `It is ${said}; ${choice} is not in the pool.` }
    }
    const standing = kind.workers.find(({ worker }) => worker === choice)
    return {
      worker: choice,
      kind: kind.name,
      likeness,
      isNear,
      why: `It is ${said}: ${reasonOf(kind, standing, table.best)}.`
    }
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Policy
// -------------------------------------------------------------------------------------------------------------------

const isKnown = (table: Table, worker: string): boolean => table.workers.some((one) => one.worker === worker)

/**
 * A policy that asks the worker that a table chooses.
 *
 * **Details**
 *
 * It asks nothing but the question. Of a pool it knows the workers that bear the ids of the table's; the others it never
 * asks, and where it knows none it is a `PolicyError`, so that a fallback plans. In a recursive round the previous answer
 * stands; where there is none, or a critic has objected, the best of the workers that have not failed is asked.
 */
export const make = (table: Table, options: Options = {}): Policy.Policy => {
  const { dial, embedder = Embedder.hashed(), name = "router" } = options
  const deciders = new Map<string, Decide>()
  const deciderOf = (among: ReadonlyArray<string>): Decide => {
    const key = JSON.stringify(among)
    const known = deciders.get(key) ?? decider(table, { among, dial })
    deciders.set(key, known)
    return known
  }
  const fail = (detail: string) => Effect.fail(new Policy.PolicyError({ policy: name, detail }))
  return {
    name,
    propose: Effect.fnUntraced(function* (context: Policy.Context) {
      const { pool, previous, task } = context
      if (Policy.canStand(previous) && previous?.feedback === undefined) return { workflow: { steps: [] } }
      if (table.embedder !== embedder.name) {
        return yield* fail(`its table was learned with the embedder ${table.embedder}, not ${embedder.name}.`)
      }
      const ids = pool.workers.map(({ id }) => id)
      const can = able(context).map((ordinal) => ids[ordinal]!)
      const known = can.filter((id) => isKnown(table, id))
      if (known.length === 0)
        return yield* fail(
          `its table knows nobody of this pool. It knows ${table.workers.map(({ worker }) => worker).join(", ")}.`
        )
      const asked = previous?.workflow.steps.map(({ worker }) => ids[worker]!) ?? []
      const failed = previous?.failed.map((ordinal) => ids[ordinal]!) ?? []
      const left = known.filter((id) => !asked.includes(id) && !failed.includes(id))
      const [point] = yield* Effect.mapError(
        embedder.embed([Task.question(task)]),
        ({ message: detail }) => new Policy.PolicyError({ policy: name, detail })
      )
      const { why, worker } = deciderOf(left.length === 0 ? known : left)(point!)
      return { workflow: { steps: [{ worker: ids.indexOf(worker), subtask: "", access: [] }] }, notes: [why] }
    })
  }
}
