/** `divisi serve` reloads its config on SIGHUP, and drops no active request. */
import fs from "node:fs"
import path from "node:path"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { Keys, Models } from "@divisi/server"
import { assert, describe, expect, it } from "@effect/vitest"
import * as Offer from "../src/serve/Offer.ts"
import { divisi, inFolder, valuesOf } from "./process.ts"
import { serving } from "./running.ts"

/** A team of workers that answer with their names, in a separate file; the first of them is slow. */
const teamOf = (...names: ReadonlyArray<string>) => `
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
export const team = ${JSON.stringify(names)}.map((id, at) =>
  ScriptedWorker.make({
    id,
    latencyMillis: at === 0 ? 2_000 : 0,
    replies: () => {
      process.stderr.write(id + " is asked\\n")
      return id + " of ${names.join(" and ")}"
    }
  })
)`

const configOf = (more: string) => `
import { team } from "./team.ts"
export default { pool: team, policy: "single:" + team[0].id, ${more} }`

const ask = async (url: string, model: string, headers: Record<string, string> = {}, more: object = {}) => {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Who?" }], ...more })
  const response = await fetch(`${url}/chat/completions`, { method: "POST", headers, body })
  const text = await response.text()
  return { status: response.status, text, answer: /"content":"([^"]+)"/.exec(text)?.[1] }
}

const modelsOf = async (url: string) => {
  const { data } = await (await fetch(`${url}/models`)).json()
  return data.map(({ id }: { readonly id: string }) => id)
}

describe("divisi serve, reloading its config", () => {
  it("answers by the new one, finishes active requests by the old one, and retains the old one if the new one is invalid", () =>
    inFolder(async (folder) => {
      const file = path.join(folder, "divisi.config.ts")
      const write = (team: ReadonlyArray<string>, more: string) => {
        fs.writeFileSync(path.join(folder, "team.ts"), teamOf(...team))
        fs.writeFileSync(file, configOf(more))
      }
      write(["slow", "quick"], 'serve: { aliases: { "gpt-4o": "worker/quick" } }')
      const { code, output } = await serving(folder, [], async ({ said, tell, url }) => {
        assert.deepStrictEqual(await modelsOf(url), ["divisi", "divisi-fast", "worker/slow", "worker/quick", "gpt-4o"])
        assert.strictEqual((await ask(url, "gpt-4o")).answer, "quick of slow and quick")
        const going = ask(url, "divisi", {}, { stream: true })
        await said("slow is asked")
        write(["other", "new"], 'serve: { aliases: { "gpt-4o": "worker/new", mini: "divisi-fast" }, fast: "new" }')
        tell("SIGHUP")
        await said(/"reloaded","workers":2/)
        assert.deepStrictEqual(await modelsOf(url), [
          ...["divisi", "divisi-fast", "worker/other", "worker/new"],
          ...["gpt-4o", "mini"]
        ])
        assert.strictEqual((await ask(url, "gpt-4o")).answer, "new of other and new")
        assert.strictEqual((await ask(url, "mini")).answer, "new of other and new")
        assert.strictEqual((await ask(url, "worker/quick")).status, 404)
        const { answer, text } = await going
        assert.strictEqual(answer, "slow of slow and quick")
        assert.include(text, "[DONE]")

        fs.writeFileSync(file, configOf('serve: { aliases: { "gpt-4o": "worker/nwe" } }'))
        tell("SIGHUP")
        await said(/"reload-refused".*did you mean worker\/new\?/)
        fs.writeFileSync(file, "export default {")
        tell("SIGHUP")
        await said(/"reload-refused".*Syntax error in .*divisi\.config\.ts/)
        assert.strictEqual((await ask(url, "mini")).answer, "new of other and new")

        fs.writeFileSync(file, configOf("limits: { '*': { concurrency: 2 } }"))
        tell("SIGHUP")
        await said(/"reloaded".*cache, limits, database, content and retention take effect after a restart/)
        assert.strictEqual((await ask(url, "mini")).status, 404)

        // The first key counts from the moment in which it is made.
        const { key, secret } = Keys.make({ name: "alice", limits: {}, models: ["divisi-fast"] }, Date.now())
        fs.writeFileSync(path.join(folder, "keys.json"), JSON.stringify({ version: 1, keys: [key] }))
        assert.strictEqual((await ask(url, "divisi-fast")).status, 401)
        assert.strictEqual((await ask(url, "divisi-fast", { authorization: `Bearer ${secret}` })).status, 200)
        fs.rmSync(path.join(folder, "keys.json"))
        assert.strictEqual((await ask(url, "divisi-fast")).status, 401)
      })
      assert.strictEqual(code, 143)
      const events = valuesOf(output).filter(({ event }) => event !== "request")
      assert.deepStrictEqual(
        events.map(({ event }) => event),
        ["listening", "reloaded", "reload-refused", "reload-refused", "reloaded"]
      )
    }))

  it("does not turn the gym into a team, or a team into the gym", () => {
    const options = { pool: WorkerPool.makeUnsafe([ScriptedWorker.echo("a")]) }
    const gym: Offer.Offer = { options, config: {}, isGym: true }
    assert.isUndefined(Offer.refusal(gym, gym))
    expect(Offer.refusal(gym, { ...gym, isGym: false })).toMatch(/Restart it/)
    expect(Offer.refusal({ ...gym, isGym: false }, gym)).toMatch(/Restart it/)
  })
})

describe("names of models", () => {
  const pool = WorkerPool.makeUnsafe([ScriptedWorker.echo("openai:gpt-5"), ScriptedWorker.echo("local")])

  it("stand for models that there are, and for no others", () => {
    const problem = (aliases: Record<string, string>) => Models.problemOf({ pool, aliases })
    assert.isUndefined(problem({ "gpt-4o": "divisi-fast", mine: "worker/openai:gpt-5" }))
    assert.strictEqual(
      problem({ mine: "openai:gpt-5" }),
      'the alias "mine" points to "openai:gpt-5", which this server does not offer; did you mean worker/openai:gpt-5?'
    )
    expect(problem({ mine: "divisi-fats" })).toMatch(/did you mean divisi-fast\?/)
    expect(problem({ mine: "claude" })).toMatch(/models: divisi, divisi-fast, worker\/openai:gpt-5, worker\/local$/)
    expect(problem({ divisi: "divisi-fast" })).toMatch(/is already the name of a model/)
    expect(problem({ "a:-b": "divisi" })).toMatch(/excludes workers/)
  })

  it("are refused before anything listens, and those of the command line win", async () => {
    const flags = ["serve", "--config", "none", "--port", "0", "--alias", "gpt-4o=divisi-fats"]
    const { code, errors } = await divisi(flags)
    assert.strictEqual(code, 2)
    assert.strictEqual(
      errors,
      'divisi: --alias: the alias "gpt-4o" points to "divisi-fats", which this server does not offer; did you mean divisi-fast?\n'
    )
  })

  it("are shown to a key only where it may use what they stand for", () => {
    const aliases = { mine: "worker/local", others: "worker/openai:gpt-5", team: "divisi" }
    assert.deepStrictEqual(Models.names({ pool, aliases }, ["local"]), [
      ...["divisi", "divisi-fast", "worker/local"],
      ...["mine", "team"]
    ])
  })
})
