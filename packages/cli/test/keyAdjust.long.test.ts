import { PostgresServer } from "@divisi/testkit/journals"
import { afterAll, beforeAll, describe, it } from "vitest"
import { adjusts } from "./adjustedKeys.ts"

describe.skipIf(PostgresServer.find() === undefined)("divisi key adjust, in Postgres", () => {
  let server: PostgresServer.PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => server.stop())

  it("corrects accounts of a database", () => adjusts({ DIVISI_DATABASE: server.url, DIVISI_OUTCOMES: "none" }))
})
