import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { divisi, inFolder } from "./process.ts"

const nothing = {
  OPENAI_API_KEY: "",
  ANTHROPIC_API_KEY: "",
  GEMINI_API_KEY: "",
  GOOGLE_API_KEY: "",
  // An address without a listener.
  OLLAMA_BASE_URL: "http://127.0.0.1:9/v1",
  VLLM_BASE_URL: "http://127.0.0.1:9/v1",
  SGLANG_BASE_URL: "http://127.0.0.1:9/v1",
  LLAMA_SERVER_BASE_URL: "http://127.0.0.1:9/v1",
  LM_STUDIO_BASE_URL: "http://127.0.0.1:9/v1"
}

const config = `export default {
  policy: "lexical",
  prices: { loud: { inputPerMillion: 1, outputPerMillion: 2 } },
  pool: [{ id: "loud", description: "Shouts", generate: () => undefined }]
}`

describe.concurrent("divisi pool list", () => {
  it("tells the workers of the config, whose key is set, who answers here and what models cost, and no key", () =>
    inFolder(async (cwd) => {
      writeFileSync(path.join(cwd, "divisi.config.mjs"), config)
      const server = createServer((_, response) => {
        response.end(JSON.stringify({ data: [{ id: "qwen3:8b" }, { id: "nomic-embed-text" }, { id: "\u001b[2J" }, 7] }))
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const ollama = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
      const environment = { ...nothing, OPENAI_API_KEY: "sk-secret-4711", OLLAMA_BASE_URL: ollama }
      try {
        const { code, errors, output } = await divisi(["pool", "list"], { cwd, environment })
        assert.deepStrictEqual([code, errors], [0, ""])
        assert.match(output, /^worker of divisi\.config\.mjs .*\nloud +\$1\.00 \/ \$2\.00 +Shouts\nPolicy: lexical\n/)
        assert.match(output, /\nopenai +✓ OPENAI_API_KEY is set\n/)
        assert.match(output, /\ngoogle +✗ set GEMINI_API_KEY or GOOGLE_API_KEY\n/)
        assert.include(output, `ollama at ${ollama}   ollama:qwen3:8b\n`)
        assert.match(output, /\nopenai:gpt-5 +\$1\.25 \/ \$10\.00 +\d{4}-\d\d-\d\d /)

        const listing = JSON.parse((await divisi(["pool", "list", "--json"], { cwd, environment })).output)
        assert.deepStrictEqual(listing.servers, [{ vendor: "ollama", baseURL: ollama, models: ["qwen3:8b"] }])
        assert.deepInclude(listing.config.workers[0], { id: "loud", description: "Shouts" })
        const openai = listing.vendors.find(({ name }: { readonly name: string }) => name === "openai")
        assert.deepInclude(openai, { keySet: "OPENAI_API_KEY", needsKey: true })
        assert.notInclude(output + JSON.stringify(listing), "4711")
      } finally {
        server.close()
      }
    }))

  it("says where there is neither a config nor a server", () =>
    inFolder(async (cwd) => {
      const { code, output } = await divisi(["pool", "list", "--config", "none"], { cwd, environment: nothing })
      assert.strictEqual(code, 0)
      assert.match(
        output,
        /^There is no config\. Without --pool, the built-in demo workers \(the offline gym\) are used\.\n/
      )
      assert.include(output, "No model server responds on this machine")
    }))
})

describe.concurrent("divisi help", () => {
  it("is the help of the command whose names follow", async () => {
    for (const names of [[], ["pool"], ["train", "export"], ["help"]]) {
      const [help, flag] = await Promise.all([divisi(["help", ...names]), divisi([...names, "--help"])])
      const usageIn = (output: string) => output.slice(output.indexOf("USAGE"), output.indexOf("FLAGS"))
      assert.deepStrictEqual([help.code, usageIn(help.output)], [0, usageIn(flag.output)], names.join(" "))
      assert.isAtLeast(help.output.length, flag.output.length - 200)
    }
  })

  it("runs nothing", async () => {
    const { code, output } = await divisi(["help", "run", "What is 2 + 2?"])
    assert.strictEqual(code, 0)
    assert.include(output, "divisi run [flags]")
  })

  it("names the command that was meant", async () => {
    const { code, errors } = await divisi(["help", "train", "exprt"])
    assert.strictEqual(code, 2)
    assert.match(errors, /Unknown subcommand "exprt"[\s\S]*export/)
  })
})
