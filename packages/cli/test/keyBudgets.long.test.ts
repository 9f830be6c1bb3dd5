import path from "node:path"
import { DiskAccounts } from "@divisi/files"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { config, divisi, inFolder, valuesOf } from "./process.ts"

describe("the budget of a key", () => {
  it("holds after kill -9: what was in flight counts at its worst", () =>
    inFolder(async (folder) => {
      const environment = {
        DIVISI_KEYS: path.join(folder, "keys.json"),
        DIVISI_ACCOUNTS: path.join(folder, "accounts.sqlite")
      }
      const made = await divisi(["key", "make", "alice", "--max-cost", "0.05"], { environment })
      const headers = { authorization: `Bearer ${made.output.trim()}` }

      const ask = async (url: string, at: number): Promise<number> => {
        const body = JSON.stringify({ model: "divisi", messages: [{ role: "user", content: `Which? ${at}` }] })
        return (await fetch(`${url}/chat/completions`, { method: "POST", body, headers })).status
      }

      /** Serves until `use` is done with it, and then ends it by a signal. */
      const serve = async <A>(name: string, signal: NodeJS.Signals, use: (url: string) => Promise<A>): Promise<A> => {
        let using: Promise<A> | undefined
        const served = await divisi(
          ["serve", "--port", "0", "--config", config(name), "--journal", path.join(folder, "runs.sqlite")],
          {
            environment,
            onOutput: (output, child) => {
              const url = /http:\/\/127\.0\.0\.1:\d+\/v1/.exec(output)?.[0]
              if (url !== undefined) using ??= use(url).finally(() => child.kill(signal))
            }
          }
        )
        if (using === undefined) throw new Error(served.errors)
        return using
      }

      await serve("hangingAtACost", "SIGKILL", async (url) => {
        for (const at of [1, 2, 3]) ask(url, at).catch(() => undefined)
        // A run that has begun has reserved nothing yet, and then nothing of it is in flight.
        const reserved = DiskAccounts.make({ file: environment.DIVISI_ACCOUNTS }).pipe(
          Effect.andThen(({ list }) => list),
          Effect.map((standings) => Math.max(...standings.map(({ open }) => open))),
          Effect.scoped
        )
        while ((await Effect.runPromise(reserved)) < 3) await new Promise((resolve) => setTimeout(resolve, 20))
      })

      const statuses = await serve("quick", "SIGTERM", (url) =>
        Promise.all(Array.from({ length: 20 }, (_, at) => ask(url, at)))
      )
      assert.lengthOf(
        statuses.filter((status) => status === 200),
        2
      )
      const listed = await divisi(["key", "list", "--json"], { environment })
      const [keys] = valuesOf(listed.output) as ReadonlyArray<ReadonlyArray<{ readonly spentUsd: number }>>
      assert.closeTo(keys![0]!.spentUsd, 0.05, 1e-9)
    }))
})
