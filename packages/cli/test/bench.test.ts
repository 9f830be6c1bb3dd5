import { writeFileSync } from "node:fs"
import path from "node:path"
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "vitest"
import { divisi, inFolder, valuesOf } from "./process.ts"

const lines = ["apples", "bridges", "comets"].flatMap((kind, at) =>
  Array.from({ length: 60 }, (_, index) =>
    JSON.stringify({
      id: `${kind}-${index}`,
      kind,
      question: `What about ${kind}, case ${(index * 7919) % 1000}?`,
      scores: { a: at < 2 ? 1 : 0, b: at < 2 ? 0 : 1 },
      costUsd: { a: 0.01, b: 0.001 }
    })
  )
)

describe("divisi bench routing", () => {
  it("prints one object for each policy, the default router first", () =>
    inFolder(async (folder) => {
      const file = path.join(folder, "outcomes.jsonl.gz")
      writeFileSync(file, gzipSync(`${lines.join("\n")}\n`))
      const { code, output } = await divisi(["bench", "routing", "--outcomes", file, "--repeats", "1", "--json"])
      assert.strictEqual(code, 0)
      const standings = valuesOf(output) as ReadonlyArray<Record<string, unknown>>
      const [router] = standings
      const single = standings.find(({ policy }) => policy === "best-single")!
      // The best single worker is a mix by itself; and the cheap one of two cannot make up for the router's choice.
      assert.strictEqual(single.differenceAtEqualCost, 0)
      assert.closeTo(single.costAtEqualScoreUsd as number, 0.01, 1e-9)
      assert.isAbove(router!.differenceAtEqualCost as number, 0)
      assert.isNull(router!.costAtEqualScoreUsd)
      assert.strictEqual(router!.policy, "router")
      assert.isAbove(router!.differenceToBestSingle as number, 0)
      for (const standing of standings) {
        assert.sameMembers(Object.keys(standing), [
          "policy",
          "score",
          "costUsd",
          "differenceToBestSingle",
          "differenceError",
          "differenceAtEqualCost",
          "differenceAtEqualCostError",
          "costAtEqualScoreUsd"
        ])
      }
    }))

  it("says what is wrong with a file", () =>
    inFolder(async (folder) => {
      const file = path.join(folder, "outcomes.jsonl")
      writeFileSync(file, `${lines.slice(0, 60).join("\n")}\n`)
      const { code, errors } = await divisi(["bench", "routing", "--outcomes", file, "--split", "kind"])
      assert.strictEqual(code, 2)
      assert.include(errors, "at least two kinds")
      const missing = await divisi(["bench", "routing", "--outcomes", path.join(folder, "none.jsonl")])
      assert.strictEqual(missing.code, 2)
      assert.include(missing.errors, "none.jsonl")
      writeFileSync(file, "")
      const empty = await divisi(["bench", "routing", "--outcomes", file])
      assert.strictEqual(empty.code, 2)
      assert.include(empty.errors, "contains no outcomes")
    }))

  it("compares on the rest of a file that has lines of no use, where costs and kinds are missing and workers are alike", () =>
    inFolder(async (folder) => {
      const file = path.join(folder, "outcomes.jsonl")
      const plain = lines.map((line, at) => {
        const { question } = JSON.parse(line) as { readonly question: string }
        return JSON.stringify({ question, scores: at % 9 === 0 ? { a: 1 } : { a: 1, b: 1 } })
      })
      writeFileSync(file, `{"question": "What\n\n${plain.join("\r\n")}\n`)
      const flags = ["--only", "router,best-single", "--repeats", "2", "--json"]
      const { code, errors, output } = await divisi(["bench", "routing", "--outcomes", file, ...flags])
      assert.strictEqual(code, 0, errors)
      assert.include(errors, "skipped 1 line.")
      for (const standing of valuesOf(output)) {
        assert.deepInclude(standing, { score: 1, costUsd: null, differenceToBestSingle: 0, differenceError: 0 })
      }
    }))
})
