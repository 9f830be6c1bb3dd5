import { expect, it } from "@effect/vitest"
import * as Instances from "../src/internal/instances.ts"

/** A module that imports `env.memory` and exports a function, which returns the first number in it. */
const bytes = Uint8Array.from(
  [
    [0, 97, 115, 109, 1, 0, 0, 0],
    // One type: nothing to a 32-bit number.
    [1, 5, 1, 96, 0, 1, 127],
    // The memory `env.memory`, of at least one page.
    [2, 15, 1, 3, 101, 110, 118, 6, 109, 101, 109, 111, 114, 121, 2, 0, 1],
    // One function of that type, exported as `kernel`, which loads from 0.
    [3, 2, 1, 0],
    [7, 10, 1, 6, 107, 101, 114, 110, 101, 108, 0, 0],
    [10, 9, 1, 7, 0, 65, 0, 40, 2, 0, 11]
  ].flat()
)

it("instantiates a module once, and every module for itself", () => {
  const Instance = Instances.keeping(WebAssembly.Instance)
  const memory = new WebAssembly.Memory({ initial: 1 })
  const imports = { env: { memory } }
  const [module, other] = [new WebAssembly.Module(bytes), new WebAssembly.Module(bytes)]
  const first = new Instance(module, imports)
  expect(new Instance(module, imports)).toBe(first)
  expect(new Instance(other, imports)).not.toBe(first)
  expect(first).toBeInstanceOf(Instance)
  const kernel = first.exports.kernel as () => number
  new Int32Array(memory.buffer)[0] = 7
  expect(kernel()).toBe(7)
})
