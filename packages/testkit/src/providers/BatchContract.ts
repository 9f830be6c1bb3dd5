/**
 * The contract for providers with batched calls, as cases for any test framework. They run against a {@link
 * BatchServer}, over real sockets and through the vendor's real SDK.
 */
import assert from "node:assert/strict"
import type { Worker } from "@divisi/core/Worker"
import * as cases from "./internal/batches/cases.ts"

/** How to create a worker: the server's address and the batch settings. */
export interface Connection {
  readonly apiKey: string
  /** Base URL without a path. */
  readonly baseURL: string
  readonly batch: {
    readonly windowMillis: number
    readonly pollMillis: number
    readonly maxRequests?: number | undefined
  }
}

/** A provider under test. */
export interface Subject {
  readonly name: string
  readonly vendor: "openai" | "anthropic"
  /** Creates a worker for any model with a list price. */
  readonly make: (connection: Connection) => Worker
  /** Creates the same worker without batching. */
  readonly direct: (connection: Pick<Connection, "apiKey" | "baseURL">) => Worker
  /**
   * Whether the vendor stores a batch's name, so that a batch can be found if it is unknown whether the vendor accepted
   * it.
   */
  readonly findsByName: boolean
  readonly describe: (name: string, body: () => void) => void
  readonly it: (name: string, body: () => Promise<void>) => void
}

/** Registers the contract for a provider's batches. */
export const contract = (subject: Subject): void => {
  subject.describe(`${subject.name}: batches`, () => {
    for (const [name, body] of Object.entries(cases.cases)) subject.it(name, () => body(subject))
    subject.it("costs half of the list price", async () => {
      const connection = { apiKey: "sk-test", baseURL: "http://127.0.0.1:9" }
      const { pricing } = subject.make({ ...connection, batch: { windowMillis: 1, pollMillis: 1 } })
      const listed = subject.direct(connection).pricing
      assert.ok(pricing && listed, "Both need a price.")
      assert.equal(pricing.inputPerMillion, listed.inputPerMillion / 2)
      assert.equal(pricing.outputPerMillion, listed.outputPerMillion / 2)
      assert.equal(pricing.cachedInputPerMillion, (listed.cachedInputPerMillion ?? Number.NaN) / 2)
    })
  })
}
