/** Calls `divisi key adjust` and `divisi key audit` while a server uses the accounts. */
import os from "node:os"
import { assert, expect } from "vitest"
import { config, divisi, valuesOf } from "./process.ts"

type Environment = Readonly<Record<string, string>>

const by = `${os.userInfo().username}@${os.hostname()}`

export const adjusts = async (environment: Environment): Promise<void> => {
  const key = (...args: ReadonlyArray<string>) => divisi(["key", ...args], { environment })
  const made = valuesOf((await key("make", "alice", "--max-cost-per-day", "0.015", "--json")).output)[0]
  const other = valuesOf((await key("make", "bob", "--json")).output)[0]
  const credit = ["adjust", made.id, "--by=-0.01", "--reason", "reported twice", "--once", "ticket-1", "--json"]
  let using: Promise<ReadonlyArray<number>> | undefined
  const use = async (url: string): Promise<ReadonlyArray<number>> => {
    const ask = async () => {
      const messages = [{ role: "user", content: `Count at ${Math.random()}` }]
      const headers = { authorization: `Bearer ${made.secret}` }
      const body = JSON.stringify({ model: "divisi", messages })
      return (await fetch(`${url}/chat/completions`, { method: "POST", body, headers })).status
    }
    const statuses = [await ask(), await ask()]
    const adjusted = await Promise.all([key(...credit), key(...credit)])
    assert.deepStrictEqual(
      adjusted.map(({ code }) => code),
      [0, 0]
    )
    assert.deepStrictEqual(valuesOf(adjusted[0].output), valuesOf(adjusted[1].output))
    statuses.push(await ask(), await ask())
    await key("adjust", made.id, "--to", "0.5", "--reason", "a vendor's bill")
    await key(...credit)
    return [...statuses, await ask()]
  }
  const served = await divisi(["serve", "--port", "0", "--config", config("quick")], {
    environment,
    onOutput: (output, child) => {
      const url = /http:\/\/127\.0\.0\.1:\d+\/v1/.exec(output)?.[0]
      if (url !== undefined) using ??= use(url).finally(() => child.kill("SIGTERM"))
    }
  })
  assert.isDefined(using, served.errors)
  assert.deepStrictEqual(await using, [200, 429, 200, 429, 429], "paid, spent, once more after the credit, charged")

  const audit = valuesOf((await key("audit", made.id, "--json")).output)[0]
  const line = { at: expect.any(Number), by, key: made.id }
  expect(audit).toMatchObject([
    { ...line, id: "ticket-1", reason: "reported twice", change: { addUsd: -0.01 }, beforeUsd: 0.01, afterUsd: 0 },
    { ...line, reason: "a vendor's bill", change: { setUsd: 0.5 }, beforeUsd: 0.01, afterUsd: 0.5 }
  ])
  assert.deepStrictEqual(
    audit[1].accounts.map(({ afterUsd }: { readonly afterUsd: number }) => afterUsd),
    [0.5, 0.5, 0.5],
    "the day, the month and all time"
  )
  expect((await key("audit", "nothing")).errors).toContain('No key has the id "nothing"')
  expect((await key("audit")).output).toMatch(/-0\.01 +0\.01 +0 +reported twice +ticket-1\n/)
  assert.deepStrictEqual(valuesOf((await key("audit", other.id, "--json")).output), [[]])
  assert.strictEqual(valuesOf((await key("list", "--json")).output)[0][0].spentUsd, 0.5)

  const wrong = async (...args: ReadonlyArray<string>) => {
    const { code, errors } = await key("adjust", ...args)
    assert.strictEqual(code, 2, errors)
    return errors
  }
  const reason = ["--reason", "why"]
  expect(await wrong("nothing", "--by", "1", ...reason)).toContain('No key has the id "nothing"')
  expect(await wrong(made.id, ...reason)).toContain("Pass either --by or --to")
  expect(await wrong(made.id, "--by", "1", "--to", "1", ...reason)).toContain("Pass either --by or --to")
  expect(await wrong(made.id, "--by", "1")).toContain("--reason")
  expect(await wrong(made.id, "--by", "1", ...reason, "--on", "9999-01-01")).toContain("9999-01-01 is in the future")
  expect(await wrong(made.name, "--by", "1", ...reason)).toContain(`Use the id of the key with this name: ${made.id}`)
  expect(await wrong(made.id, "--by", "1", ...reason, "--on", "2026-02-30")).toContain(
    "Expected a UTC date, such as 2026-11-28"
  )
  expect(await wrong(other.id, "--by=-0.01", ...reason, "--once", "ticket-1")).toContain(
    `An adjustment named "ticket-1" already exists: -0.01 USD for key ${made.id}`
  )
}
