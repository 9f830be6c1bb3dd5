import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as PostgresAccounts from "../src/PostgresAccounts.ts"
import { fresh, hasPostgres } from "./database.ts"

const amount = { costUsd: 1, tokens: 10 }
const used = { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 1 }

/** Each trial: how the process that has lost a run, and its next owner, come to the same call. */
const trials = [
  { name: "before its next owner reserves", before: "resumed", after: "replayed", lostIsFirst: true },
  { name: "after its next owner has reserved", before: "resumed", after: "resumed", lostIsFirst: false }
] as const

describe.skipIf(!hasPostgres)("a call of a run that was taken over", () => {
  let server: PostgresServer.PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => server.stop())

  for (const { after, before, lostIsFirst, name } of trials) {
    it(`is charged once if the process that lost the run reserves it ${name}, and releases it`, () =>
      Effect.gen(function* () {
        const open = fresh(() => server)
        const account = Effect.flatMap(Effect.flatMap(open, PostgresAccounts.make), ({ open }) => open({ name: "all" }))
        const [lost, owner] = [yield* account, yield* account]
        const reserve = [
          Effect.suspend(() => lost.reserve(amount, "run/0/0/0/0", before)),
          Effect.suspend(() => owner.reserve(amount, "run/0/0/0/0", after))
        ] as const
        const first = yield* reserve[lostIsFirst ? 0 : 1]
        const second = yield* reserve[lostIsFirst ? 1 : 0]
        yield* lost.release(lostIsFirst ? first : second)
        yield* owner.settle(lostIsFirst ? second : first, used)
        const { open: under, reservedCostUsd, total } = yield* owner.standing
        assert.deepStrictEqual([total.calls, total.costUsd, under, reservedCostUsd], [1, 1, 0, 0])
      }).pipe(Effect.scoped, Effect.runPromise))
  }
})
