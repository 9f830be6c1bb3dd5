import { readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "vitest"
import { divisi, inFolder, valuesOf } from "./process.ts"
import { config, graded, inOwn } from "./ratedPool.ts"

describe.concurrent("divisi rate and divisi learn", () => {
  it("stores ratings of a server's clients in the same log", () =>
    inFolder(async (folder) => {
      writeFileSync(path.join(folder, "divisi.config.mjs"), config)
      const outcomes = path.join(folder, "outcomes.jsonl")
      const environment = { DIVISI_OUTCOMES: outcomes, DIVISI_CONFIG: path.join(folder, "divisi.config.mjs") }
      let rating: Promise<string> | undefined
      const talk = async (url: string) => {
        const messages = [{ role: "user", content: "What is six times seven?" }]
        const body = JSON.stringify({ model: "worker/calculator", messages })
        const asked = await fetch(`${url}/chat/completions`, { method: "POST", body })
        const run = asked.headers.get("x-divisi-run")!
        const said = { method: "POST", body: JSON.stringify({ rating: "up", note: "right" }) }
        assert.strictEqual((await fetch(`${url}/runs/${run}/rating`, said)).status, 200)
        return run
      }
      const flags = ["--port", "0", "--keys", "none", "--journal", path.join(folder, "runs.sqlite")]
      await divisi(["serve", ...flags], {
        environment,
        onOutput: (output, child) => {
          const url = /http:\/\/127\.0\.0\.1:\d+\/v1/.exec(output)?.[0]
          if (url !== undefined) rating ??= talk(url).finally(() => child.kill("SIGTERM"))
        }
      })
      const run = await rating!
      const log = readFileSync(outcomes, "utf8")
      assert.include(log, '"note":"right"')
      assert.notInclude(log, "six")
      assert.include((await divisi(["rate", "down"], { environment })).errors, "No run has been logged yet.")
      const again = valuesOf((await divisi(["rate", "down", run, "--json"], { environment })).output)[0]
      assert.deepInclude(again, { run, worker: "calculator", score: 0 })
    }))

  it("learns from what the graders of an evaluation say", () =>
    inOwn(async (ask, folder) => {
      const rows = graded.filter((_, index) => index % 3 === 0).map((line) => JSON.parse(line))
      const file = path.join(folder, "mine.jsonl")
      const answers = { sums: "42", poems: "The moon!" } as Record<string, string>
      const lines = rows.map(({ kind, question }) => JSON.stringify({ question, answer: answers[kind], subject: kind }))
      writeFileSync(file, `${lines.join("\n")}\n`)
      const flags = ["--grader", "text", "--out", path.join(folder, "evaluation")]
      const policies = ["--policy", "single:calculator,single:poet"]
      const { code, errors } = await ask("eval", "--benchmark", file, ...flags, ...policies)
      assert.strictEqual(code, 0, errors)
      const kept = valuesOf(readFileSync(path.join(folder, "outcomes.jsonl"), "utf8"))
      assert.strictEqual(kept.filter(({ source, type }) => type === "rating" && source === "grader").length, 80)
      const { output } = await ask("learn", "--json")
      assert.include(output, '"questions":40')
      const { output: shown } = await ask("learn", "--show")
      assert.match(shown, /poems.*\* 100/)
      const others = { DIVISI_OUTCOMES: "none", DIVISI_ROUTER: path.join(folder, "other.jsonl") }
      const from = ["learn", "--json", "--from", path.join(folder, "evaluation"), "--config", "none"]
      assert.include((await divisi(from, { environment: others })).output, '"questions":40')
    }))

  it("learns a head, says what it gains over the table, and asks by it where it is named", () =>
    inOwn(async (ask, folder) => {
      const file = path.join(folder, "graded.jsonl")
      writeFileSync(file, `${graded.join("\n")}\n`)
      assert.include((await ask("run", "How much?", "--policy", "head")).errors, "divisi learn --head")
      const { output } = await ask("learn", "--head", "--from", file)
      assert.match(output, /Trained a classifier for 2 workers on 120 questions/)
      // The table is right wherever the head is.
      assert.include(output, "It chooses based on the question. It is not measurably better than the table")
      const events = valuesOf(
        (await ask("run", "Write a ballad on the snow at dusk.", "--policy", "head", "--json")).output
      )
      assert.strictEqual(events.findLast(({ type }) => type === "run-finished").answer, "The moon!")
      const { code, errors } = await ask("learn", "--embeddings", "hashed", "--from", file)
      assert.deepStrictEqual([code, errors.includes("--embeddings has no effect without --head")], [2, true])
      const tasks = path.join(folder, "tasks.jsonl")
      const lines = Array.from({ length: 20 }, (_, at) =>
        JSON.stringify({ question: `Add the number ${at} to ${at + 1}!`, answer: "42" })
      )
      writeFileSync(tasks, `${lines.join("\n")}\n`)
      assert.strictEqual((await ask("learn", "--head", "--from", file, "--evolve", tasks)).code, 2)
      // With nothing to spend it is validated alone, by workers that cost nothing.
      const evolved = await ask("learn", "--head", "--from", file, "--evolve", tasks, "--max-cost", "0", "--price", "0")
      assert.include(evolved.output, "Stored the classifier as trained")
      assert.match(evolved.output, /from 100\.0 to 100\.0% .*Searched 0 generations with 0 runs, for \$0\.00/)
    }))
})
