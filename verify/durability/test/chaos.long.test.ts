import { expect, it } from "vitest"
import * as Chaos from "../src/Chaos.ts"

if (!Chaos.isPossible()) console.warn("Not tested: chaos needs initdb, pg_ctl and postgres.")

// Servers are processes, some of which are killed and restarted. `pnpm durability chaos` sends 5,000 questions under
// 500 faults.
it.skipIf(!Chaos.isPossible())(
  "servers on one Postgres answer each question once and pay for nothing twice, under faults",
  {
    timeout: 300_000
  },
  async () => {
    const { answered, problems, sums } = await Chaos.run({ seed: 1, questions: 60, faults: 8 }, () => {})
    expect(problems).toEqual([])
    expect(answered).toBe(60)
    expect(sums.beyondInFlight).toBe(0)
  }
)
