import { fromLanguageModel } from "@divisi/providers-effect"
import { expect, it } from "vitest"

it("refuses options that it does not have, and values out of range", () => {
  expect(() => fromLanguageModel({} as never, { id: "a", maxTokens: 3 } as never)).toThrow(
    'option "maxTokens" does not exist'
  )
  expect(() => fromLanguageModel({} as never, { id: "a", maxOutputTokens: 0 })).toThrow(
    '"maxOutputTokens" must be a whole'
  )
  expect(() => fromLanguageModel({} as never, {} as never)).toThrow('"id" is missing')
})
