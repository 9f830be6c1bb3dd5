/** No text from any source acts on a terminal through any command, and programs read it unchanged. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { Model, TinyModel } from "@divisi/gguf"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { actingIn, hostile } from "./hostile.ts"
import { config, type Ended, inFolder, divisi as run } from "./process.ts"

const ours = ["--config", config("hostile")]

/** Runs a command, which has to show something and nothing that acts; the text that was written. */
const divisi = async (...[args, options]: Parameters<typeof run>): Promise<Ended> => {
  const ended = await run(args, options)
  assert.notStrictEqual(ended.output + ended.errors, "", args.join(" "))
  assert.deepStrictEqual([actingIn(ended.output), actingIn(ended.errors)], [undefined, undefined], args.join(" "))
  return ended
}

/** The same, and all lines of the output are JSON that holds the text as it was. */
const json = async (
  ...[args, options]: Parameters<typeof run>
): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> => {
  const { errors, output } = await divisi(args, options)
  const lines = output.trim().split("\n")
  const values = lines.map((line) => JSON.parse(line))
  const texts = (value: unknown): ReadonlyArray<string> =>
    typeof value === "string"
      ? [value]
      : typeof value === "object" && value !== null
        ? Object.entries(value).flatMap(([key, inner]) => [key, ...texts(inner)])
        : []
  assert.isTrue(
    values.flatMap(texts).some((text) => text.includes(hostile)),
    `${args.join(" ")}\n${errors}`
  )
  return values
}

const completion = `model_id = [0]\nsubtasks = [${JSON.stringify(hostile)}]\naccess_list = [[]]\n`

describe.concurrent("hostile text", () => {
  it("does not act from a run, its replay or its events", () =>
    inFolder(async (cwd) => {
      await divisi(["run", hostile, ...ours, "--transcript", "run.json"], { cwd })
      const events = await json(["run", hostile, ...ours, "--json"], { cwd })
      writeFileSync(path.join(cwd, "events.ndjson"), events.map((event) => JSON.stringify(event)).join("\n"))
      assert.include((await divisi(["replay", "run.json"], { cwd })).output, "answer")
      assert.include((await divisi(["replay", "events.ndjson"], { cwd })).output, "answer")
      writeFileSync(path.join(cwd, "bad.json"), JSON.stringify({ rounds: hostile, [hostile]: 1 }))
      await divisi(["replay", "bad.json"], { cwd })
      await divisi(["replay", hostile], { cwd })
    }))

  it("does not act from the check of a pool", async () => {
    await divisi(["pool", "check", ...ours])
    await json(["pool", "check", "--json", ...ours])
    await divisi(["pool", "check", "--pool", hostile])
  })

  it("does not act from workflows", async () => {
    for (const format of ["text", "mermaid", "dot", "svg"]) {
      const { output } = await divisi(["workflow", "render", "--format", format], { input: completion })
      assert.include(output, "A")
    }
    await divisi(["workflow", "check"], { input: completion })
    await divisi(["workflow", "check"], { input: `model_id = [0]\nsubtasks = [${hostile}` })
    await json(["workflow", "read"], { input: completion })
    await json(["workflow", "read", "--lines"], { input: `${JSON.stringify(completion)}\n` })
  })

  it("does not act from an evaluation, its reports, its export or a comparison", () =>
    inFolder(async (cwd) => {
      const rows = [1, 2].map((n) => ({ id: `q${n}${hostile}`, question: hostile, answer: hostile }))
      writeFileSync(path.join(cwd, "mine.jsonl"), rows.map((row) => JSON.stringify(row)).join("\n"))
      const eval_ = ["eval", "--benchmark", "mine.jsonl", ...ours, "--transcripts", "--out", "one"]
      const first = await divisi(eval_, { cwd })
      assert.include(first.output, "policy", first.errors)
      await json([...eval_, "--json"], { cwd })
      for (const name of ["report.html", "report.md", "report.csv"]) {
        const text = readFileSync(path.join(cwd, "one", name), "utf8").replaceAll("\r\n", "\n")
        assert.isUndefined(actingIn(text), name)
      }
      await divisi(["eval", "regrade", "one", "--benchmark", "mine.jsonl", "--grader", "math"], { cwd })
      await divisi(["eval", "regrade", "one", "--grader", "text", "--json"], { cwd })
      await json(["eval", "export", "one", "--to", "answers"], { cwd })
      assert.include((await divisi(["eval", "diff", "one", "one"], { cwd })).output, "benchmark")
      await json(["eval", "diff", "one", "one", "--json"], { cwd })
      await divisi(["eval", "diff", "one", "one", "--policies", hostile], { cwd })
      await divisi(["eval", "--benchmark", hostile], { cwd })
      await divisi(["eval", "--policy", hostile], { cwd })
    }))

  it("does not act from the gym, a grader, a provider or a wrong invocation", () =>
    inFolder(async (cwd) => {
      await divisi(["gym", "solve", "--tasks", "2", ...ours], { cwd })
      await json(["gym", "solve", "--tasks", "2", "--json", ...ours], { cwd })
      await divisi(["gym", "sample", "--family", hostile], { cwd })
      await divisi(["grade", "--grader", hostile], { cwd })
      await divisi(["grade", "--grader", "text", "--gold", hostile, "--answer", hostile], { cwd })
      const line = `${JSON.stringify({ gold: hostile, answer: hostile })}\n`
      await divisi(["grade", "--grader", "text", "--lines"], { cwd, input: line })
      await divisi(["provider", "new", hostile], { cwd })
      await divisi([hostile], { cwd })
      await divisi(["run", `--${hostile}`], { cwd })
    }))

  it("does not act from local models", () =>
    inFolder(async (cwd) => {
      const model = TinyModel.random({ architecture: "llama", seed: 1, contextLength: 8192 })
      const file = path.join(cwd, `m${hostile}.gguf`)
      await Effect.runPromise(Model.write({ ...model, name: hostile }, file))
      const environment = { DIVISI_MODELS: cwd }
      await divisi(["models", "list"], { environment })
      await json(["models", "list", "--json"], { environment })
      assert.include((await divisi(["models", "inspect", file], { environment })).output, "architecture")
      await json(["models", "inspect", file, "--json"], { environment })
      await divisi(["models", "inspect", hostile], { environment })
    }))

  it("does not act from a training", () =>
    inFolder(async (cwd) => {
      const train = ["train", "--recipe", hostile, "--iterations", "1", ...ours]
      const ended = await divisi([...train, "--out", `runs${hostile}`], { cwd })
      assert.include(ended.output, "Finished", ended.errors)
      await json([...train, "--out", "events", "--json"], { cwd })
      await divisi([...train, "--dry-run"], { cwd })
      await divisi(["train", "--recipe", `${hostile}?`, ...ours], { cwd })
      await divisi(["train", "report", `runs${hostile}`], { cwd })
    }))

  it("does not act from a config that is wrong", () =>
    inFolder(async (cwd) => {
      const text = JSON.stringify(hostile)
      const wrong = {
        threw: `throw new Error(${text})`,
        field: `export default { [${text}]: 1 }`,
        syntax: `export default {\n"${hostile.replaceAll(/[\r\u0085\u2028]/g, "")}" oh }`
      }
      for (const [name, source] of Object.entries(wrong)) {
        const file = path.join(cwd, `${name}${hostile.replaceAll("\r", "")}.mjs`)
        writeFileSync(file, source)
        const { code } = await divisi(["run", "Q", "--config", file], { cwd })
        assert.strictEqual(code, 2, name)
      }
      mkdirSync(path.join(cwd, "none"))
      await divisi(["run", "Q", "--config", hostile], { cwd: path.join(cwd, "none") })
      assert.isEmpty(readdirSync(path.join(cwd, "none")))
    }))
})
