/** The default policy for pools with several workers. */

import { Embedder, Strongest, Options as Tables } from "@divisi/core"
import * as Policy from "@divisi/core/Policy"
import * as Effect from "effect/Effect"
import * as Learned from "./Learned.ts"
import * as Router from "./Router.ts"
import * as Table from "./Table.ts"

/** Options for {@link routed}. */
export interface Options extends Pick<Router.Options, "name" | "dial" | "embedder" | "explore"> {
  /** The file in which `divisi learn` stores learned tables. Default: `Learned.defaultFile`. */
  readonly file?: string | undefined
}

/**
 * Returns the active table, or a note that explains why it cannot be used. Returns neither if nothing has been learned.
 */
const inForce = (file: string | undefined): Effect.Effect<{ readonly table?: Table.Table; readonly note?: string }> =>
  Effect.flatMap(file === undefined ? Learned.defaultFile : Effect.succeed(file), (place) =>
    Effect.match(Learned.read(place), {
      onSuccess: (learned) => {
        const table = Learned.current(learned)?.table
        return table === undefined ? {} : { table }
      },
      onFailure: ({ message }) => ({ note: `The learned table is not used: ${message}` })
    })
  )

const table = {
  file: Tables.name,
  name: Tables.name,
  dial: Tables.oneOf("best", "within-2", "half"),
  embedder: Tables.madeBy("an embedder", "embed"),
  explore: Tables.number(0, 1)
} satisfies Tables.ShapeOf<Options>

/**
 * Creates the policy `router` of `divisi run`, which calls one worker per question. After `divisi learn`, it is the
 * default. It uses the learned table if that table covers at least two workers of the pool. Otherwise it calls the
 * strongest worker according to published benchmark results and prices.
 *
 * **Details**
 *
 * The learned table is read on the first question and cached for the lifetime of the policy. An unusable file adds a
 * note and does not fail the run. Teams in the table (policies whose outcomes were recorded as `policy:<name>`) are not
 * called; use `Router.make` to route to them.
 *
 * **Example**
 *
 * ```ts
 * import { conduct, worker } from "@divisi/core/promise"
 * import { routed } from "@divisi/policy-router"
 *
 * const priced = (id: string, outputPerMillion: number) =>
 *   worker({ id, answer: () => `I am ${id}.`, pricing: { inputPerMillion: 1, outputPerMillion } })
 * const pool = [priced("small", 1), priced("large", 10)]
 * const { answer } = await conduct({ question: "Why is the sky blue?", pool, policy: routed() })
 * answer // => "I am large."
 * ```
 */
export const routed = (options: Options = {}): Policy.Policy => {
  Tables.check("routed", options, table)
  const { dial, embedder = Embedder.hashed(), explore, file, name = "router" } = options
  const prior = Strongest.make({ dial, name })
  let known: ReturnType<typeof inForce> | undefined
  let router: Policy.Policy | undefined
  return {
    name,
    maxSteps: prior.maxSteps,
    recursion: prior.recursion,
    propose: Effect.fnUntraced(function* (context: Policy.Context) {
      known ??= yield* Effect.cached(inForce(file))
      const { note, table } = yield* known
      if (table === undefined || table.embedder !== embedder.name || !Table.covers(table, context.pool)) {
        const proposal = yield* Policy.propose(prior, context)
        const notes = [...(note === undefined ? [] : [note]), ...(proposal.notes ?? [])]
        return { author: prior, ...proposal, notes }
      }
      router ??= Router.make(table, { dial, embedder, explore, name })
      return { author: router, ...(yield* Policy.propose(router, context)) }
    })
  }
}
