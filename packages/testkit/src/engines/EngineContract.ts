/**
 * The contract for engines, as one test suite for all of them.
 *
 * Losses and gradients are compared with a reference implementation in plain numbers (`LossTerms`), gradients also with
 * the decrease in loss that they predict, and samplers with the results of `forward`. Features that an engine does not
 * support are declared as gaps with a reason. The cases of gaps run as well, and are expected to fail.
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

/** Reasons why cases are expected to fail, keyed by case id. */
export type Gaps = Readonly<Record<string, string>>

/** All cases in the contract. */
export const cases: ReadonlyArray<Case> = [...passes, ...steps, ...sampling]

const checkGap = async (one: Case, shared: Shared, reason: string): Promise<void> => {
  const passed = await shared.with(one.run).then(
    () => true,
    () => false
  )
  if (passed) throw new Error(`${one.id} is declared as a gap ("${reason}"), but it passes: remove the declaration.`)
}

/**
 * Registers the suite for an engine.
 *
 * **Details**
 *
 * One engine is created for all cases and reset to its initial weights before each. A second one is created for the
 * case that loads state saved by the first. `gaps` maps the cases that the engine does not pass to a reason.
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
