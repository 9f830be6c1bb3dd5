import { describe, expect, it } from "vitest"
import { configurations } from "../src/configurations.ts"
import { attempts, invalid } from "../src/options.ts"

describe("mistakes in public configurations", () => {
  let tried = 0
  let accepted = 0

  it.each(configurations.map((one) => [one.name, one] as const))(
    "%s refuses each by name, or lists it as accepted",
    async (_, configuration) => {
      expect(await invalid(configuration)).toBeUndefined()
      const made = await attempts(configuration)
      tried += made.length
      accepted += made.filter(({ isRefused }) => !isRefused).length
      const silent = made.filter(({ isListed, isRefused }) => !isRefused && !isListed)
      expect(silent.map(({ message, mistake }) => `${mistake}: ${message}`)).toEqual([])
      const listed = made.filter(({ isListed, isRefused }) => isRefused && isListed)
      expect(listed.map(({ mistake }) => mistake)).toEqual([])
    }
  )

  it("are counted", () => {
    console.info(`${tried} mistakes in ${configurations.length} configurations: ${accepted} listed as accepted`)
    expect(tried).toBeGreaterThan(3000)
  })
})
