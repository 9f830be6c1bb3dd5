import fs from "node:fs"
import path from "node:path"
import { assert, describe, expect, it } from "@effect/vitest"
import { config, divisi, inFolder, valuesOf } from "./process.ts"

describe("divisi key", () => {
  it("makes keys that a server lets in, shows a secret once, and revokes it while the server runs", () =>
    inFolder(async (folder) => {
      const file = path.join(folder, "keys.json")
      const environment = { DIVISI_KEYS: file, DIVISI_ACCOUNTS: path.join(folder, "accounts.sqlite") }
      const made = await divisi(["key", "make", "alice", "--max-cost-per-day", "0.015"], { environment })
      assert.strictEqual(made.code, 0)
      const secret = made.output.trim()
      expect(secret).toMatch(/^divisi_[0-9A-Za-z]{8}_[0-9A-Za-z]{44}$/)
      assert.notInclude(fs.readFileSync(file, "utf8"), secret.slice(-44))
      const id = secret.split("_")[1]!

      let using: Promise<ReadonlyArray<number>> | undefined
      const use = async (url: string): Promise<ReadonlyArray<number>> => {
        const ask = async (key: string) => {
          const messages = [{ role: "user", content: `Count with ${key.slice(0, 4)} at ${Math.random()}` }]
          const body = JSON.stringify({ model: "divisi", messages })
          const headers = { authorization: `Bearer ${key}` }
          return (await fetch(`${url}/chat/completions`, { method: "POST", body, headers })).status
        }
        const statuses = [await ask("none"), await ask(secret), await ask(secret)]
        await divisi(["key", "change", id, "--max-cost-per-day", "5"], { environment })
        statuses.push(await ask(secret))
        await divisi(["key", "revoke", id], { environment })
        return [...statuses, await ask(secret)]
      }
      const served = await divisi(
        ["serve", "--port", "0", "--config", config("quick"), "--journal", path.join(folder, "runs.sqlite")],
        {
          environment,
          onOutput: (output, child) => {
            const url = /http:\/\/127\.0\.0\.1:\d+\/v1/.exec(output)?.[0]
            if (url !== undefined) using ??= use(url).finally(() => child.kill("SIGTERM"))
          }
        }
      )
      assert.deepStrictEqual(await using, [401, 200, 429, 200, 401], "none, paid, over the limit, changed, revoked")
      assert.notInclude(served.output + served.errors, secret)

      const listed = await divisi(["key", "list", "--json"], { environment })
      assert.notInclude(listed.output, secret.slice(-44))
      expect(valuesOf(listed.output)[0]).toEqual([
        {
          id,
          name: "alice",
          createdAt: expect.any(Number),
          revokedAt: expect.any(Number),
          limits: { dayUsd: 5 },
          spentUsd: 0.02,
          spentTodayUsd: 0.02
        }
      ])
      expect((await divisi(["key", "list"], { environment })).output).toMatch(
        /alice {3}revoked \d{4}-\d\d-\d\d {3}\$0\.02 +5 USD per day \(\$0\.02 today\) /
      )
    }))

  it("changes and removes limits, refuses contradictory and unknown ones, and leaves revoked keys alone", () =>
    inFolder(async (folder) => {
      const environment = { DIVISI_KEYS: path.join(folder, "keys.json") }
      const run = (...args: ReadonlyArray<string>) => divisi(["key", ...args], { environment })
      const made = await run("make", "bob", "--max-cost", "1", "--workers", "a,b", "--expires", "1h", "--json")
      const { secret: _, ...before } = JSON.parse(made.output)
      const { id } = before
      const changed = await run("change", id, "--max-cost-per-day", "2", "--remove", "max-cost,expires", "--json")
      const { expiresAt: __, ...rest } = before
      assert.deepStrictEqual(JSON.parse(changed.output), { ...rest, limits: { dayUsd: 2 } })
      expect((await run("change", id, "--name", "bobby", "--rights", "rate")).output).toMatch(
        /bobby +good +\$0 +2 USD per day \(\$0 today\) +rate +a,b +all\n/
      )
      const refused: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
        [[id], "Nothing to change"],
        [[id, "--remove", "max-costs"], 'unknown limit "max-costs". Did you mean max-cost?'],
        [[id, "--remove", "money"], "Limits are max-cost-per-day, "],
        [[id, "--max-cost", "1", "--remove", "max-cost"], "Pass either --max-cost or --remove max-cost."],
        [[id, "--rights", "admn"], "Did you mean admin?"],
        [["nobody", "--max-cost", "1"], 'No key has the id "nobody"']
      ]
      for (const [args, message] of refused) {
        const { code, errors } = await run("change", ...args)
        assert.strictEqual(code, 2)
        assert.include(errors, message)
      }
      await run("revoke", id)
      expect((await run("change", id, "--max-cost", "1")).errors).toMatch(/was revoked on .* cannot be changed/)
      assert.isNumber(JSON.parse((await run("list", "--json")).output)[0].revokedAt)
    }))

  it("gives rights, shows them, and refuses unknown ones with the one that is meant", () =>
    inFolder(async (folder) => {
      const file = path.join(folder, "keys.json")
      const make = (...flags: ReadonlyArray<string>) => divisi(["key", "make", "ci", "--keys", file, ...flags])
      const wrong = await make("--rights", "rate,admn")
      assert.strictEqual(wrong.code, 2)
      expect(wrong.errors).toContain('--rights: unknown right "admn". Did you mean admin?')
      expect((await make("--rights", "write")).errors).toContain("Available: rate, admin.")
      expect((await make("--workers", "")).errors).toContain("--workers. Expected names separated by commas, got none.")
      assert.isFalse(fs.existsSync(file))
      await make()
      await make("--rights", "rate,admin")
      const [first, second] = valuesOf((await divisi(["key", "list", "--json", "--keys", file])).output)[0]
      assert.deepStrictEqual([first.rights, second.rights], [undefined, ["rate", "admin"]])
      expect((await divisi(["key", "list", "--keys", file])).output).toMatch(
        / none +all +all\n.* rate,admin +all +all\n/
      )
    }))

  it("reads keys of the version before, which have no rights, and refuses those of a later one", () =>
    inFolder(async (folder) => {
      const file = path.join(folder, "keys.json")
      const old = { id: "abcdefgh", name: "old", hash: "0".repeat(64), createdAt: 0, limits: {} }
      fs.writeFileSync(file, JSON.stringify({ version: 1, keys: [old] }))
      await divisi(["key", "make", "new", "--rights", "rate", "--keys", file])
      const { keys, version } = JSON.parse(fs.readFileSync(file, "utf8"))
      assert.strictEqual(version, 2)
      assert.deepStrictEqual([keys[0], keys[1].rights], [old, ["rate"]])
      fs.writeFileSync(file, JSON.stringify({ version: 3, keys: [] }))
      expect((await divisi(["key", "list", "--keys", file])).errors).toMatch(/written by a newer version/)
    }))

  it("says in a line what is wrong with an id or a file", () =>
    inFolder(async (folder) => {
      const file = path.join(folder, "keys.json")
      const unknown = await divisi(["key", "revoke", "nobody", "--keys", file])
      assert.strictEqual(unknown.code, 2)
      expect(unknown.errors).toMatch(/^divisi: No key has the id "nobody"/)
      fs.writeFileSync(file, "{}")
      const foreign = await divisi(["key", "list", "--keys", file])
      assert.strictEqual(foreign.code, 1)
      expect(foreign.errors).toMatch(/keys\.json is not a valid key file/)
    }))
})
