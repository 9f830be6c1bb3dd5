/** A member of a team that fails is on the last line, also where the run was answered. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { config, divisi } from "./process.ts"

/** Runs a test against a vendor that refuses every key. */
const refusing = async <A>(test: (UPSTREAM: string) => Promise<A>): Promise<A> => {
  const server = createServer((request, response) => {
    request.resume()
    response
      .writeHead(401, { "content-type": "application/json" })
      .end(JSON.stringify({ error: { message: "Incorrect API key provided." } }))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    return await test(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)
  } finally {
    server.close()
  }
}

const run = ["run", "--config", config("team"), "What is it?"]

describe("a team with workers that fail", () => {
  it("says on the last line of a run how many steps failed and why", () =>
    refusing(async (UPSTREAM) => {
      const { code, errors, output } = await divisi(run, { environment: { UPSTREAM } })
      assert.deepStrictEqual([code, output.trim()], [0, "It is 42."])
      const last = errors.trimEnd().split("\n").at(-1)
      assert.match(last ?? "", /answered in .* · 2 steps failed \(keyless: credentials refused; gone: unreachable\)$/)
    }))

  it("says who took steps over", () =>
    refusing(async (UPSTREAM) => {
      const { code, errors } = await divisi(run, { environment: { UPSTREAM, REASSIGN: "next" } })
      assert.strictEqual(code, 0)
      const last = errors.trimEnd().split("\n").at(-1) ?? ""
      assert.match(
        last,
        / steps reassigned \(keyless: credentials refused, taken over by \w+; gone: unreachable, taken over by \w+\)$/
      )
    }))

  it("has them in --json", () =>
    refusing(async (UPSTREAM) => {
      const { output } = await divisi([...run, "--json"], { environment: { UPSTREAM } })
      const { failures, type } = JSON.parse(output.trimEnd().split("\n").at(-1) ?? "")
      assert.strictEqual(type, "run-finished")
      const places = failures.map(({ message: _, runId: __, ...place }: Readonly<Record<string, unknown>>) => place)
      assert.sameDeepMembers(places, [
        { round: 0, step: 0, worker: "keyless", reason: "Authentication" },
        { round: 0, step: 1, worker: "gone", reason: "Network" }
      ])
    }))

  it("says it in a chat", () =>
    refusing(async (UPSTREAM) => {
      const chat = ["chat", "--config", config("team")]
      const { errors, output } = await divisi(chat, { environment: { UPSTREAM }, input: "What is it?\n" })
      assert.strictEqual(output, "It is 42.\n")
      assert.include(errors, "divisi: 2 steps failed (keyless: credentials refused; gone: unreachable)")
    }))

  it("ends at refused credentials if it shall", () =>
    refusing(async (UPSTREAM) => {
      const environment = { UPSTREAM, REASSIGN: "next", ON_AUTHENTICATION_FAILURE: "end" }
      const { code, errors } = await divisi(run, { environment })
      assert.notStrictEqual(code, 0)
      assert.match(errors, /failed in .* · 1 step failed.*\(.*keyless: credentials refused/)
      assert.include(errors, "divisi: check the failed workers with: divisi pool check --pool keyless")
      assert.notInclude(errors, "takes over from keyless")
    }))
})
