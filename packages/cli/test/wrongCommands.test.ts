/** Wrong command lines, each with its message: what is wrong, and what to do. */
import { once } from "node:events"
import fs from "node:fs"
import net from "node:net"
import path from "node:path"
import { assert, describe, it } from "vitest"
import { divisi, inFolder } from "./process.ts"

const rows: ReadonlyArray<readonly [command: string, message: string | RegExp]> = [
  ["run 2+2 --max-cost abc", 'flag --max-cost: "abc". Expected an amount in USD of at least 0, such as 0.50.'],
  ["run 2+2 --max-cost 5EUR", 'flag --max-cost: "5EUR". Expected an amount in USD of at least 0, such as 0.50.'],
  ["run 2+2 --max-cost -1", "Expected an amount in USD of at least 0"],
  ["run 2+2 --max-cost 1 --max-cost 2", "--max-cost was passed 2 times. Pass it once."],
  ["run 2+2 --max-steps 1.5", 'flag --max-steps: "1.5". Expected a whole number.'],
  ["run 2+2 --seed 99999999999999999999", "Expected a whole number up to 9007199254740991."],
  ["gym sample --count 1e9", 'flag --count: "1000000000". Expected a whole number from 1 to 1000000.'],
  ["gym solve --tasks 1000000 --policy nobody", 'Unknown policy "nobody".'],
  ["eval --ids add", "--ids: the first 100 gym tasks do not include add."],
  ["eval --limit 1000001", "Expected a whole number from 1 to 1000000."],
  ["train --recipe toy --dry-run --iterations 1e12", "Expected a whole number from 1 to 1000000."],
  ["train --recipe toy --base-model x", "The toy recipe does not use --base-model."],
  ["run 2+2 --max-steps x", 'flag --max-steps: "x". Expected a whole number.'],
  ["run 2+2 --seed x", 'flag --seed: "x". Expected a whole number.'],
  ["serve --port x", 'flag --port: "x". Expected a whole number.'],
  ["eval --temperature x", 'flag --temperature: "x". Expected a number.'],
  ["eval --data x.jsonl", "Unknown flag --data. Did you mean --benchmark?"],
  ["eval --file x.jsonl", "Unknown flag --file. Did you mean --benchmark?"],
  [
    "pool record --questions x.jsonl",
    "Unknown flag --questions. It is an argument: pass its value without --questions."
  ],
  ["runs show --ids x", /^divisi: Unknown flag --ids\./],
  ["run 2+2 --timeout 5x", "Expected a duration such as 500ms, 30s, 2m or 1h."],
  ["run 2+2 --timeout -1s", /^divisi: Missing value for flag --timeout\. [^\n]*\nUsage: /],
  [
    "run 2+2 --pool openai:gpt-6.1-sol, ollama:qwen3:8b",
    'Invalid value for flag --pool: "openai:gpt-6.1-sol,". Expected names separated by commas, without spaces and without a comma at the end.'
  ],
  ["run 2+2 --polcy x", /^divisi: Unknown flag --polcy\. Did you mean --policy\?\nUsage: /],
  ["run 2+2 --json --quiet", "Use either --json or --quiet."],
  ["run --file missing.txt", "Cannot read the question from missing.txt: the file does not exist."],
  ["run --file .", "Cannot read the question from .: it is a folder."],
  ["run 2+2 --journal .", "Cannot write the journal: . is a folder."],
  ["run 2+2 --transcript nope/x.json", /Cannot write the transcript: the folder \S+nope does not exist\.\n/],
  ["run 2+2 --dry-run --transcript t.json", "--transcript has no effect with --dry-run. Remove one of them."],
  ["run 2+2 --no-tools --tool x", "--tool has no effect with --no-tools. Remove one of them."],
  ["eval --shots-from x.jsonl", "--shots-from has no effect without --shots. Add --shots, or remove --shots-from."],
  ["eval --drop-overlap", "--drop-overlap has no effect without --trained."],
  ["learn --evolve gym --max-cost 1", "--evolve has no effect without --head."],
  ["learn --head --max-cost 1", "--max-cost has no effect without --evolve."],
  ["eval --benchmark mth500 --policy lexicl", 'Unknown policy "lexicl". Did you mean lexical?'],
  ["eval --benchmark mth500", 'Unknown benchmark "mth500". Did you mean math500?'],
  ["eval --benchmark x.jsonl --grader maths", 'Unknown grader "maths". Did you mean math?'],
  ["grade --gold 1 --answer 1 --grader maths", 'Unknown grader "maths". Did you mean math?'],
  ["train --recipe tpy", 'Unknown recipe "tpy". Did you mean toy?'],
  ["train resume runs/none", '"runs/none" does not exist. Start a training run with: divisi train --recipe <name>'],
  ["init --models opnai:gpt-5", /^divisi: --models: unknown model "opnai:gpt-5"\. Did you mean openai:gpt-5\?/],
  [
    "run 2+2 --policy single:abcus",
    'Policy "single:abcus": the pool has no worker "abcus". Did you mean single:abacus?'
  ],
  ["run 2+2 --check form=schma:x.json", '--check form: unknown check "schma:x.json". Did you mean schema:x.json?'],
  ["runs fork x --at 0.0 --journal j.sqlite", "j.sqlite does not exist. Check the path."],
  ["runs compare x --journal j.sqlite", "j.sqlite does not exist. Check the path."],
  ["runs resume x --journal j.sqlite", "j.sqlite does not exist. Check the path."],
  ["runs delete x --journal j.sqlite", "j.sqlite does not exist. Check the path."],
  ["runs report --journal j.sqlite", "No runs found."],
  [
    "studio --journal j.sqlite --export out.html",
    "Nothing to export: no runs, evaluations or training runs were found."
  ],
  ["studio missing.json", "missing.json does not exist."],
  ["replay missing.json", "Cannot read the run from missing.json"],
  ["learn", "No rated runs yet."],
  [
    "runs list",
    "Subcommands: show, resume, fork, compare, report, delete, purge. To list durable runs, use divisi runs without a subcommand."
  ],
  ["runs show x --journal j.sqlite", /Run x not found: \S+j\.sqlite does not exist\. Check the path\.\n/],
  ["runs delete", "Pass run ids"],
  ["replay .", "Cannot read the run from .: it is a folder."],
  ["workflow draw", "Subcommands: "],
  ["cluster clean --help", 'Unknown subcommand "clean" of divisi cluster.'],
  ["halp --help", 'Unknown subcommand "halp".'],
  ["eval --since 2025-13-01 --benchmark livecodebench-v6", "Expected a date such as 2025-01-31."],
  ["gym --policy x", /^divisi: Unknown flag --policy\.\nUsage: /],
  ["studio --port 99999", 'flag --port: "99999". Expected a port from 0 to 65535.'],
  [
    "serve --print-config x",
    'flag --print-config: "x". Expected one of "codex", "claude-code", "opencode", "continue", '
  ],
  ["serve --port -5", 'flag --port: "-5". Expected a port from 0 to 65535.'],
  ["key revoke x --keys k.json", /List keys with: divisi key list --keys \S+k\.json\n/],
  ["key make \u2003 --keys k.json", "Expected 1 to 200 characters, not only spaces"],
  ["serve --keys k.json", "The key file k.json does not exist. Create it with: divisi key make <name> --keys k.json"],
  ["serve --database postgres://u@127.0.0.1:1/x --keys k.json", "--keys cannot be combined with --database"],
  ["serve --database postgres://u@127.0.0.1:1/x --journal j", "--journal cannot be combined with --database"],
  [
    "serve --database mysql://x",
    "The database at the given URL cannot be used: the URL must have the form postgres://"
  ],
  ["cluster submit hi --database mysql://x", "The database at the given URL cannot be used"],
  ["models inspect x", '"x" is not a known model. Use the path of a .gguf file'],
  ["frobnicate", 'Unknown subcommand "frobnicate".'],
  ["rnu", "Did you mean run or runs?"]
]

describe("a wrong command line", { concurrent: true }, () => {
  it.each(rows)("%s", (command, message) =>
    inFolder(async (cwd) => {
      const environment = { DIVISI_OUTCOMES: "none", XDG_DATA_HOME: cwd }
      const ended = await divisi(command.split(" "), { cwd, environment })
      assert.strictEqual(ended.code, 2, ended.errors)
      if (typeof message === "string") assert.include(ended.errors, message)
      else assert.match(ended.errors, message)
      assert.notMatch(ended.errors, /^ +at |unexpected error|string representing|occurrences/m)
      assert.deepStrictEqual(fs.readdirSync(cwd), [])
    })
  )
})

describe("a command for a stored run", () => {
  const config = `export default { pool: ["parrot:large", "parrot:small"].map((id) => ({ id, generate: () => {
    throw new Error("unused")
  } })), policy: "single:0" }`

  const files: Readonly<Record<string, string>> = {
    "parrots.config.mjs": config,
    "servers.config.mjs": 'export default { mcpServers: { a: { cmd: "x" } } }',
    "broken.json": '{"version"',
    "policy.config.mjs": 'export default { policy: "lexcal" }',
    "typo.schema.json": '{"type":"objct"}',
    "other.json": "{}"
  }

  const rows: ReadonlyArray<readonly [command: string, message: string]> = [
    ["runs fork gym --at 0.0 --worker nobody --journal j.sqlite", '--worker: unknown worker "nobody". Use one of '],
    ["runs fork gym --at 0.0 --worker abakus --journal j.sqlite", "Did you mean abacus?"],
    ["runs fork gym --at 1.0 --journal j.sqlite", "has no step 0 in round 1; it has only round 0."],
    ["runs fork refused --at 0.0 --journal j.sqlite", "has no step 0 in round 0; this round has no steps."],
    ["run 2+2 --config parrots.config.mjs --pool parrot:nope", "Workers: parrot:large, parrot:small."],
    ["run 2+2 --config servers.config.mjs", "did you mean mcpServers.a.command?"],
    ["run 2+2 --config policy.config.mjs", 'policy.config.mjs: unknown policy "lexcal". Did you mean lexical?'],
    ["run 2+2 --check form=schema:typo.schema.json", "cannot use the schema typo.schema.json: "],
    ["run 2+2 --check a=grader --check a=grader", '--check: two checks have the name "a".'],
    ["replay broken.json", "broken.json is not a run transcript or event file. It may be truncated."],
    ["studio broken.json --export out.html", "broken.json is not a run transcript or event file. It may be truncated."],
    ["studio other.json", "other.json is not a run transcript or event file."]
  ]

  it("is rejected with its own problem", () =>
    inFolder(async (cwd) => {
      for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(cwd, name), text)
      const run = (command: ReadonlyArray<string>) => divisi(command, { cwd, environment: { DIVISI_OUTCOMES: "none" } })
      await run(["run", "2+2", "--journal", "j.sqlite", "--run-id", "gym"])
      await run(["run", "What is the capital of France?", "--journal", "j.sqlite", "--run-id", "refused"])
      await run(["run", "How many copper kettles are in stock?", "--journal", "j.sqlite", "--run-id", "stock"])
      assert.strictEqual((await run(["runs", "resume", "stock", "--journal", "j.sqlite"])).code, 0)
      assert.match((await run(["runs", "--journal", "j.sqlite"])).output, /^gym +answered .* play money/m)
      for (const [command, message] of rows) {
        const { code, errors } = await run(command.split(" "))
        assert.deepStrictEqual([code, errors.includes(message)], [2, true], `${command}: ${errors}`)
      }
    }))

  it("names the port of a studio that is in use", () =>
    inFolder(async (cwd) => {
      const server = net.createServer().listen(0, "127.0.0.1")
      await once(server, "listening")
      const { port } = server.address() as net.AddressInfo
      const { code, errors } = await divisi(["studio", ".", "--port", `${port}`], { cwd })
      server.close()
      assert.deepStrictEqual(
        [code, errors],
        [1, `divisi: Port ${port} is in use. Choose another port (0 for any free port).\n`]
      )
    }))
})

describe("a hint", () => {
  it("repeats the file of keys", () =>
    inFolder(async (cwd) => {
      const { output } = await divisi(["key", "list", "--keys", "my keys.json"], { cwd })
      assert.include(output, "Create one with: divisi key make <name> --keys 'my keys.json'\n")
    }))

  it("repeats the journal, which stores a run without --durable", () =>
    inFolder(async (cwd) => {
      const journal = path.join(cwd, "runs.sqlite")
      const empty = await divisi(["runs", "--journal", journal], { cwd })
      assert.include(empty.output, `Store a run with: divisi run --durable --journal ${journal}\n`)
      await divisi(["run", "2+2", "--journal", journal], { cwd, environment: { DIVISI_OUTCOMES: "none" } })
      assert.isTrue(fs.existsSync(journal))
      assert.include((await divisi(["runs", "--journal", journal], { cwd })).output, "answered")
    }))
})

describe("a config in UTF-16", () => {
  const source = "export default { maxSteps: 0 as number }\n"
  it.each([
    ["typescript.ts", source],
    ["module.mjs", source.replace(" as number", "")],
    ["common.cts", source.replace("export default", "module.exports =")]
  ])("%s is read", (name, text) =>
    inFolder(async (cwd) => {
      fs.writeFileSync(path.join(cwd, name), Buffer.from(`\ufeff${text}`, "utf16le"))
      const { code, errors } = await divisi(["run", "2+2", "--config", name], { cwd })
      assert.strictEqual(code, 2, errors)
      assert.include(errors, `${name}: maxSteps: `)
    })
  )
})
