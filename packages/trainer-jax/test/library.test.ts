/** The text to be changed in jax-js exists there. */
import fs from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "@effect/vitest"
import * as Library from "../src/internal/library.ts"

it("narrows both kinds of tiles of the jax-js that is installed, and changes nothing else", () => {
  const folder = path.dirname(fileURLToPath(import.meta.resolve("@jax-js/jax")))
  const file = fs.readdirSync(folder).find((name) => /^backend-.*\.js$/.test(name))!
  const before = fs.readFileSync(path.join(folder, file), "utf8").split("\n")
  const after = Library.narrowed(fs.readFileSync(path.join(folder, file))).split("\n")
  expect(after.filter((line, place) => line !== before[place])).toEqual([
    "const TILED_SIMD_MICRO_ROWS = 2;",
    "const K_SIMD_MICRO_ROWS = 2;"
  ])
})

it("loads it so that products are computed in tiles of two rows", async () => {
  const kernels: Array<string> = []
  const { compile } = WebAssembly
  WebAssembly.compile = (bytes) => {
    kernels.push(Buffer.from(bytes as ArrayBuffer).toString("hex"))
    return compile(bytes)
  }
  try {
    const { blockUntilReady, jit, numpy } = await Library.load()
    await blockUntilReady(jit(numpy.matmul)(numpy.ones([64, 64]), numpy.ones([64, 64])))
    // Eight multiplications for two rows by four vectors, and two for the columns that are left: `f32x4.relaxed_madd`.
    expect(kernels.map((kernel) => kernel.split("fd8502").length - 1)).toContain(10)
  } finally {
    WebAssembly.compile = compile
  }
})
