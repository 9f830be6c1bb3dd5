/** An evaluation that is killed again and again ends with the results of one that was not, and pays no call twice. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import fs from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { inFolder } from "./process.ts"

const script = fileURLToPath(new URL("fixtures/killable.ts", import.meta.url))

/** Runs it to its end, or kills it once it says that so many samples are there. */
const evaluate = async (at: string, calls: string, killAt = Number.POSITIVE_INFINITY) => {
  const child = spawn(process.execPath, ["--conditions=@divisi/source", script, at, calls], {
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

/** The keys of the answers that were paid for, by the whole lines of the journal. */
const paidFor = (at: string): ReadonlyArray<string> =>
  fs
    .readFileSync(path.join(at, "journal.jsonl"), "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line))
    .flatMap((line) => (line.type === "paid" && line.answered !== undefined ? [line.answered.key] : []))

const bytes = (at: string, name: string) => fs.readFileSync(path.join(at, name), "utf8")

describe("kill -9 in the middle of 1,000 samples", () => {
  it("changes no result, and no answer that was kept is paid for again", () =>
    inFolder(async (folder) => {
      const [whole, killed] = [path.join(folder, "whole"), path.join(folder, "killed")]
      const calls = { whole: path.join(folder, "calls of whole"), killed: path.join(folder, "calls of killed") }

      expect((await evaluate(whole, calls.whole)).code).toBe(0)
      const all = paidFor(whole).length
      expect(answered(calls.whole)).toBe(all)

      let before = 0
      for (const killAt of [150, 400, 401, 850]) {
        const { signal } = await evaluate(killed, calls.killed, killAt)
        expect(signal).toBe("SIGKILL")
        // A line that was being written.
        fs.appendFileSync(path.join(killed, "journal.jsonl"), '{"type":"sample","sample":{"bench')
        const now = paidFor(killed).length
        expect(now).toBeGreaterThanOrEqual(before)
        expect(now).toBeLessThan(all)
        // At most those that were under way when it was killed: eight runs of up to three calls at once.
        expect(answered(calls.killed) - (now - before)).toBeLessThanOrEqual(24)
        fs.writeFileSync(calls.killed, "")
        before = now
      }
      const { code, first } = await evaluate(killed, calls.killed)
      expect(code).toBe(0)
      expect(first).toBeGreaterThanOrEqual(850)
      expect(answered(calls.killed)).toBe(all - before)
      expect(paidFor(killed)).toHaveLength(all)
      expect(new Set(paidFor(killed)).size).toBe(all)

      expect(bytes(killed, "samples.jsonl").split("\n")).toHaveLength(1001)
      expect(bytes(killed, "samples.jsonl")).toBe(bytes(whole, "samples.jsonl"))
      expect(bytes(killed, "results.json")).toBe(bytes(whole, "results.json"))
    }))
})
