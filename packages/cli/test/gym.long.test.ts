/** Policies that are measured in the gym from the command line. */
import path from "node:path"
import { assert, describe, it } from "vitest"
import { divisi, inFolder } from "./process.ts"

describe.concurrent("divisi gym solve", () => {
  it("compares policies on tasks that need a tool, by who is given it", async () => {
    const accuracy = async (access: string) => {
      const args = ["gym", "solve", "--tasks", "20", "--family", "stock", "--policy", "oracle", "--tool-access", access]
      const { code, output } = await divisi([...args, "--json"])
      assert.strictEqual(code, 0)
      return JSON.parse(output).accuracy as number
    }
    const [none, last, every] = await Promise.all([accuracy("none"), accuracy("last-step"), accuracy("every-step")])
    assert.strictEqual(none, 0)
    assert.isTrue(last > 0 && last < every && every > 0.9, `${last}, ${every}`)
  })

  it("finds the best single worker for tasks that need a tool among those that can call it", async () => {
    const args = ["gym", "solve", "--tasks", "10", "--family", "stock", "--policy", "best-single", "--json"]
    const { code, output } = await divisi(args)
    assert.strictEqual(code, 0)
    assert.isAbove(JSON.parse(output).accuracy, 0.3)
  })

  it("gives the same figures for the same seed, however many runs are concurrent", async () => {
    const args = [
      "gym",
      "solve",
      "--tasks",
      "20",
      "--seed",
      "3",
      "--json",
      "--policy",
      "single:intern",
      "--concurrency"
    ]
    const [one, many] = await Promise.all([divisi([...args, "1"]), divisi([...args, "20"])])
    const { costUsd: _, ...first } = JSON.parse(one!.output)
    const { costUsd: __, ...second } = JSON.parse(many!.output)
    assert.deepStrictEqual(first, second)
  })
})

describe("the tiny Conductor", () => {
  it("is measured like any other policy", () =>
    inFolder(async (folder) => {
      const { code, output } = await divisi(
        ["eval", "--policy", "conductor", "--limit", "4", "--json", "--out", path.join(folder, "report")],
        { cwd: folder }
      )
      assert.strictEqual(code, 0)
      assert.include(output, '"conductor"')
    }))
})
