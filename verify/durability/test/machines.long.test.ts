import { expect, it } from "vitest"
import * as Machines from "../src/Machines.ts"

if (!Machines.isPossible()) console.warn("Not tested: machines needs initdb, pg_ctl and postgres.")

// `pnpm durability machines` is the long version.
it.skipIf(!Machines.isPossible())(
  "runs of a cluster end once each, and no received answer is paid for twice, under faults",
  { timeout: 400_000 },
  async () => {
    const options = { seed: 1, runs: 60, faults: 4, servers: 3, limitSeconds: 300 }
    const { answered, problems } = await Machines.run(options, () => {})
    expect(problems).toEqual([])
    expect(answered).toBe(60)
  }
)
