import { PostgresServer } from "@divisi/testkit/journals"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as SharedAccounts from "../src/SharedAccounts.ts"

const hasPostgres = PostgresServer.find() !== undefined

describe("an account of a run that is resumed", () => {
  let server: PostgresServer.PostgresServer | undefined
  beforeAll(async () => {
    if (hasPostgres) server = await PostgresServer.start()
  })
  afterAll(() => server?.stop())

  const sums = { pauses: 0, failures: 0, stops: 0, forks: 0, reopened: 0 }
  const combinations = SharedAccounts.places.flatMap((place) => SharedAccounts.keeps.map((kept) => ({ place, kept })))

  it.each(combinations)("equals the vendor's book: account $place, run in $kept", async ({ kept, place }) => {
    const needsPostgres = place === "postgres" || kept === "postgres"
    if (needsPostgres && server === undefined) return
    const seeds = needsPostgres ? 3 : place === "memory" || kept === "transcript" ? 12 : 6
    for (let seed = 0; seed < seeds; seed++) {
      const found = await SharedAccounts.simulate({ seed, place, kept, url: server?.url })
      expect({ seed, problems: found.problems }).toEqual({ seed, problems: [] })
      for (const name of ["pauses", "failures", "stops", "forks", "reopened"] as const) sums[name] += found[name]
    }
  })

  it("is charged for runs that pause, fail, reach limits, are stopped, and are resumed twice from one transcript", () => {
    expect(Math.min(...Object.values(sums))).toBeGreaterThan(10)
  })
})
