/** Runs the benchmarks at small size, so that they keep working. */
import { execFile } from "node:child_process"
import path from "node:path"
import { promisify } from "node:util"
import { assert, it } from "vitest"

const run = async (script: string, ...args: ReadonlyArray<string>) => {
  const file = path.join(import.meta.dirname, "..", "bench", script)
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=@divisi/source", file, ...args])
  return JSON.parse(stdout)
}

it("measures a model on a GPU, or without one", async () => {
  const { model, tokensPerSecond } = await run("gpu.ts", "--size", "small", "--tokens", "4")
  assert.include(["processor", "cuda", "vulkan", "metal"], model.backend)
  assert.isAbove(tokensPerSecond["4Runs"], 0)
})

it("counts completions that read", async () => {
  const { completions, read } = await run("grammar.ts", "--completions", "120", "--models", "2")
  assert.deepStrictEqual([completions, read], [120, 120])
})

it("shows that a warm prefix is not evaluated again", async () => {
  const { first, second } = await run("prefix.ts")
  assert.isAtMost(second.evaluatedTokens, first.evaluatedTokens / 10)
  assert.isAtLeast(second.reusedTokens, first.evaluatedTokens * 0.9)
})

it("measures threads with a busy core", async () => {
  const { tokensPerSecond } = await run("threads.ts", "--tokens", "4", "--rounds", "1", "--width", "256")
  assert.hasAllKeys(tokensPerSecond, ["default", "one", "cores"])
})
