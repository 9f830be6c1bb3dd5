import { existsSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "vitest"
import { divisi, inFolder, valuesOf } from "./process.ts"

const config = `
import { worker } from "@divisi/core/promise"
export default { pool: [
  worker({ id: "calculator", description: "Sums", answer: () => "42" }),
  worker({ id: "poet", description: "Poems", answer: () => "The moon!" })
] }
`

/** Runs \`divisi\` in a folder with files of its own. */
const inOwn = (
  use: (ask: (...args: ReadonlyArray<string>) => ReturnType<typeof divisi>, folder: string) => Promise<void>
) =>
  inFolder((folder) => {
    writeFileSync(path.join(folder, "divisi.config.mjs"), config)
    const environment = {
      DIVISI_OUTCOMES: path.join(folder, "outcomes.jsonl"),
      DIVISI_ROUTER: path.join(folder, "router.json"),
      DIVISI_HEAD: path.join(folder, "head.json"),
      DIVISI_CONFIG: path.join(folder, "divisi.config.mjs")
    }
    return use((...args) => divisi(args, { environment }), folder)
  })

const forms = ["sonnet", "haiku", "ballad", "limerick", "poem"]
const topics = ["moon", "sea", "rain", "wind", "forest", "city", "river", "snow", "desert", "garden", "road", "star"]
const times = ["night", "dawn", "noon", "dusk", "midnight", "Christmas", "harvest"]

const graded = ["sums", "poems"].flatMap((kind) =>
  Array.from({ length: 60 }, (_, index) =>
    JSON.stringify({
      kind,
      question:
        kind === "sums"
          ? `Add the number ${index} to ${index * 3}.`
          : `Write a ${forms[index % 5]} on the ${topics[index % 12]} at ${times[index % 7]}.`,
      scores: kind === "sums" ? { calculator: 1, poet: 0 } : { calculator: index % 5 === 0 ? 1 : 0, poet: 1 }
    })
  )
)

describe.concurrent("divisi rate and divisi learn", () => {
  it("notes a run without its text, and rates the last one or the one that is named", () =>
    inOwn(async (ask, folder) => {
      assert.strictEqual((await ask("rate", "up")).code, 2)
      await ask("run", "What is six times seven?", "--policy", "single:calculator")
      const rated = valuesOf((await ask("rate", "down", "--json")).output)[0]
      assert.deepInclude(rated, { worker: "calculator", score: 0, source: "user" })
      const again = await ask("rate", "0.75", rated.run.slice(0, 8))
      assert.include(again.output, "calculator: 0.75")
      assert.notInclude(readFileSync(path.join(folder, "outcomes.jsonl"), "utf8"), "six")
      const { errors } = await ask("rate", "up", "no-such-run")
      assert.include(errors, "no-such-run")
      assert.strictEqual((await ask("rate", "7")).code, 2)
    }))

  it("say what a rating teaches, and what is missing before something can be learned", () =>
    inOwn(async (ask) => {
      const question = "What is six times seven?"
      await ask("run", question, "--policy", "moa")
      const planned = await ask("rate", "up")
      assert.match(planned.output, /applies to the team .* as a whole, not to its workers\./)
      const [, run = "", step = ""] = /divisi rate up (\S+) with --step (\S+) \(/.exec(planned.output) ?? []
      const nothing = await ask("learn")
      assert.strictEqual(nothing.code, 2)
      assert.include(nothing.errors, "29 more rated questions needed, out of 30.")
      assert.include(nothing.errors, "Also rate its steps (divisi rate up --step 0.1)")
      const ofStep = await ask("rate", "up", run, "--step", step)
      assert.match(ofStep.output, /The rating counts for (?:calculator|poet) on similar questions\./)
      const alone = await ask("learn")
      assert.strictEqual(alone.code, 0, alone.errors)
      assert.match(
        alone.output,
        /Rated so far: 1 answer by the team .*, 1 answer by|1 answer by .*, 1 answer by the team/
      )
      assert.match(alone.output, /Only answers of (?:calculator|poet) are rated\. Also rate answers of another worker/)
      const asData = JSON.parse((await ask("learn", "--json")).output)
      assert.lengthOf(asData.missing, 3)
    }))

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

  it("rates the last `divisi run`, and neither samples of an evaluation nor offline play", () =>
    inOwn(async (ask, folder) => {
      const file = path.join(folder, "mine.jsonl")
      writeFileSync(file, `${JSON.stringify({ question: "Where does it shine?", answer: "The moon!" })}\n`)
      const flags = ["--grader", "text", "--out", path.join(folder, "evaluation"), "--policy", "single:poet"]
      assert.strictEqual((await ask("eval", "--benchmark", file, ...flags)).code, 0)
      const beforeAny = await ask("rate", "up")
      assert.deepStrictEqual([beforeAny.code, beforeAny.errors.includes("No run has been logged yet.")], [2, true])
      await ask("run", "What is six times seven?", "--policy", "single:calculator")
      await ask("eval", "--benchmark", file, ...flags.with(3, path.join(folder, "another")))
      assert.include((await ask("rate", "up")).output, "answered by calculator: 1")
      await ask("run", "What is 2 + 2?", "--config", "none", "--policy", "single:abacus")
      const afterPlay = await ask("rate", "up")
      assert.deepStrictEqual(
        [afterPlay.code, afterPlay.errors.includes("The last run used the offline gym")],
        [2, true]
      )
    }))

  it("keeps nothing of the gym", () =>
    inFolder(async (folder) => {
      const file = path.join(folder, "outcomes.jsonl")
      await divisi(["run", "What is 2 + 2?", "--config", "none"], { environment: { DIVISI_OUTCOMES: file } })
      assert.isFalse(existsSync(file))
    }))

  it("learns the workers' strengths, routes by them as the default, and reverts", () =>
    inOwn(async (ask, folder) => {
      const file = path.join(folder, "graded.jsonl")
      writeFileSync(file, `${graded.join("\n")}\n`)
      const before = await ask("run", "Write a sonnet on the sea at night.", "--policy", "learned")
      assert.strictEqual(before.code, 2)
      assert.include(before.errors, "divisi learn")
      const { output } = await ask("learn", "--from", file)
      assert.include(output, "It is in use now")
      const picture = path.join(folder, "who.svg")
      const shown = await ask("learn", "--show", "--picture", picture)
      assert.match(shown.output, /sums +\* 100 ± 0 \(\d+\)/)
      assert.include(readFileSync(picture, "utf8"), "calculator")
      const events = valuesOf((await ask("run", "Write a sonnet on the sea at night.", "--json")).output)
      assert.strictEqual(events[0].policy, "router")
      assert.strictEqual(events.findLast(({ type }) => type === "run-finished").answer, "The moon!")
      const again = (await ask("learn", "--from", file)).output
      assert.include(again, "The current table remains in use: it would choose the same workers.")
      assert.include((await ask("learn", "--revert")).output, "No table is in use")
      const { output: records } = await ask("learn", "--show")
      assert.match(records, /ParetoBandit +google\/gemini-2\.5-pro +95\.1 +0\.5/)
      assert.include(records, "https://github.com/ParetoBandit/ParetoBandit/tree/72ccbef (Apache-2.0), read 2026-11-24")
    }))

  it("learns a head, says what it gains over the table, and asks by it where it is named", () =>
    inOwn(async (ask, folder) => {
      const file = path.join(folder, "graded.jsonl")
      writeFileSync(file, `${graded.join("\n")}\n`)
      assert.include((await ask("run", "How much?", "--policy", "head")).errors, "divisi learn --head")
      const { output } = await ask("learn", "--head", "--from", file)
      assert.match(output, /Learned a head of 2 workers from 120 questions/)
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
      assert.include(evolved.output, "Stored the fitted head")
      assert.match(evolved.output, /from 100\.0 to 100\.0 % .* in 0 generations, 0 runs, \$0\.00/)
    }))
})
