import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import { free } from "@divisi/core/Usage"
import { OpenAiChat, Script, WireServer } from "@divisi/testkit/providers"
import { assert, describe, it } from "@effect/vitest"
import * as Option from "effect/Option"
import * as KnownModels from "../src/vendors/KnownModels.ts"
import * as Prices from "../src/vendors/Prices.ts"
import { divisi } from "./process.ts"

describe("what --price says", () => {
  it("is a price for each worker, or for all whose price is unknown", () => {
    assert.deepStrictEqual(Prices.parse("ollama:qwen3:8b=0, a=b=0.5/1.5"), {
      "ollama:qwen3:8b": free,
      "a=b": { inputPerMillion: 0.5, outputPerMillion: 1.5 }
    })
    assert.deepStrictEqual(Prices.parse("0"), { "*": free })
    for (const wrong of ["", "a", "a=", "=0", "a=-1", "a=1", "a=1/2/3", "a=0,b", "1e9/2"])
      assert.isUndefined(Prices.parse(wrong), wrong)
  })

  it("replaces a price that is known, unless it is for all others", () => {
    const [dear, unknown] = [
      { ...ScriptedWorker.echo("dear"), pricing: { inputPerMillion: 9, outputPerMillion: 9 } },
      {
        ...ScriptedWorker.echo("unknown"),
        pricing: undefined
      }
    ]
    const priced = (text: string) => [dear, unknown].map((worker) => Prices.priced(Prices.parse(text)!)(worker).pricing)
    assert.deepStrictEqual(priced("0"), [dear.pricing, free])
    assert.deepStrictEqual(priced("dear=0"), [free, undefined])
  })

  it("wins over the config", () => {
    const config = { prices: { a: 0, b: { inputPerMillion: 1, outputPerMillion: 2 } } } as const
    assert.deepStrictEqual(Prices.of(config, { price: Option.some(Prices.parse("b=0")!) }), { a: free, b: free })
  })
})

describe("what is known of models by their names", () => {
  it.each([
    ["gpt-5", "openai:gpt-5"],
    ["claude-opus-4-1", "anthropic:claude-opus-4-1"],
    ["gemini-2.5-pro", "google:gemini-2.5-pro"],
    ["qwen3:8b", "ollama:qwen3:8b"],
    ["llama3:8b", "ollama:llama3:8b"],
    ["soup", undefined],
    // Other separators and spellings of vendors.
    ["openai/gpt-5", "openai:gpt-5"],
    ["openai.gpt-5", "openai:gpt-5"],
    ["OpenAI:gpt-5", "openai:gpt-5"],
    ["OpenAI : gpt-5", "openai:gpt-5"],
    ["openai/my-own-model", "openai:my-own-model"],
    ["opnai:gpt-5", "openai:gpt-5"],
    ["opnai/gpt-5", "openai:gpt-5"],
    ["ollama/llama3", "ollama:llama3"],
    ["ollama/llama3:8b", "ollama:llama3:8b"],
    ["ollama_chat/llama3", "ollama:llama3"],
    ["lm_studio/mine", "lm-studio:mine"],
    ["llama.cpp/mine.gguf", "llamacpp:mine.gguf"],
    ["llama-sever:mine", "llama-server:mine"],
    ["gemini/gemini-2.5-pro", "google:gemini-2.5-pro"],
    ["google_genai:gemini-2.5-pro", "google:gemini-2.5-pro"],
    ["models/gemini-2.5-pro", "google:gemini-2.5-pro"],
    ["together_ai/mine", "together:mine"],
    ["deepseek/deepseek-chat", "deepseek:deepseek-chat"],
    // Hosts of several vendors' models.
    ["openrouter/anthropic/claude-sonnet-4.5", "openrouter:anthropic/claude-sonnet-4.5"],
    ["openrouter/deepseek/deepseek-r1:free", "openrouter:deepseek/deepseek-r1:free"],
    ["openai/gpt-oss-120b", "openrouter:openai/gpt-oss-120b"],
    ["meta-llama/llama-3.3-70b-instruct", "openrouter:meta-llama/llama-3.3-70b-instruct"],
    ["hf.co/bartowski/Qwen3-8B-GGUF:Q4_K_M", "ollama:hf.co/bartowski/Qwen3-8B-GGUF:Q4_K_M"],
    ["azure/gpt-5", "openai:gpt-5"],
    ["anthropic.claude-opus-4-1-20250805-v1:0", "anthropic:claude-opus-4-1-20250805"],
    ["bedrock/us.anthropic.claude-opus-4-1-20250805-v1:0", "anthropic:claude-opus-4-1-20250805"],
    ["home/mine", undefined],
    ["home:mine", undefined]
  ])("suggests the model that %s refers to", (name, expected) => {
    assert.strictEqual(KnownModels.fullName(name), expected)
  })

  it("describes models of vendors, and open ones wherever they are", () => {
    assert.match(KnownModels.describe("openai", "gpt-5-mini")!, /cheap/)
    assert.match(KnownModels.describe("openrouter", "anthropic/claude-sonnet-4.5")!, /programming/)
    assert.match(KnownModels.describe("ollama", "qwen3-coder:30b")!, /^Programming/)
    assert.isUndefined(KnownModels.describe("ollama", "mine"))
  })
})

const serve = () =>
  WireServer.start(OpenAiChat.dialect, (_, index) =>
    Script.answer(index === 0 ? 'model_id = [0]\nsubtasks = ["Say it."]\naccess_list = [[]]' : "It is 42.", {
      usage: { inputTokens: 100, outputTokens: 10 }
    })
  )

describe.concurrent("a limit of cost", () => {
  const team = ["--pool", "my-server:worker", "--policy", "my-server:planner", "--max-cost", "0.1", "--config", "none"]

  it("is refused while a price is unknown, with what to type, which is then taken", async () => {
    await using server = await serve()
    const environment = { MY_SERVER_BASE_URL: `${server.url}/v1` }
    const run = (...more: ReadonlyArray<string>) => divisi(["run", "What is it?", ...team, ...more], { environment })
    const refused = await run()
    assert.deepStrictEqual([refused.code, refused.output], [2, ""])
    assert.include(refused.errors, "The cost limit of $0.1 needs prices: the price of my-server:worker is unknown.")
    assert.include(refused.errors, "--price my-server:worker=0.5/1.5 ")
    const planner = await run("--price", "my-server:worker=0.5/1.5")
    assert.include(planner.errors, "the price of my-server:planner is unknown")
    assert.strictEqual(server.exchanges.length, 0)
    const { code, output } = await run("--price", "my-server:worker=0,my-server:planner=5/0", "--json")
    assert.strictEqual(code, 0)
    const { spend } = JSON.parse(output.trim().split("\n").at(-1)!)
    assert.deepInclude(spend, { costUsd: 0.0005, unpricedCalls: 0 })
  })

  it("holds with servers of models on this machine, which cost nothing", async () => {
    await using server = await serve()
    const vllm = ["--pool", "vllm:worker", "--policy", "vllm:planner", "--max-cost", "0.1", "--config", "none"]
    const { code, output } = await divisi(["run", "What is it?", ...vllm], {
      environment: { VLLM_BASE_URL: `${server.url}/v1` }
    })
    assert.strictEqual(code, 0)
    assert.include(output, "It is 42.")
    const elsewhere = await divisi(["run", "What is it?", ...vllm], {
      environment: { VLLM_BASE_URL: "http://gpu.example.org/v1" }
    })
    assert.include(elsewhere.errors, "the price of vllm:worker is unknown")
  })
})

describe.concurrent("a wrong name", () => {
  for (const [args, message] of [
    [["--pool", "gpt-5"], '--pool: unknown worker "gpt-5". Did you mean openai:gpt-5?'],
    [["--pool", "profesor"], '--pool: unknown worker "profesor". Did you mean professor?'],
    [["--price", "profesor=0"], '--price: unknown worker "profesor". Did you mean professor?'],
    [["--price", "cheap"], "Expected a price such as"],
    [["--policy", "lexicl"], 'Unknown policy "lexicl". Did you mean lexical?'],
    [["--policy", "sinlge:0"], 'Unknown policy "sinlge:0". Did you mean single:0?'],
    [["--policy", "bestof:3"], 'Unknown policy "bestof:3". Did you mean best-of:3?'],
    [["--policy", "lexicl:2"], 'Unknown policy "lexicl:2". Did you mean lexical?'],
    [["--policy", "gpt-5-mini"], 'Unknown policy "gpt-5-mini". Did you mean openai:gpt-5-mini?'],
    [["--pool", "openai/gpt-5"], '--pool: unknown worker "openai/gpt-5". Did you mean openai:gpt-5?'],
    [["--policy", "openai/gpt-5"], 'Unknown policy "openai/gpt-5". Did you mean openai:gpt-5?'],
    [["--policy", "openai: gpt-5"], '"openai: gpt-5" is not a model name. Did you mean openai:gpt-5?'],
    [["--pool", "openai:gpt-5 ollama:llama3"], "Did you mean openai:gpt-5,ollama:llama3?"],
    [
      ["--pool", "ollama/llama3:8b"],
      'Unknown vendor "ollama/llama3" in "ollama/llama3:8b". Did you mean ollama:llama3:8b?'
    ],
    [["--pool", "opnai:gpt-5"], "Did you mean openai:gpt-5?"]
  ] as const) {
    it(`is reported with a suggestion: ${args.join(" ")}`, async () => {
      const { code, errors } = await divisi(["run", "Why?", ...args, "--config", "none"])
      assert.strictEqual(code, 2)
      assert.include(errors, message)
    })
  }
})

it("shows a planner what the workers that are named are good at", async () => {
  await using server = await serve()
  await divisi(
    ["run", "What is it?", "--pool", "my-server:qwen3-coder,my-server:mine", "--policy", "my-server:planner"],
    {
      environment: { MY_SERVER_BASE_URL: `${server.url}/v1` }
    }
  )
  const { messages } = server.exchanges[0]!.sent
  const text = messages.map(({ content }) => content).join("\n")
  assert.include(text, "Model 0: Programming: writes and fixes code.")
})
