import { PostgresServer } from "@divisi/testkit/journals"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { simulate } from "../src/machines/Machines.ts"
import { small } from "../src/machines/small.ts"

const hasPostgres = PostgresServer.find() !== undefined

if (!hasPostgres) console.warn("Not tested: simulated machines need initdb, pg_ctl and postgres.")

describe.skipIf(!hasPostgres)("machines that share a database", () => {
  let server: PostgresServer.PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => server.stop())

  it("end each run once, pay nothing twice without a fault, and exceed no budget", { timeout: 240_000 }, async () => {
    const found = await simulate({ seed: 1, ...small, url: server.url })
    expect(found.problems).toEqual([])
    // This world has takeovers, lost calls, and a budget that is too small.
    expect(found.takeovers).toBeGreaterThan(10)
    expect(found.callsAgain).toBeGreaterThan(10)
    expect(found.endings.budget).toBeGreaterThan(10)
  })
})
