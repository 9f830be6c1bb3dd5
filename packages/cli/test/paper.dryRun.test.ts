/** The estimated cost of the paper's run, without a server, keys or a network. */
import fs from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { divisi, inFolder } from "./process.ts"

const packages = path.resolve(import.meta.dirname, "../..")
const fixtures = path.join(packages, "evals/test/fixtures")
const tokenizer = path.join(packages, "trainer-tinker/test/fixtures/tokenizer")

const files = {
  "math500.jsonl": "math500.jsonl",
  "mmlu-auxiliary-train.jsonl": "mmlu.jsonl",
  "rlpr.jsonl": "rlpr.jsonl",
  "livecodebench-v1.jsonl": "livecodebench.jsonl"
}

/** An address without a listener. */
const offline = { HF_ENDPOINT: "http://127.0.0.1:9" }

/** No worker can be reached, whatever the environment of the tests has. */
const noKeys = Object.fromEntries(
  [
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENROUTER_API_KEY",
    "VLLM_BASE_URL",
    "TINKER_PRICES",
    "TINKER_SPEED",
    "DIVISI_WORKER_PRICES"
  ].map((name) => [name, ""])
)

const open = ["deepseek-r1-distill-qwen-32b", "gemma-3-27b-it", "qwen3-32b-thinking", "qwen3-32b"]

interface Setting {
  readonly left?: ReadonlyArray<string> | undefined
  readonly json?: boolean | undefined
  readonly environment?: Readonly<Record<string, string>> | undefined
}

const estimate = ({ environment = {}, json = false, left = [] }: Setting = {}) =>
  inFolder(async (cwd) => {
    const data = path.join(cwd, "data")
    fs.mkdirSync(data)
    for (const [name, from] of Object.entries(files)) {
      if (!left.includes(name)) fs.copyFileSync(path.join(fixtures, from), path.join(data, name))
    }
    const args = ["train", "--recipe", "paper", "--engine", "tinker", "--dry-run", ...(json ? ["--json"] : [])]
    const ended = await divisi(args, {
      cwd,
      environment: { ...noKeys, ...offline, TINKER_TOKENIZER: tokenizer, DIVISI_BENCHMARKS: data, ...environment }
    })
    assert.deepStrictEqual(fs.readdirSync(cwd), ["data"])
    return ended
  })

describe.concurrent("divisi train --recipe paper --dry-run", () => {
  it("says what is known of the cost, and what is not, where there are neither keys nor a server", async () => {
    const { code, errors, output } = await estimate()
    assert.deepStrictEqual([code, errors], [0, ""])
    assert.match(output, /^phases {5}conductor: 200 iterations of 4 questions with 64 rollouts each\n/)
    assert.include(output, "\ncost       incomplete: see below\n")
    assert.match(output, /\n {2}workers {2}\$[\d.]+ \(\$[\d.]+ to \$[\d.]+\) for \d+% of the calls;/)
    assert.include(output, "\n  engine   unknown\n")
    assert.match(output, /\ntime {7}unknown; at least the workers' [\d,]+ h \(/)
    for (const id of open) assert.include(output, `The price of ${id} is unknown`)
    for (const text of ["No API key is set", "Assuming that the median answer has 700 tokens"]) {
      assert.include(output, text)
    }
    assert.notInclude(output, "The problems of")
    assert.notInclude(output, "four characters")
  })

  it("is complete once every price and the server's speed are given", async () => {
    const { output } = await estimate({
      json: true,
      environment: {
        TINKER_PRICES: "0.1,0.3,0.4",
        TINKER_SPEED: "2000,8000",
        DIVISI_WORKER_PRICES: open.map((id) => `${id}=0.1/0.3`).join(",")
      }
    })
    const { costUsd, missing, seconds, unpriced, workerSeconds } = JSON.parse(output)
    assert.deepStrictEqual(unpriced, [])
    assert.isAbove(costUsd.engine.low, 0)
    assert.isAbove(costUsd.total.high, costUsd.total.low)
    assert.isAbove(seconds.median, workerSeconds.low)
    assert.isFalse(missing.some((sentence: string) => /price|quick/.test(sentence)))
  })

  it("uses the available problems and tokenizer, and reports it", async () => {
    const { code, output } = await estimate({ left: ["rlpr.jsonl"], environment: { TINKER_TOKENIZER: "" } })
    assert.strictEqual(code, 0)
    assert.include(output, "The problems of rlpr are not counted; the other benchmarks are used instead: ")
    assert.include(output, "Tokens are counted as four characters: ")
  })

  it("counts the workers that a run would have, where there is a key", async () => {
    const { output } = await estimate({ environment: { OPENAI_API_KEY: "sk-none" } })
    assert.include(output, "Left out of the paper's pool: qwen3-32b needs ")
    assert.notInclude(output, "No API key is set")
    assert.notInclude(output, "The price of qwen3-32b is unknown")
  })

  for (const [setting, value, message] of [
    ["TINKER_PRICES", "0.1", "expected three prices"],
    ["DIVISI_WORKER_PRICES", "qwen3-32b=cheap", "qwen3-32b=0.1/0.3"],
    ["DIVISI_WORKER_PRICES", "mine=1/2", "not in the paper's pool"]
  ] as const) {
    it(`refuses ${setting}=${value} in a sentence`, async () => {
      const { code, errors } = await estimate({ environment: { [setting]: value } })
      assert.strictEqual(code, 2)
      assert.include(errors, message)
    })
  }

  it("ends with a sentence where no problem can be had", async () => {
    const { code, errors } = await estimate({ left: Object.keys(files) })
    assert.strictEqual(code, 2)
    assert.include(errors, "Check the connection, or download the file and pass it with")
  })
})
