import { assert, it } from "@effect/vitest"
import * as Library from "../src/internal/library.ts"
import { exponential, unseen } from "../src/internal/network.ts"

it("the exponential is right to a millionth of 1 up to 0, to two millionths of itself up to 5, and 0 for the unseen", async () => {
  const jax = await Library.load()
  const inputs = Float32Array.from({ length: 10_000 }, (_, place) => 5 - place / 100)
  const run = jax.jit((input) => exponential(jax, input))
  const found = await run(jax.numpy.array(inputs)).data()
  for (const [place, input] of inputs.entries()) {
    const expected = Math.exp(input)
    assert.approximately(found[place]!, expected, input > 0 ? 2e-6 * expected : 1e-6)
    if (input < -62) assert.strictEqual(found[place], 0)
  }
  assert.strictEqual((await run(jax.numpy.array([unseen])).data())[0], 0)
})

it("its derivative is itself", async () => {
  const jax = await Library.load()
  const inputs = jax.numpy.array([-7, -0.5, 0, 2])
  const values = await exponential(jax, inputs.ref).data()
  const slopes = await jax
    .grad((input) => exponential(jax, input).sum())(inputs)
    .data()
  assert.deepStrictEqual([...slopes], [...values])
})
