import { createHash } from "node:crypto"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as GymPool from "@divisi/gym/GymPool"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { heldOutPools } from "../src/gym/HeldOutPools.ts"

describe("heldOutPools", () => {
  it("has 30 pools of 3 to 12 workers of the gym, no two alike in any order", () => {
    const pool = GymPool.make()
    expect(heldOutPools.map(({ length }) => length)).toEqual(
      Array.from({ length: 30 }, (_, at) => 3 + Math.floor(at / 3))
    )
    for (const ids of heldOutPools) expect(Result.isSuccess(WorkerPool.subset(pool, ids))).toBe(true)
    expect(new Set(heldOutPools.map((ids) => ids.toSorted().join(" "))).size).toBe(heldOutPools.length)
  })

  it("stays as it is: models were trained without them", () => {
    expect(heldOutPools[0]).toEqual(["proofreader", "gambler", "abacus"])
    expect(createHash("sha256").update(JSON.stringify(heldOutPools)).digest("hex").slice(0, 16)).toBe(
      "158e1d88fe24c0a5"
    )
  })
})
