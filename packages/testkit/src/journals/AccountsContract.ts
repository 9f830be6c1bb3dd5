/**
 * The contract for persistent accounts, as one test suite for all implementations.
 *
 * A store is opened several times concurrently. Each opening represents a separate process that ends with its scope.
 */
import assert from "node:assert/strict"
import { type Account, Budget } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type { Runner } from "./JournalContract.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Opens a store as a process would. Closing the scope represents the end of the process. */
export type Open = Effect.Effect<Account.Accounts, Account.AccountsError, Scope.Scope>

/** A case in the contract. */
export interface Case {
  readonly id: string
  readonly name: string
  /** Fails or throws if the accounts violate the contract. `open` opens a store, which is initially empty. */
  readonly run: (open: Open) => Effect.Effect<void, unknown, Scope.Scope>
}

/** The implementation under test. */
export interface Options extends Runner {
  readonly name: string
  /** Returns a new store without accounts. */
  readonly fresh: () => Open
}

// -------------------------------------------------------------------------------------------------------------------
// Charges
// -------------------------------------------------------------------------------------------------------------------

const used = (costUsd: number) => ({ usage: { inputTokens: 1, outputTokens: 2 }, costUsd })

const amount = (costUsd: number) => ({ costUsd, tokens: 10 })

const openIn = (open: Open, options: Account.AccountOptions) =>
  Effect.flatMap(open, (accounts) => accounts.open(options))

/** Returns the spent and reserved amounts of an account, as seen by a new process. */
const standing = (open: Open, name: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const accounts = yield* open
      const found = (yield* accounts.list).find((account) => account.name === name)
      assert.ok(found !== undefined, `there is no account ${name}`)
      const { open: under, reservedCostUsd, total } = found
      return { calls: total.calls, costUsd: total.costUsd, open: under, reservedCostUsd }
    })
  )

/** Returns the reserved amounts of all accounts, as seen by a new process. */
const reserved = (open: Open) =>
  Effect.scoped(
    Effect.map(
      Effect.flatMap(open, ({ list }) => list),
      (all) => Object.fromEntries(all.map(({ name, reservedCostUsd }) => [name, reservedCostUsd]))
    )
  )

// -------------------------------------------------------------------------------------------------------------------
// Cases
// -------------------------------------------------------------------------------------------------------------------

const define = (id: string, name: string, run: Case["run"]): Case => ({ id, name, run })

/** All cases in the contract. */
export const cases: ReadonlyArray<Case> = [
  define(
    "charge/chain",
    "accounts are charged with those above them, keep the limits of each, and stand again",
    (open) =>
      Effect.gen(function* () {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const accounts = yield* open
            const all = yield* accounts.open({ name: "all", limits: { costUsd: 1 } })
            const team = yield* accounts.open({ name: "team", limits: { calls: 3 }, parent: all })
            const key = yield* accounts.open({ name: "key", parent: team })
            const run = Budget.make({ costUsd: 0.9 }, key)
            const first = yield* run.reserve(amount(0.5))
            assert.equal((yield* Effect.flip(run.reserve(amount(1)))).allowed, 0.9)
            yield* run.settle(first, used(0.25))
            yield* run.settle(yield* run.reserve(amount(0.25)), used(0.25))
            assert.deepEqual(run.spent(), { ...key.spent(), usage: { inputTokens: 2, outputTokens: 4 } })
            yield* key.charge(0.125)
            assert.equal(key.spent().costUsd, 0.625)
          })
        )
        const accounts = yield* open
        const all = yield* accounts.open({ name: "all" })
        const team = yield* accounts.open({ name: "team", parent: all })
        assert.equal((yield* all.standing).total.costUsd, 0.625)
        assert.deepEqual((yield* team.standing).limits, { calls: 3 })
        const refused = yield* Effect.flip(team.reserve(amount(0.5)))
        assert.deepEqual([refused.limit, refused.spent, refused.allowed], ["costUsd", 0.625, 1])
        yield* team.reserve(amount(0.1))
        assert.equal((yield* Effect.flip(team.reserve(amount(0)))).limit, "calls")
      })
  ),
  define("limits/last", "limits that are given hold for all processes, and those that are not given stay", (open) =>
    Effect.gen(function* () {
      const first = yield* openIn(open, { name: "a", limits: { calls: 1 } })
      const second = yield* openIn(open, { name: "a" })
      yield* second.reserve(amount(1))
      assert.equal((yield* Effect.flip(first.reserve(amount(1)))).limit, "calls")
      yield* openIn(open, { name: "a", limits: { calls: 2 } })
      yield* first.reserve(amount(1))
      assert.deepEqual((yield* second.standing).limits, { calls: 2 })
    })
  ),
  define("reserve/price", "a call of unknown price is refused where cost is limited, and counted elsewhere", (open) =>
    Effect.gen(function* () {
      const accounts = yield* open
      const limited = yield* accounts.open({ name: "limited", limits: { costUsd: 1 } })
      const free = yield* accounts.open({ name: "free" })
      const unknown = { costUsd: undefined, tokens: 10 }
      assert.equal((yield* Effect.flip(limited.reserve(unknown))).limit, "costUsd")
      yield* free.settle(yield* free.reserve(unknown), { ...used(0), costUsd: undefined })
      assert.deepEqual((yield* free.standing).total.unpricedCalls, 1)
    })
  ),
  define(
    "reserve/wait",
    "a call waits for one of another process to settle, and takes back one that is stopped",
    (open) =>
      Effect.gen(function* () {
        const one = yield* openIn(open, { name: "a", limits: { costUsd: 1 } })
        const other = yield* openIn(open, { name: "a" })
        const first = yield* one.reserve(amount(0.9))
        const stopped = yield* Effect.forkChild(other.reserve(amount(0.8)), { startImmediately: true })
        const waiting = yield* Effect.forkChild(other.reserve(amount(0.7)), { startImmediately: true })
        yield* Effect.sleep(60)
        yield* Fiber.interrupt(stopped)
        yield* one.settle(first, used(0.25))
        const second = yield* Fiber.join(waiting)
        assert.equal((yield* one.standing).reservedCostUsd, 0.7)
        yield* other.release(second)
        assert.deepEqual(yield* standing(open, "a"), { calls: 1, costUsd: 0.25, open: 0, reservedCostUsd: 0 })
      })
  ),
  define(
    "reserve/within",
    "a call within another draws on its reservation, on the accounts that they share, and gives back what it leaves",
    (open) =>
      Effect.gen(function* () {
        const accounts = yield* open
        const all = yield* accounts.open({ name: "all", limits: { costUsd: 1 } })
        const red = yield* accounts.open({ name: "red", parent: all })
        const blue = yield* accounts.open({ name: "blue", limits: { costUsd: 0.9 }, parent: all })
        const outer = yield* red.reserve(amount(0.75))
        const caller = { reservations: [outer], above: undefined }
        const inner = yield* blue.reserve(amount(0.875), "r/0/0/0/0", "resumed", caller)
        assert.deepEqual(yield* reserved(open), { all: 0.875, red: 0.75, blue: 0.875 })
        const within = { reservations: [inner], above: caller }
        const third = yield* red.reserve(amount(0.5), undefined, "new", within)
        assert.deepEqual(yield* reserved(open), { all: 0.875, red: 0.75, blue: 0.875 })
        yield* red.settle(third, used(0.25))
        assert.deepEqual(yield* reserved(open), { all: 0.625, red: 0.5, blue: 0.875 })
        yield* blue.settle(inner, used(0.125))
        assert.deepEqual(yield* reserved(open), { all: 0.375, red: 0.5, blue: 0 })
        yield* red.settle(outer, used(0.25))
        assert.deepEqual(yield* reserved(open), { all: 0, red: 0, blue: 0 })
        assert.deepEqual(yield* standing(open, "all"), { calls: 3, costUsd: 0.625, open: 0, reservedCostUsd: 0 })
        assert.deepEqual(yield* standing(open, "red"), { calls: 2, costUsd: 0.5, open: 0, reservedCostUsd: 0 })
        // Replaying a call reserves nothing and charges nothing.
        const again = yield* red.reserve(amount(0.25))
        const replayed = yield* blue.reserve(amount(0.875), "r/0/0/0/0", "replayed", {
          reservations: [again],
          above: undefined
        })
        assert.deepEqual(yield* reserved(open), { all: 0.25, red: 0.25, blue: 0 })
        yield* blue.settle(replayed, used(0.125))
        yield* red.release(again)
        assert.deepEqual(yield* reserved(open), { all: 0, red: 0, blue: 0 })
      })
  ),
  define("reserve/within-openings", "a call within another draws on its reservation, made by another opening", (open) =>
    Effect.gen(function* () {
      const [one, other] = [
        yield* openIn(open, { name: "a", limits: { costUsd: 1 } }),
        yield* openIn(open, { name: "a" })
      ]
      const outer = yield* one.reserve(amount(0.75))
      const caller = { reservations: [outer], above: undefined }
      const inner = yield* other.reserve(amount(0.5), "r/0/0/0/0", "resumed", caller)
      assert.deepEqual(yield* reserved(open), { a: 0.75 })
      yield* other.settle(inner, used(0.25))
      yield* one.settle(outer, used(0.25))
      assert.deepEqual(yield* standing(open, "a"), { calls: 2, costUsd: 0.5, open: 0, reservedCostUsd: 0 })
    })
  ),
  define("charge/other-account", "a run resumed under another account charges those above once for a call", (open) =>
    Effect.gen(function* () {
      const accounts = yield* open
      const all = yield* accounts.open({ name: "all" })
      const day = yield* accounts.open({ name: "day", per: "day", parent: all })
      const [red, blue] = [
        yield* accounts.open({ name: "red", parent: day }),
        yield* accounts.open({ name: "blue", parent: day })
      ]
      const call = "r/0/0/0/0"
      yield* red.settle(yield* red.reserve(amount(0.5), call, "new"), used(0.25))
      yield* red.charge(0.125, "r/training")
      const once = { calls: 1, costUsd: 0.375, open: 0, reservedCostUsd: 0 }
      for (const account of [blue, blue, red, all]) {
        yield* account.settle(yield* account.reserve(amount(0.5), call, "replayed"), used(0.25))
        yield* account.charge(0.125, "r/training")
        assert.deepEqual([yield* standing(open, "all"), yield* standing(open, "red")], [once, once])
      }
      assert.deepEqual(yield* standing(open, "blue"), once)
      assert.deepEqual((yield* day.standing).total.calls, 1)
      // A call that is sent now is a different one, and a call that was given back was not charged anywhere.
      yield* blue.settle(yield* blue.reserve(amount(0.5), call, "new"), used(0.25))
      yield* red.release(yield* red.reserve(amount(0.5), "r/0/0/1/0", "replayed"))
      yield* blue.settle(yield* blue.reserve(amount(0.5), "r/0/0/1/0", "replayed"), used(0.5))
      assert.deepEqual(yield* standing(open, "all"), { calls: 3, costUsd: 1.125, open: 0, reservedCostUsd: 0 })
      assert.deepEqual(yield* standing(open, "red"), once)
      assert.deepEqual(yield* standing(open, "blue"), { calls: 3, costUsd: 1.125, open: 0, reservedCostUsd: 0 })
    })
  ),
  define("reserve/stuck", "a call within another does not wait for what only that one can free", (open) =>
    Effect.gen(function* () {
      const account = yield* openIn(open, { name: "a", limits: { costUsd: 1 } })
      const outers = [yield* account.reserve(amount(0.5)), yield* account.reserve(amount(0.375))]
      const within = (outer: Budget.Reservation, costUsd: number) =>
        account.reserve(amount(costUsd), undefined, "new", { reservations: [outer], above: undefined })
      // Each could wait for the other. One of them is refused, and its call is settled.
      const refused = yield* Effect.raceFirst(
        Effect.as(Effect.flip(within(outers[0]!, 0.75)), 0),
        Effect.as(Effect.flip(within(outers[1]!, 0.75)), 1)
      )
      const [left, right] = [outers[refused]!, outers[1 - refused]!]
      yield* account.settle(left, used(0.125))
      const inner = yield* within(right, 0.75)
      yield* account.settle(inner, used(0.5))
      yield* account.settle(right, used(0.5))
      // The outer call used more than it reserved. The excess is charged up to the limit.
      assert.deepEqual(yield* standing(open, "a"), { calls: 3, costUsd: 1, open: 0, reservedCostUsd: 0 })
    })
  ),
  define("reserve/within-dead", "what a killed process had set aside within a call counts once", (open) =>
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const account = yield* openIn(open, { name: "a", limits: { costUsd: 1 } })
          const outer = yield* account.reserve(amount(0.75))
          const caller = { reservations: [outer], above: undefined }
          yield* account.settle(yield* account.reserve(amount(0.5), undefined, "new", caller), used(0.25))
          yield* account.reserve(amount(0.25), "r/0/0/0/0", "resumed", caller)
        })
      )
      const after = yield* openIn(open, { name: "a" })
      assert.deepEqual(yield* standing(open, "a"), { calls: 3, costUsd: 0.75, open: 0, reservedCostUsd: 0 })
      const again = yield* after.reserve(amount(0.25), "r/0/0/0/0", "resumed")
      yield* after.settle(again, used(0.125))
      assert.deepEqual(yield* standing(open, "a"), { calls: 3, costUsd: 0.625, open: 0, reservedCostUsd: 0 })
    })
  ),
  define("reserve/at-once", "of a thousand calls at once in two processes as many are made as fit", (open) =>
    Effect.gen(function* () {
      const accounts = [
        yield* openIn(open, { name: "a", limits: { costUsd: 100 } }),
        yield* openIn(open, { name: "a", limits: { costUsd: 100 } })
      ]
      const call = (index: number) =>
        Effect.gen(function* () {
          const account = accounts[index % 2]!
          const reservation = yield* account.reserve(amount(1))
          yield* account.settle(reservation, used(1))
        })
      const exits = yield* Effect.forEach(
        Array.from({ length: 1_000 }, (_, index) => index),
        (index) => Effect.exit(call(index)),
        { concurrency: "unbounded" }
      )
      assert.equal(exits.filter(Exit.isSuccess).length, 100)
      assert.deepEqual(yield* standing(open, "a"), { calls: 100, costUsd: 100, open: 0, reservedCostUsd: 0 })
    })
  ),
  define("reserve/named", "a call that has a name is charged once, however often it is charged", (open) =>
    Effect.gen(function* () {
      const account = yield* openIn(open, { name: "a", limits: { calls: 2 } })
      const call = (cost: number) =>
        Effect.flatMap(account.reserve(amount(1), "r/0/1/0/0"), (hold) => account.settle(hold, used(cost)))
      yield* call(0.5)
      yield* call(0.75)
      const withdrawn = yield* account.reserve(amount(1), "r/0/2/0/0")
      yield* account.release(withdrawn)
      assert.deepEqual(yield* standing(open, "a"), { calls: 1, costUsd: 0.5, open: 0, reservedCostUsd: 0 })
    })
  ),
  define(
    "reserve/occurrence",
    "a call that is sent now is charged, also under a name that was charged before",
    (open) =>
      Effect.gen(function* () {
        const name = "r/0/1/0/0"
        const account = yield* openIn(open, { name: "a" })
        const call = (cost: number, occurrence: Budget.Occurrence) =>
          Effect.flatMap(account.reserve(amount(1), name, occurrence), (hold) => account.settle(hold, used(cost)))
        yield* call(0.5, "new")
        yield* call(0.25, "new")
        yield* call(0.125, "replayed")
        yield* call(0.125, "resumed")
        yield* account.charge(2, name)
        yield* account.charge(2, "r/0/2/0/0")
        yield* account.charge(2, "r/0/2/0/0")
        assert.deepEqual(yield* standing(open, "a"), { calls: 3, costUsd: 2.875, open: 0, reservedCostUsd: 0 })
      })
  ),
  define(
    "reserve/resumed",
    "what an ended process reserved for a call is taken over by the run that resumes it",
    (open) =>
      Effect.gen(function* () {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const account = yield* openIn(open, { name: "a" })
            yield* account.reserve(amount(1), "r/0/1/0/0", "resumed")
            yield* account.reserve(amount(1), "r/0/2/0/0", "new")
          })
        )
        const account = yield* openIn(open, { name: "a" })
        yield* account.settle(yield* account.reserve(amount(1), "r/0/1/0/0", "resumed"), used(0.25))
        yield* account.settle(yield* account.reserve(amount(1), "r/0/2/0/0", "new"), used(0.25))
        // The second call was also sent by the process that died, and nothing shows that it was not sent.
        assert.deepEqual(yield* standing(open, "a"), { calls: 3, costUsd: 1.5, open: 0, reservedCostUsd: 0 })
      })
  ),
  define(
    "end/worst",
    "what a process had set aside that has ended counts at its worst case, until somebody knows",
    (open) =>
      Effect.gen(function* () {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const account = yield* openIn(open, { name: "a", limits: { costUsd: 2 } })
            yield* account.reserve(amount(0.5), "r/0/1/0/0")
            yield* account.reserve(amount(1))
          })
        )
        const account = yield* openIn(open, { name: "a" })
        assert.equal(account.spent().costUsd, 1.5)
        const refused = yield* Effect.flip(account.reserve(amount(1)))
        assert.equal(refused.spent, 1.5)
        const again = yield* account.reserve(amount(0.5), "r/0/1/0/0")
        yield* account.settle(again, used(0.125))
        assert.deepEqual(yield* standing(open, "a"), { calls: 2, costUsd: 1.125, open: 0, reservedCostUsd: 0 })
      })
  ),
  define("adjust/once", "an adjustment corrects accounts together, once for its id, and is in the audit", (open) =>
    Effect.gen(function* () {
      const accounts = yield* open
      const all = yield* accounts.open({ name: "all", limits: { costUsd: 1 } })
      const team = yield* accounts.open({ name: "team", parent: all })
      yield* all.charge(0.5)
      yield* team.charge(0.25)
      yield* Effect.flip(team.reserve(amount(0.5)))
      const correction = {
        id: "one",
        by: "alice",
        reason: "a misreported call",
        change: { addUsd: -0.5 },
        names: ["team", "all"]
      } as const
      const other = yield* open
      const made = yield* Effect.forEach([accounts, other, accounts], (one) => one.adjust(correction), {
        concurrency: "unbounded"
      })
      const { names: _, ...about } = correction
      const first = {
        ...about,
        at: made[0]!.at,
        accounts: [
          { name: "team", beforeUsd: 0.25, afterUsd: 0 },
          { name: "all", beforeUsd: 0.75, afterUsd: 0.25 }
        ]
      }
      assert.deepEqual(made, [first, first, first])
      // The process that opened the account earlier can use the freed budget immediately.
      yield* team.settle(yield* team.reserve(amount(0.5)), used(0.5))
      const set = yield* other.adjust({ ...correction, id: "two", change: { setUsd: 1 } })
      assert.deepEqual(set.accounts, [
        { name: "team", beforeUsd: 0.5, afterUsd: 0.75 },
        { name: "all", beforeUsd: 0.75, afterUsd: 1 }
      ])
      assert.equal((yield* Effect.flip(team.reserve(amount(0.1)))).spent, 1)
      assert.deepEqual(yield* accounts.adjustments, [first, set])
      const unknown = yield* other.adjust({ ...correction, id: "three", change: { addUsd: 2 }, names: ["new"] })
      assert.deepEqual(unknown.accounts, [{ name: "new", beforeUsd: 0, afterUsd: 2 }])
    })
  ),
  define("end/waiting", "who waits for a process that ends is told what is left", (open) =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const one = yield* Scope.provide(openIn(open, { name: "a", limits: { costUsd: 1 } }), scope)
      const other = yield* openIn(open, { name: "a" })
      yield* one.reserve(amount(0.9))
      const waiting = yield* Effect.forkChild(Effect.flip(other.reserve(amount(0.5))), { startImmediately: true })
      yield* Effect.sleep(30)
      yield* Scope.close(scope, Exit.void)
      assert.equal((yield* Effect.timeout(Fiber.join(waiting), 10_000)).spent, 0.9)
    })
  )
]

/** Runs one case against a new store. */
export const check = (one: Case, fresh: () => Open): Promise<void> =>
  Effect.runPromise(Effect.scoped(Effect.suspend(() => one.run(fresh()))))

/**
 * Registers the test suite for accounts.
 *
 * **Example**
 *
 * ```ts no-run
 * import type { Account } from "@divisi/core"
 * import { AccountsContract } from "@divisi/testkit/journals"
 * import type * as Effect from "effect/Effect"
 * import type * as Scope from "effect/Scope"
 * import { describe, it } from "vitest"
 *
 * // What you have written: accounts in a place of your own.
 * declare const mine: (place: string) => Effect.Effect<Account.Accounts, Account.AccountsError, Scope.Scope>
 *
 * let places = 0
 * AccountsContract.contract({
 *   name: "my accounts",
 *   fresh: () => mine(`place-${places++}`),
 *   describe,
 *   it
 * })
 * ```
 */
export const contract = ({ describe, fresh, it, name }: Options): void => {
  describe(`${name} keeps the contract of accounts`, () => {
    for (const one of cases) it(`${one.id}: ${one.name}`, () => check(one, fresh))
  })
}
