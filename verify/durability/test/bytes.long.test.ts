import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Bytes from "../src/Bytes.ts"

/** `pnpm durability bytes` runs as many cases as fit into the given time. */
const seeds = 60

let prepared: ReadonlyArray<Bytes.Prepared>
beforeAll(async () => {
  prepared = await Bytes.prepare()
})
afterAll(() => Bytes.close(prepared))

describe("what is kept, or read of others, and was damaged", () => {
  for (const [index, { name }] of Bytes.subjects.entries()) {
    it(`is right, or is refused with words: ${name}`, async () => {
      for (let seed = 0; seed < seeds; seed++) {
        expect(["right", "refused"]).toContain(await Bytes.run(prepared[index]!, seed))
      }
    })
  }
})
