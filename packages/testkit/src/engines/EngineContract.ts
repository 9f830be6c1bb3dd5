/**
 * The contract of engines: one test suite for every engine.
 *
 * Losses and gradients are compared with a reference in plain numbers (`LossTerms`), gradients with the decrease of the
 * loss along them, samplers with the results of `forward`. Unsupported features of an engine are declared as gaps with
 * a reason; a gap is run as well, and must still fail.
 */
import { passes } from "./internal/contract/passes.ts"
import { sampling } from "./internal/contract/samples.ts"
import { steps } from "./internal/contract/steps.ts"
import { type Case, type Options, type Shared, share } from "./internal/contract/subject.ts"

export type { Case, Options, Subject } from "./internal/contract/subject.ts"

/** The functions of a test runner: vitest, or any other with the same interface. */
export interface Runner {
  readonly describe: (name: string, body: () => void) => unknown
  readonly it: (name: string, body: () => Promise<void>) => unknown
  readonly afterAll: (body: () => Promise<void>) => unknown
}

/** The reasons why cases do not pass, by case id. */
export type Gaps = Readonly<Record<string, string>>

/** Every case of the contract. */
export const cases: ReadonlyArray<Case> = [...passes, ...steps, ...sampling]

const checkGap = async (one: Case, shared: Shared, reason: string): Promise<void> => {
  const passed = await shared.with(one.run).then(
    () => true,
    () => false
  )
  if (passed) throw new Error(`${one.id} is declared as a gap ("${reason}"), but it passes: remove the declaration.`)
}

/**
 * Declares the suite of an engine.
 *
 * **Details**
 *
 * One engine is made for all cases and reset to its initial weights before each. A second one is made for the case that
 * loads a saved state of the first. `gaps` lists the cases that the engine does not pass, with the reason.
 *
 * **Example**
 *
 * ```ts
 * import { EngineContract } from "@divisi/testkit/engines"
 * import * as ToyEngine from "@divisi/trainer/ToyEngine"
 * import * as Effect from "effect/Effect"
 *
 * const names: Array<string> = []
 * EngineContract.contract({
 *   name: "toy",
 *   make: Effect.sync(() => ToyEngine.make({ noise: 0.5 })),
 *   describe: (_, body) => body(),
 *   it: (name) => names.push(name), // a real suite passes `it` of its test runner
 *   afterAll: () => undefined
 * })
 * names.length > 30 // => true
 * ```
 */
export const contract = (options: Options & Runner & { readonly gaps?: Gaps | undefined }): void => {
  const { afterAll, describe, gaps = {}, it, name } = options
  const unknown = Object.keys(gaps).filter((id) => !cases.some((one) => one.id === id))
  const notes = Object.entries(gaps).map(([id, reason]) => `${id}: ${reason}`)
  describe(`${name} keeps the contract of engines`, () => {
    const shared = share(options)
    afterAll(shared.close)
    it(`declares its gaps: ${notes.length === 0 ? "none" : notes.join("; ")}`, async () => {
      if (unknown.length > 0) throw new Error(`No case of the contract is called ${unknown.join(", ")}.`)
    })
    for (const one of cases) {
      const reason = gaps[one.id]
      if (reason === undefined) it(`${one.id}: ${one.name}`, () => shared.with(one.run))
      else it(`gap: ${one.id}: ${reason}`, () => checkGap(one, shared, reason))
    }
  })
}
