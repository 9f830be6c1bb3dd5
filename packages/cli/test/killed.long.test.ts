/** An evaluation that is killed again and again ends with the results of one that was not, and pays no call twice. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import fs from "node:fs"
import path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { inFolder } from "./process.ts"

/** `KILLED_SAMPLES=1000 npm run test:long -- packages/cli/test/killed.long.test.ts` is the long version. */
const samples = Number(process.env.KILLED_SAMPLES ?? 300)

const script = fileURLToPath(new URL("fixtures/killable.ts", import.meta.url))

/** Runs it to its end, or kills it once it says that so many samples are there. */
const evaluate = async (at: string, calls: string, killAt = Number.POSITIVE_INFINITY) => {
  const child = spawn(process.execPath, ["--conditions=@divisi/source", script, at, calls, `${samples / 10}`], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  let first: number | undefined
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = text.trim().split("\n").map(Number)
    first ??= lines[0]
    if (lines.at(-1)! >= killAt) child.kill("SIGKILL")
  })
  const [code, signal] = await once(child, "close")
  return { code, signal, first: first ?? 0 }
}

const answered = (calls: string) =>
  fs.existsSync(calls) ? fs.readFileSync(calls, "utf8").trim().split("\n").length : 0

/** Returns the number of answers stored permanently; those of active runs are next to them. */
const kept = (at: string): number => {
  const store = new DatabaseSync(path.join(at, "answers.sqlite"), { readOnly: true })
  try {
    return Number(store.prepare("SELECT count(*) AS kept FROM answers").get()?.kept)
  } finally {
    store.close()
  }
}

const bytes = (at: string, name: string) => fs.readFileSync(path.join(at, name), "utf8")

/** The report, and apart from it what was paid. */
const results = (at: string) => {
  const { extent, sha256: _, ...report } = JSON.parse(bytes(at, "results.json"))
  const { paidUsd, ...rest } = extent
  return { paidUsd: paidUsd as number, rest: { ...report, extent: rest } }
}

describe(`kill -9 in the middle of ${samples} samples`, () => {
  it("changes no result, and pays for no stored answer again", () =>
    inFolder(async (folder) => {
      const [whole, killed] = [path.join(folder, "whole"), path.join(folder, "killed")]
      const calls = { whole: path.join(folder, "calls of whole"), killed: path.join(folder, "calls of killed") }

      expect((await evaluate(whole, calls.whole)).code).toBe(0)
      const all = kept(whole)
      expect(answered(calls.whole)).toBe(all)

      // At most those that were under way when it was killed: eight runs of up to three calls at once.
      const underWay = 24
      let before = 0
      const kills = [0.15 * samples, 0.4 * samples, 0.4 * samples + 1, 0.85 * samples]
      for (const killAt of kills) {
        const { signal } = await evaluate(killed, calls.killed, killAt)
        expect(signal).toBe("SIGKILL")
        // A line that was being written.
        fs.appendFileSync(path.join(killed, "journal.jsonl"), '{"type":"sample","sample":{"bench')
        const now = kept(killed)
        expect(now).toBeGreaterThanOrEqual(before)
        expect(now).toBeLessThan(all)
        expect(Math.abs(answered(calls.killed) - (now - before))).toBeLessThanOrEqual(underWay)
        fs.writeFileSync(calls.killed, "")
        before = now
      }
      const { code, first } = await evaluate(killed, calls.killed)
      expect(code).toBe(0)
      expect(first).toBeGreaterThanOrEqual(0.85 * samples)
      // No stored answer is requested again, and nothing that active runs already had.
      const asked = answered(calls.killed)
      expect(asked).toBeLessThanOrEqual(all - before)
      expect(asked).toBeGreaterThanOrEqual(all - before - underWay)

      expect(bytes(killed, "samples.jsonl").split("\n")).toHaveLength(samples + 1)
      expect(bytes(killed, "samples.jsonl")).toBe(bytes(whole, "samples.jsonl"))
      const [done, wanted] = [results(killed), results(whole)]
      expect(done.rest).toEqual(wanted.rest)
      // Workers that are free to ask again are not waited for: of what was under way the price may be missing.
      expect(done.paidUsd).toBeLessThanOrEqual(wanted.paidUsd + 1e-9)
      expect(done.paidUsd).toBeGreaterThan((1 - (kills.length * underWay) / all) * wanted.paidUsd)
    }))
})
