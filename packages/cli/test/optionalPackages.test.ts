/** Optional packages: without one, a command prints in a line what to install, and does nothing else. */
import fs from "node:fs"
import path from "node:path"
import { assert, describe, it } from "vitest"
import { divisi, inFolder, without } from "./process.ts"

const keys = { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k", GEMINI_API_KEY: "k" }

const vendors = ["@divisi/providers-openai", "@divisi/providers-anthropic", "@divisi/providers-google"]

describe.concurrent("a package that is not installed", () => {
  it("is named for every vendor of a pool at once", () =>
    inFolder(async (folder) => {
      const { code, errors, output } = await divisi(
        ["run", "What is 6 times 7?", "--pool", "openai:gpt-5,anthropic:claude-sonnet-4-6,google:gemini-2.5-pro"],
        { cwd: folder, environment: { ...keys, ...without(...vendors) } }
      )
      assert.deepStrictEqual([code, output], [2, ""])
      for (const vendor of vendors) assert.include(errors, `\`npm install ${vendor}\``)
      assert.strictEqual(errors.trim().split("\n").length, vendors.length)
    }))

  it("is named for servers that speak Chat Completions, for embeddings and for the paper's pool", () =>
    inFolder(async (folder) => {
      const where = { cwd: folder, environment: { ...keys, ...without("@divisi/providers-openai") } }
      const install = /`npm install @divisi\/providers-openai`/
      const server = await divisi(["run", "Hello?", "--pool", "ollama:qwen3:8b"], where)
      const embeddings = ["eval", "--baselines", "routerdc-light", "--embeddings", "openai:text-embedding-3-small"]
      const learned = await divisi([...embeddings, "--limit", "2"], where)
      const paper = await divisi(["run", "Hello?", "--pool", "paper:controlled"], where)
      for (const { errors } of [server, learned, paper]) assert.match(errors, install)
    }))

  it("is named before a benchmark is paid for whose answers only it can judge", () =>
    inFolder(async (folder) => {
      const file = path.join(folder, "rows.jsonl")
      const row = { problem: "What is 6 times 7?", answer: "42", subject: "Algebra", level: 1, unique_id: "one" }
      fs.writeFileSync(file, `${JSON.stringify(row)}\n`)
      const { code, errors } = await divisi(["eval", "--benchmark", `math500=${file}`], {
        cwd: folder,
        environment: without("@cortex-js/compute-engine")
      })
      assert.notStrictEqual(code, 0)
      assert.match(errors, /math500 cannot be graded\. .+`npm install @cortex-js\/compute-engine`/)
    }))

  it("is named for the server", () =>
    inFolder(async (folder) => {
      const { code, errors } = await divisi(["serve"], { cwd: folder, environment: without("@divisi/server") })
      assert.strictEqual(code, 2)
      assert.match(errors, /^divisi: Cannot start the server\. .+`npm install @divisi\/server`/)
    }))

  it("is named for files that only it can read", () =>
    inFolder(async (folder) => {
      const file = path.join(folder, "rows.parquet")
      fs.writeFileSync(file, "PAR1")
      const { code, errors } = await divisi(["eval", "--benchmark", `mmlu=${file}`], {
        cwd: folder,
        environment: without("hyparquet")
      })
      assert.notStrictEqual(code, 0)
      assert.match(errors, /Cannot read \S*rows\.parquet: .+`npm install hyparquet hyparquet-compressors`/)
    }))
})
