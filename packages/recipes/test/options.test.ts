import { paperPool } from "@divisi/recipes"
import { expect, it } from "vitest"

it("refuses options of the paper's pool that it does not have, and values out of range", async () => {
  await expect(paperPool({ setting: "controlled", sucessors: true } as never)).rejects.toThrow(
    'Did you mean "successors"?'
  )
  await expect(paperPool({ setting: "wild" } as never)).rejects.toThrow(
    '"setting" must be "controlled" or "unconstrained"'
  )
})
