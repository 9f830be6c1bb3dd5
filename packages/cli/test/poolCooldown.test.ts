/** A vendor that asks all calls to wait: the cooldown in `/health/ready`, in the metrics, in `divisi pool check`. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "vitest"
import { divisi, inFolder } from "./process.ts"
import { type Running, serving } from "./running.ts"

const answer = [
  { choices: [{ index: 0, delta: { content: "It is fine." } }] },
  { choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: { prompt_tokens: 5, completion_tokens: 4 } }
]

const events = [...answer.map((one) => JSON.stringify(one)), "[DONE]"].map((one) => `data: ${one}\n\n`).join("")

interface Vendor extends AsyncDisposable {
  readonly url: string
  isGood: boolean
  /** How many calls have come. */
  calls: number
}

const startVendor = async (): Promise<Vendor> => {
  const server = createServer((request, response) => {
    request.resume()
    vendor.calls += 1
    if (vendor.isGood) {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(events)
      return
    }
    const error = { error: { message: "one request a day", type: "rate_limit_exceeded" } }
    response.writeHead(429, { "content-type": "application/json", "retry-after": "86400" }).end(JSON.stringify(error))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const vendor: Vendor = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    isGood: false,
    calls: 0,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
  return vendor
}

const pool = ["--pool", "my-server:a"]

const ask = async (origin: string): Promise<number> => {
  const body = JSON.stringify({ model: "divisi", messages: [{ role: "user", content: "How is it?" }] })
  const response = await fetch(`${origin}/v1/chat/completions`, { method: "POST", body })
  await response.text()
  return response.status
}

const closedOf = async (origin: string) => (await (await fetch(`${origin}/health/ready`)).json()).closed

const metricsOf = async (origin: string) => (await fetch(`${origin}/metrics`)).text()

describe("a vendor that asks all calls to wait for a day", () => {
  it("is shown with its reason and its next call, gets no further calls, and is open after a reload", () =>
    inFolder(async (cwd) => {
      await using vendor = await startVendor()
      const use = async ({ said, tell, url }: Running) => {
        const { origin } = new URL(url)
        assert.isUndefined(await closedOf(origin))
        assert.notInclude(await metricsOf(origin), "divisi_provider_closed_until_seconds")
        assert.strictEqual(await ask(origin), 429)
        const { calls } = vendor
        assert.strictEqual(await ask(origin), 429)
        assert.strictEqual(vendor.calls, calls)

        const [closed, ...others] = await closedOf(origin)
        assert.isEmpty(others)
        assert.deepInclude(closed, { provider: "my-server", because: "rate-limited" })
        const [, seconds] =
          /divisi_provider_closed_until_seconds\{provider="my-server",because="rate-limited"\} (\d+)\n/.exec(
            await metricsOf(origin)
          ) ?? []
        assert.closeTo(Number(seconds), Date.parse(closed.until) / 1000, 1.1)

        const environment = { MY_SERVER_BASE_URL: vendor.url }
        const check = ["pool", "check", ...pool, "--server", origin]
        const text = await divisi(check, { cwd, environment })
        assert.match(
          text.output,
          /\n⏸ my-server is rate limited: the server has paused calls for [^;\n]+; next attempt at \S+Z\n/
        )
        const { cooldown } = JSON.parse((await divisi([...check, "--json"], { cwd, environment })).output)
        assert.deepInclude(cooldown, { provider: "my-server", because: "rate-limited", by: "server" })
        // The gate waits by the monotonic clock; two readings of the wall clock differ by a millisecond.
        assert.closeTo(Date.parse(cooldown.until), Date.parse(closed.until), 5)
        // A cap of five minutes holds, and not the vendor's day.
        assert.isAtMost(cooldown.millis, 300_000)

        // Cooldowns of providers beyond the pool that is checked are shown as well.
        const other = await divisi(["pool", "check", "--config", "none", "--server", origin, "--json"], {
          cwd
        })
        assert.deepInclude(JSON.parse(other.output.trim().split("\n").at(-1)!), { provider: "my-server" })

        vendor.isGood = true
        assert.strictEqual(await ask(origin), 429)
        tell("SIGHUP")
        await said('"reloaded"')
        assert.isUndefined(await closedOf(origin))
        assert.notInclude(await metricsOf(origin), "divisi_provider_closed_until_seconds")
        assert.strictEqual(await ask(origin), 200)
      }
      const flags = ["--policy", "single:my-server:a", ...pool]
      await serving(cwd, flags, use, { MY_SERVER_BASE_URL: vendor.url })
    }))

  it("is shown by the check itself where no server is asked", () =>
    inFolder(async (cwd) => {
      await using vendor = await startVendor()
      const environment = { MY_SERVER_BASE_URL: vendor.url }
      const { code, output } = await divisi(["pool", "check", ...pool, "--json"], { cwd, environment })
      assert.strictEqual(code, 1)
      assert.deepInclude(JSON.parse(output).cooldown, { because: "rate-limited", by: "vendor", millis: 86_400_000 })
      const text = await divisi(["pool", "check", ...pool], { cwd, environment })
      assert.include(text.output, "⏸ my-server is rate limited: the vendor asked to wait for ")
    }))

  it("is not shown by another server, or by none", () =>
    inFolder(async (cwd) => {
      await using vendor = await startVendor()
      const { origin } = new URL(vendor.url)
      for (const [server, code, words] of [
        [origin, 1, "Cannot reach divisi serve at"],
        ["http://127.0.0.1:9", 1, "Cannot reach divisi serve at"],
        ["ftp://x y", 2, "is not a valid address"]
      ] as const) {
        const ended = await divisi(["pool", "check", "--config", "none", "--server", server], { cwd })
        assert.strictEqual(ended.code, code, ended.errors)
        assert.include(ended.errors, words)
      }
    }))
})
