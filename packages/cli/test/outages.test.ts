/** An outage is not a wrong answer: evaluations do not measure it, and nothing is rated or learned from it. */
import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import type { Report } from "@divisi/evals/Report"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { divisi, inFolder, valuesOf } from "./process.ts"

let isDown = true
let requests = 0

/** A vendor that knows every answer, and refuses half of the questions while it is down. */
const vendor = createServer((request, response) => {
  requests += 1
  const isRefused = isDown && Number(new URL(request.url ?? "", "http://vendor").searchParams.get("n")) % 2 === 0
  response.writeHead(isRefused ? 503 : 200).end("right")
})

beforeAll(() => new Promise<void>((resolve) => void vendor.listen(0, "127.0.0.1", resolve)))
afterAll(() => void vendor.close())

const config = () => `
import { policy, worker } from "@divisi/core/promise"
const ask = async ({ messages }) => {
  const n = /\\d+/.exec(String(messages.at(-1).content))[0]
  const response = await fetch("http://127.0.0.1:${(vendor.address() as AddressInfo).port}/?n=" + n)
  if (!response.ok) throw new Error("HTTP " + response.status)
  return response.text()
}
export default {
  pool: [worker({ id: "remote", answer: ask }), worker({ id: "local", answer: () => "wrong" })],
  retry: { maxAttempts: 1 },
  reassign: "never",
  policy: policy("team", () => ({ answer: "majority", steps: [0, 1].map((worker) => ({ worker, subtask: "", access: [] })) }))
}
`

const gone = `
import { worker } from "@divisi/core/promise"
const ask = async () => (await fetch("http://127.0.0.1:9/")).text()
export default { pool: [worker({ id: "gone", answer: ask })], retry: { maxAttempts: 1 } }
`

const inOwn = (
  use: (ask: (...args: ReadonlyArray<string>) => ReturnType<typeof divisi>, cwd: string) => Promise<void>
) =>
  inFolder(async (cwd) => {
    writeFileSync(path.join(cwd, "divisi.config.mjs"), config())
    writeFileSync(path.join(cwd, "gone.config.mjs"), gone)
    const rows = [1, 2, 3, 4].map((n) =>
      JSON.stringify({ id: `q${n}`, question: `How much is ${n}?`, answer: "right" })
    )
    writeFileSync(path.join(cwd, "mine.jsonl"), rows.join("\n"))
    const environment = {
      DIVISI_CONFIG: path.join(cwd, "divisi.config.mjs"),
      DIVISI_OUTCOMES: path.join(cwd, "outcomes.jsonl"),
      DIVISI_ROUTER: path.join(cwd, "router.json")
    }
    await use((...args) => divisi(args, { cwd, environment }), cwd)
  })

const evaluation = ["eval", "--benchmark", "mine.jsonl", "--grader", "text", "--policy", "single:remote"]

describe("an outage of a vendor", () => {
  it("is not measured, fails the command beyond a share, and is measured when it is over", () =>
    inOwn(async (ask, cwd) => {
      isDown = true
      const lost = await ask(...evaluation, "--json")
      const report = (output: string) => (JSON.parse(output) as Report).cells[0]!.score
      assert.deepInclude(report(lost.output), { mean: 1, samples: 2, missing: 2, missingBy: { Overloaded: 2 } })
      assert.strictEqual(lost.code, 1)
      assert.include(lost.errors, "2 of 4 samples (50%) are missing, more than --max-missing 0.05")
      const text = await ask(...evaluation, "--max-missing", "0.5")
      assert.strictEqual(text.code, 0, text.errors)
      assert.match(text.output, /^2 samples not measured, excluded from means \(.*overloaded/im)
      for (const name of ["report.md", "report.csv"]) {
        assert.match(readFileSync(path.join(cwd, "evaluation", name), "utf8"), /overloaded/i)
      }
      assert.match(text.output, /^\d+ calls failed, including retries$/m)
      const noted = () =>
        valuesOf(readFileSync(path.join(cwd, "outcomes.jsonl"), "utf8")).filter(({ type }) => type === "rating")
      assert.lengthOf(noted(), 2)
      isDown = false
      requests = 0
      const whole = await ask(...evaluation, "--retry-missing", "--json")
      assert.strictEqual(whole.code, 0, whole.errors)
      assert.deepInclude(report(whole.output), { mean: 1, samples: 4, missing: 0 })
      assert.strictEqual(requests, 2)
      assert.lengthOf(noted(), 4)
      assert.strictEqual((await ask(...evaluation, "--max-missing", "2")).code, 2)
    }))

  it("is not a wrong answer in the gym", () =>
    inOwn(async (ask) => {
      const args = ["gym", "solve", "--tasks", "4", "--policy", "single:gone", "--config", "gone.config.mjs", "--json"]
      const lost = await ask(...args)
      assert.strictEqual(lost.code, 1)
      assert.deepInclude(JSON.parse(lost.output), { accuracy: null, notMeasured: 4, notMeasuredBy: { Network: 4 } })
      assert.match(lost.errors, /4 of 4 samples \(100%\) are missing, .* First error: gone is unreachable[.:].*\n$/)
      assert.strictEqual((await ask(...args, "--max-missing", "1")).code, 0)
    }))

  it("leaves the answered steps of a run to rate, and not the run", () =>
    inOwn(async (ask) => {
      isDown = true
      const run = await ask("run", "How much is 2?")
      assert.deepStrictEqual([run.code, run.output], [0, "wrong\n"])
      const refused = await ask("rate", "down")
      assert.strictEqual(refused.code, 2)
      assert.match(refused.errors, /A worker failed in run .*Rate a step with --step/)
      const rated = await ask("rate", "down", "--step", "0.1", "--json")
      assert.deepInclude(valuesOf(rated.output)[0], { worker: "local", score: 0 })
    }))
})
