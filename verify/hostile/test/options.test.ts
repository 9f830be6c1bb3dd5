import { describe, expect, it } from "vitest"
import { configurations } from "../src/configurations.ts"
import { attempts, invalid, outcomeOf } from "../src/options.ts"
import { imported, publicFunctions } from "../src/publicFunctions.ts"
import { unchecked } from "../src/unchecked.ts"

describe("mistakes in public configurations", () => {
  let tried = 0

  it.each(configurations.map((one) => [one.name, one] as const))(
    "%s refuses each by name",
    async (_, configuration) => {
      expect(await invalid(configuration)).toBeUndefined()
      const made = await attempts(configuration)
      tried += made.length
      const accepted = made.filter(({ isRefused }) => !isRefused)
      expect(accepted.map(({ message, mistake }) => `${mistake}: ${message}`)).toEqual([])
    }
  )

  it("are counted", () => {
    console.info(`${tried} mistakes in ${configurations.length} configurations`)
    expect(tried).toBeGreaterThan(3000)
  })
})

describe("public functions with options", () => {
  const functions = publicFunctions()
  const tried = new Set(configurations.map(({ name }) => name.split(" ")[0]))
  const listed = new Set(Object.values(unchecked).flat())
  const others = functions.filter(({ name }) => !tried.has(name) && !listed.has(name))

  it.each(others.map((one) => [one.name, one] as const))("%s refuses an unknown option by name", async (_, one) => {
    const call = await imported(one)
    const before: ReadonlyArray<unknown> = Array.from({ length: one.position })
    const message = await outcomeOf(() => call(...before, { unknownOption: 1 }), {})
    expect(message, "check its options, or list it in unchecked.ts with the reason").toContain("unknownOption")
  })

  it("are counted, and none is listed that does not exist", () => {
    const names = new Set(functions.map(({ name }) => name))
    expect([...listed].filter((name) => !names.has(name))).toEqual([])
    console.info(`${names.size} public functions with options: ${listed.size} listed as unchecked`)
  })
})
