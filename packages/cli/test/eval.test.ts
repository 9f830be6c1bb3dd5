import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { evaluated, samplesIn } from "./evaluated.ts"
import { divisi, inFolder } from "./process.ts"

const small = ["eval", "--limit", "8", "--policy", "single:professor", "--seed", "5"]

describe("divisi eval", () => {
  it("measures policies and baselines in the gym, and leaves a report", () =>
    inFolder(async (cwd) => {
      const args = [...small, "--baselines", "single@courier,best-of:3@professor,single@professor", "--epochs", "2"]
      const { code, errors, output } = await divisi([...args, "--transcripts"], { cwd })
      expect(code).toBe(0)
      expect(output).toMatch(/^policy +gym % +cost +steps +time\nsingle:professor +\d/)
      expect(output).toContain("48 samples, $")
      expect(output).toContain("single:professor − best-of:3@professor")
      expect(errors).toContain("48 of 48 samples")
      expect(errors).not.toContain("\u001b")
      const out = path.join(cwd, "evaluation")
      expect(readdirSync(out).sort()).toEqual(
        [
          "answers.sqlite",
          "journal.jsonl",
          "questions.jsonl",
          "report.csv",
          "report.html",
          "report.md",
          "results.json",
          "samples.jsonl",
          "transcripts"
        ].sort()
      )
      expect(readdirSync(path.join(out, "transcripts"))).toHaveLength(48)
      expect(new Set(samplesIn(out).map(({ policy }) => policy)).size).toBe(3)
    }))

  it("stops at its cost limit, and resumes with a higher one", () =>
    inFolder(async (cwd) => {
      const first = await divisi([...small, "--max-cost", "0.02"], { cwd })
      expect(first.code).toBe(3)
      expect(first.output).toContain("run the same command again with a higher limit")
      const out = path.join(cwd, "evaluation")
      const before = samplesIn(out).length
      expect(before).toBeGreaterThan(0)
      expect(before).toBeLessThan(8)
      const report = await evaluated([...small, "--max-cost", "5"], cwd)
      expect(report.extent).toMatchObject({ status: "complete", samples: 8, maxCostUsd: 5 })
      expect(report.config).toMatchObject({ seed: 5, epochs: 1, perQuestion: {} })
    }))

  it("takes questions of one's own, by id, and refuses what was trained on", () =>
    inFolder(async (cwd) => {
      const rows = [1, 2, 3, 4].map((n) => ({ id: `q${n}`, question: `What is ${n} + ${n}?`, answer: 2 * n }))
      writeFileSync(path.join(cwd, "mine.jsonl"), rows.map((row) => JSON.stringify(row)).join("\n"))
      writeFileSync(path.join(cwd, "ids"), "q3\nq1\n")
      writeFileSync(path.join(cwd, "trained.jsonl"), '{"question":"What is 2 + 2?"}\n')
      const mine = ["eval", "--benchmark", "mine.jsonl", "--grader", "integer", "--policy", "single:abacus"]
      const unknown = await divisi(["eval", "--benchmark", "mine.jsonl", "--grader", "nope"], { cwd })
      expect(unknown.code).toBe(2)
      expect(unknown.errors).toMatch(/^divisi: Unknown grader "nope"\. Available: math,/)
      const unused = await divisi(["eval", "--benchmark", "gym", "--grader", "integer"], { cwd })
      expect(unused.errors).toMatch(/^divisi: --grader works only with your own files\./)
      expect(unused.code).toBe(2)
      const parted = await divisi([...mine, "--split", "test"], { cwd })
      expect(parted.errors).toMatch(/^divisi: --split does not work with your own files\./)
      const chosen = await evaluated([...mine, "--ids", "ids", "--out", "chosen"], cwd)
      expect(chosen.benchmarks[0]).toMatchObject({ benchmark: "mine", grader: "integer", available: 4, selected: 2 })
      expect(samplesIn(path.join(cwd, "chosen")).map(({ task }) => task)).toEqual(["q1", "q3"])
      const refused = await divisi([...mine, "--trained", "trained.jsonl"], { cwd })
      expect(refused.code).toBe(2)
      expect(refused.errors).toContain("1 task is in the training data: q2. Remove them with --drop-overlap")
      const left = await evaluated([...mine, "--trained", "trained.jsonl", "--drop-overlap"], cwd)
      expect(left.cells[0]!.score).toMatchObject({ samples: 3, mean: 1 })
    }))

  it("says what is wrong, and leaves nothing behind", () =>
    inFolder(async (cwd) => {
      const wrong = async (...args: ReadonlyArray<string>) => {
        const { code, errors } = await divisi(["eval", ...args], { cwd })
        return { code, errors: errors.trim().split("\n").at(-1) }
      }
      expect(await wrong("--benchmark", "vibes")).toEqual({
        code: 2,
        errors: expect.stringMatching(/^divisi: Unknown benchmark "vibes"\. Available: gym, math500/)
      })
      expect(await wrong("--policy", "psychic")).toEqual({ code: 2, errors: expect.stringContaining('"psychic"') })
      expect(await wrong("--baselines", "best-of:x")).toEqual({ code: 2, errors: expect.stringContaining("best-of:x") })
      expect(await wrong("--benchmark", "no.jsonl")).toEqual({ code: 2, errors: expect.stringContaining("no.jsonl") })
      expect(await wrong("--ids", "none")).toEqual({
        code: 2,
        errors: expect.stringContaining(
          "--ids: the first 100 gym tasks do not include none. Use --limit to search more tasks."
        )
      })
      expect(readdirSync(cwd)).toEqual([])
    }))
})

describe("divisi eval regrade and diff", () => {
  it("grade again without calls, and compare", () =>
    inFolder(async (cwd) => {
      await evaluated([...small, "--out", "before"], cwd)
      await evaluated([...small, "--out", "after"], cwd)
      const regraded = await divisi(["eval", "regrade", "after", "--grader", "letter"], { cwd })
      expect(regraded.code).toBe(0)
      expect(regraded.output).toMatch(/gym-test-\d+, single:professor, answer 1: correct \(by gym\), now wrong/)
      expect(regraded.output).toContain("Regraded 8 answers; ")
      const { code, output } = await divisi(["eval", "diff", "before", "after"], { cwd })
      expect(code).toBe(0)
      expect(output).toContain("8 tasks in both, 0 only in the first, 0 only in the second")
      expect(output).toContain('grader of gym differs: "gym" in the first, "letter" in the second')
      const found = JSON.parse((await divisi(["eval", "diff", "before", "after", "--json"], { cwd })).output)
      expect(found.rows[0].paired.worse).toBeGreaterThan(0)
      const none = await divisi(["eval", "diff", "before", "nowhere"], { cwd })
      expect(none).toMatchObject({ code: 2, output: "" })
      expect(none.errors).toContain("Pass the folder of an evaluation, or its results.json")
    }))
})

describe("divisi eval, from what was recorded", () => {
  it("exports logs of inspect_ai, one for each policy on each benchmark", () =>
    inFolder(async (cwd) => {
      const report = await evaluated([...small, "--samples", "2", "--baselines", "random"], cwd)
      const { code, errors } = await divisi(["eval", "export", "evaluation", "--to", "inspect"], { cwd })
      expect({ code, errors }).toMatchObject({
        code: 0,
        errors: expect.stringContaining("Wrote 2 logs to evaluation/inspect")
      })
      const folder = path.join(cwd, "evaluation/inspect")
      const names = readdirSync(folder)
      expect(names).toHaveLength(2)
      for (const name of names) {
        expect(name).toMatch(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-00-00_gym_[0-9a-f]{16}\.json$/)
        const log = JSON.parse(readFileSync(path.join(folder, name), "utf8"))
        const cell = report.cells.find(({ policy }) => policy === log.eval.model)!
        expect(log).toMatchObject({
          version: 2,
          status: "success",
          eval: {
            task: "gym",
            config: { epochs: 2 },
            dataset: { samples: 8 },
            created: expect.stringContaining("+00:00")
          },
          results: { scores: [{ scorer: "gym", metrics: { accuracy: { value: cell.score.mean } } }] }
        })
        expect(log.samples).toHaveLength(16)
        for (const sample of log.samples) {
          expect(sample.input[0]).toMatchObject({ role: "user", content: expect.stringMatching(/./) })
          expect(sample.target).not.toBe("")
          expect([0, 1]).toContain(sample.scores.gym.value)
          expect([1, 2]).toContain(sample.epoch)
        }
        expect(new Set(log.samples.map(({ uuid }: { readonly uuid: string }) => uuid)).size).toBe(16)
      }
    }))
})
