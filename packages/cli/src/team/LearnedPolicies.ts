/** Policies that were learned from the user's outcomes. Loaded only if one is used, or might be the default. */
import { Embedder, Outcome, Strongest } from "@divisi/core"
import type { Policy } from "@divisi/core/Policy"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { Head, HeadPolicy, Learned, Router, Table } from "@divisi/policy-router"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import * as OwnOutcomes from "../stores/OwnOutcomes.ts"
import * as Embedders from "../vendors/Embedders.ts"

const tableInForce: Effect.Effect<Table.Table | undefined, Failure> = Effect.flatMap(Learned.defaultFile, (place) =>
  Effect.mapBoth(Learned.read(place), {
    onSuccess: (learned) => Learned.current(learned)?.table,
    onFailure: ({ message }) => failed(message)
  })
)

const isDial = (name: string): name is Table.Dial => (Table.dials as ReadonlyArray<string>).includes(name)

const dialOf = (name: string, dial: string): Effect.Effect<Table.Dial, Failure> =>
  isDial(dial)
    ? Effect.succeed(dial)
    : Effect.fail(usage(`Policy "${name}:${dial}": expected one of ${Table.dials.join(", ")} after the colon.`))

/**
 * Share of questions sent to a different worker that may be equally good, at no higher price, so that its score stays
 * current.
 */
const explored = 0.02

/** Creates a policy by name. */
type Resolve = (name: string) => Effect.Effect<Policy, Failure, Scope.Scope>

const isRouter = (name: string): boolean => /^(?:router|learned)\b/.test(name)

/** Returns the ids of the teams in a table, with their policy names. */
const teamsIn = ({ kinds }: Table.Table, dial: Table.Dial): ReadonlyArray<readonly [string, string]> =>
  [...new Set(kinds.map(({ choices }) => choices[dial]))]
    .filter((id) => !Table.isWorker(id))
    .map((id) => [id, id.slice(Outcome.teamPrefix.length).replace(/-(\d+)$/, ":$1")] as const)
    .filter(([, name]) => !isRouter(name))

/** Creates a router from a table. Teams that can no longer be created are left out. */
const routerBy = (table: Table.Table, name: string, dial: Table.Dial, resolve: Resolve) =>
  Effect.gen(function* () {
    const teams = yield* Effect.forEach(teamsIn(table, dial), ([id, name]) =>
      Effect.map(Effect.option(resolve(name)), (team) =>
        Option.match(team, { onNone: () => [], onSome: (policy) => [[id, policy] as const] })
      )
    )
    // Questions must be embedded with the table's embedder, even if a different one is configured for the log.
    const embedder = yield* OwnOutcomes.embedderOf(table.embedder)
    const own = { dial, embedder, name: named(name, dial), explore: explored, teams: new Map(teams.flat()) }
    return Router.make(table, own)
  })

const named = (name: string, dial: Table.Dial): string => (dial === "best" ? name : `${name}:${dial}`)

/** Fails if none of the workers that something was learned for is in the pool. `subject` begins the message. */
const someIn = (
  pool: WorkerPool.WorkerPool,
  workers: ReadonlyArray<string>,
  subject: string
): Effect.Effect<void, Failure> =>
  WorkerPool.ids(pool).some((id) => workers.includes(id))
    ? Effect.void
    : Effect.fail(usage(`${subject} ${workers.join(", ")}, none of which is in the pool.`))

/** Creates the policy `learned` or `learned:<dial>`. `resolve` creates the policies of teams. */
export const policy = (
  pool: WorkerPool.WorkerPool,
  resolve: Resolve,
  wanted = "best"
): Effect.Effect<Policy, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    const dial = yield* dialOf("learned", wanted)
    const table = yield* tableInForce
    if (table === undefined) {
      return yield* usage("There is no learned table yet. Rate runs with `divisi rate`, and then run `divisi learn`.")
    }
    const workers = table.workers.map(({ worker }) => worker)
    yield* someIn(pool, workers, "The learned table is for")
    return yield* routerBy(table, "learned", dial, resolve)
  })

/** Returns the active table if it covers at least two workers in the pool. An unusable file is reported and ignored. */
const tableFor = (pool: WorkerPool.WorkerPool): Effect.Effect<Table.Table | undefined> =>
  Effect.map(
    Effect.catch(tableInForce, ({ message }) =>
      Effect.sync(() => void process.stderr.write(`divisi: ${message}. The file was not changed.\n`))
    ),
    (table) => (table !== undefined && Table.covers(table, pool) ? table : undefined)
  )

/**
 * Creates the policy `router` or `router:<dial>`. It uses the learned table if the table covers at least two workers in
 * the pool, and public benchmark records and prices otherwise.
 */
export const router = (
  pool: WorkerPool.WorkerPool,
  resolve: Resolve,
  wanted = "best"
): Effect.Effect<Policy, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    const dial = yield* dialOf("router", wanted)
    const table = yield* tableFor(pool)
    return table === undefined
      ? Strongest.make({ dial, name: named("router", dial) })
      : yield* routerBy(table, "router", dial, resolve)
  })

/** Whether the learned table covers at least two workers in the pool. */
export const hasTableFor = (pool: WorkerPool.WorkerPool): Effect.Effect<boolean> =>
  Effect.map(tableFor(pool), (table) => table !== undefined)

/**
 * Creates the policy `head`, using the head trained by `divisi learn --head` or one in a file, and the embedder it was
 * trained with.
 */
export const head = (
  pool: WorkerPool.WorkerPool,
  named?: string | undefined
): Effect.Effect<Policy, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    const file = named ?? (yield* Head.defaultFile)
    const learned = yield* Effect.mapError(Head.read(file), ({ message }) => failed(message))
    if (learned === undefined) {
      return yield* usage(
        named === undefined
          ? "No classifier (head) has been trained yet. Rate runs with `divisi rate`, and then run `divisi learn --head`."
          : `Policy "head:${named}": the file does not exist. Create it with \`divisi pool train\`.`
      )
    }
    yield* someIn(pool, learned.workers, "The head was trained for")
    if (learned.embedder === Embedder.hashed().name) return HeadPolicy.make(learned)
    return HeadPolicy.make(learned, { embedder: yield* Embedders.named(learned.embedder, false) })
  })
