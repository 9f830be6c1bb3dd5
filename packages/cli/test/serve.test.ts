import { assert, describe, expect, it } from "@effect/vitest"
import * as ClientConfig from "../src/serve/ClientConfig.ts"
import { config, divisi, type Ended, valuesOf } from "./process.ts"

interface Served<A> extends Ended {
  readonly value: A
}

/** Speaks to `divisi serve` while it runs, and stops it with SIGTERM when `use` has ended. */
const served = async <A>(flags: ReadonlyArray<string>, use: (url: string) => Promise<A>): Promise<Served<A>> => {
  let using: Promise<A> | undefined
  const ended = await divisi(["serve", "--port", "0", ...flags], {
    onOutput: (output, child) => {
      const url = /http:\/\/127\.0\.0\.1:\d+\/v1/.exec(output)?.[0]
      if (url === undefined || using !== undefined) return
      using = use(url).finally(() => child.kill("SIGTERM"))
    }
  })
  return { ...ended, value: await using! }
}

const ask = async (url: string, content: string, more: object = {}) => {
  const body = JSON.stringify({ model: "divisi", messages: [{ role: "user", content }], ...more })
  const response = await fetch(`${url}/chat/completions`, { method: "POST", body })
  return { status: response.status, body: await response.text() }
}

const answerIn = (body: string): string => JSON.parse(body).choices[0].message.content

describe("divisi serve", () => {
  it("serves the offline gym without a config, says what to type next, and a line of each request", async () => {
    const { code, errors, output, value } = await served(["--config", "none"], async (url) => {
      const { body, status } = await ask(url, "How many minutes are there in 3 days?")
      return { status, answer: answerIn(body), models: await (await fetch(`${url}/models`)).json() }
    })
    assert.strictEqual(value.status, 200)
    expect(value.answer).toContain("4320")
    expect(value.models.data.map(({ id }: { readonly id: string }) => id).slice(0, 3)).toEqual([
      "divisi",
      "divisi-fast",
      "worker/professor"
    ])
    expect(output).toMatch(/Serving the offline gym.*\n\n {2}curl http:\/\/127\.0\.0\.1:\d+\/v1\/chat\/completions -d /)
    expect(output).toMatch(/\n\d\d:\d\d:\d\d chat divisi 200 stop .+ USD of play money local\n/)
    assert.notInclude(output, "\u001b")
    assert.strictEqual(code, 143)
    assert.isTrue(errors.endsWith("Stopped.\n"), errors)
  })

  it("logs requests as JSON without what was asked or answered, and keeps the limits of all runs together", async () => {
    const flags = ["--config", config("quick"), "--json", "--max-total-cost", "0.015", "--alias", "gpt-4o=divisi"]
    const { output, value } = await served(flags, async (url) => [
      await ask(url, "The secret question", { model: "gpt-4o" }),
      await ask(url, "And again")
    ])
    assert.strictEqual(answerIn(value[0]!.body), "one")
    assert.strictEqual(value[1]!.status, 429)
    assert.strictEqual(JSON.parse(value[1]!.body).error.code, "insufficient_quota")
    const [listening, first, second] = valuesOf(output)
    assert.strictEqual(listening.event, "listening")
    expect(first).toMatchObject({ event: "request", wire: "chat", model: "gpt-4o", status: 200, costUsd: 0.01 })
    expect(second).toMatchObject({ status: 429, ending: "quota" })
    assert.notInclude(output, "secret")
  })

  it("has a worker or a policy for divisi-fast, and suggests a name for an unknown one", async () => {
    const flags = ["--config", "none", "--fast", "router:half"]
    const { value } = await served(flags, (url) => ask(url, "What is 17 times 23?", { model: "divisi-fast" }))
    assert.deepStrictEqual([value.status, answerIn(value.body).includes("391")], [200, true])
    const { code, errors } = await divisi(["serve", "--port", "0", "--config", "none", "--fast", "proffessor"])
    assert.strictEqual(code, 2)
    expect(errors).toMatch(/unknown worker or policy "proffessor"\. Did you mean professor\?/)
    const dial = await divisi(["serve", "--port", "0", "--config", "none", "--fast", "router:hlaf"])
    expect(dial.errors).toMatch(/--fast: policy "router:hlaf": .*half/)
  })

  it("refuses web pages without keys, except those that --allow-origin names", async () => {
    const flags = ["--config", "none", "--keys", "none", "--allow-origin", "http://localhost:3000"]
    const { value } = await served(flags, (url) =>
      Promise.all(
        ["http://localhost:3000", "http://localhost:3001"].map(async (origin) => {
          const { headers, status } = await fetch(`${url}/models`, { headers: { origin } })
          return [status, headers.get("access-control-allow-origin")]
        })
      )
    )
    assert.deepStrictEqual(value, [
      [200, "http://localhost:3000"],
      [403, null]
    ])
    const { code, errors } = await divisi(["serve", "--port", "0", "--config", "none", "--allow-origin", "*"])
    assert.strictEqual(code, 2)
    expect(errors).toContain('--allow-origin: expected an origin such as http://localhost:3000, got "*".')
  })

  it("has policies that a request may name, and suggests a name for an unknown one", async () => {
    const flags = ["--config", "none", "--policies", "router:half, single:professor"]
    const named = { divisi: { policy: "single:professor" } }
    const { value } = await served(flags, (url) => ask(url, "What is 17 times 23?", named))
    assert.deepStrictEqual([value.status, JSON.parse(value.body).divisi.workers], [200, ["professor"]])
    const { code, errors } = await divisi(["serve", "--port", "0", "--config", "none", "--policies", "lexicla"])
    assert.strictEqual(code, 2)
    expect(errors).toMatch(/--policies: Unknown policy "lexicla"\. Did you mean lexical\?/)
  })

  it("finishes running requests before it stops and rejects new ones", async () => {
    let going: ReturnType<typeof ask> | undefined
    let late: ReturnType<typeof ask> | undefined
    const { code, errors } = await divisi(["serve", "--port", "0", "--config", config("patient")], {
      onOutput: (output, child) => {
        const url = /http:\/\/127\.0\.0\.1:\d+\/v1/.exec(output)?.[0]
        if (url !== undefined) going ??= ask(url, "Take your time")
        if (output.includes("asked\n") && !child.killed) child.kill("SIGTERM")
        if (output.includes("waiting for 1 run")) late ??= ask(url!, "One more")
      }
    })
    assert.strictEqual(answerIn((await going!).body), "done")
    assert.strictEqual((await late!).status, 503)
    assert.include(errors, "divisi: waiting for 1 run to finish\n")
    assert.strictEqual(code, 143)
  })

  it("listens on no other address without keys, and reports it in a line", async () => {
    const { code, errors } = await divisi(["serve", "--host", "0.0.0.0", "--port", "0", "--config", "none"])
    assert.strictEqual(code, 1)
    expect(errors).toMatch(/^divisi: Refusing to listen on 0\.0\.0\.0 without API keys/)
  })

  it("prints what clients need, and serves nothing", async () => {
    const { code, output } = await divisi(["serve", "--print-config", "opencode", "--port", "9000"])
    assert.strictEqual(code, 0)
    assert.strictEqual(JSON.parse(output).provider.divisi.options.baseURL, "http://127.0.0.1:9000/v1")
    for (const client of ClientConfig.clients) {
      const text = ClientConfig.textOf(client, "0.0.0.0", 8080)
      assert.include(text, "http://127.0.0.1:8080")
      assert.include(text, "divisi")
    }
  })
})
