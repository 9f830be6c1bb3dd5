import { expect, it } from "vitest"
import * as Machines from "../src/Machines.ts"
import * as Samples from "../src/Samples.ts"

if (!Machines.isPossible()) console.warn("Not tested: samples needs initdb, pg_ctl and postgres.")

// `pnpm durability samples` is the long version.
it.skipIf(!Machines.isPossible())(
  "an evaluation on three machines has the report of one, though one is killed and one is frozen",
  async () => {
    const { problems } = await Samples.run(
      { seed: 2, samples: 240, machines: 3, callMillis: 100, concurrency: 4 },
      () => {}
    )
    expect(problems).toEqual([])
  }
)
