import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import path from "node:path"
import type { Report } from "@divisi/evals/Report"
import { describe, expect, it } from "vitest"
import { evaluated, samplesIn } from "./evaluated.ts"
import { divisi, inFolder } from "./process.ts"

const small = ["eval", "--limit", "8", "--policy", "single:professor", "--seed", "5"]

describe("divisi eval", () => {
  it("keeps what is done when it is interrupted", () =>
    inFolder(async (cwd) => {
      const args = ["eval", "--limit", "1000", "--policy", "best-of:5", "--concurrency", "1"]
      const journal = path.join(cwd, "evaluation/journal.jsonl")
      let timer: NodeJS.Timeout | undefined
      const ended = await divisi(args, {
        cwd,
        onOutput: (_, child) => {
          timer ??= setInterval(() => {
            const { size = 0 } = statSync(journal, { throwIfNoEntry: false }) ?? {}
            // Once: a second signal would end the process before it has written anything.
            if (!child.killed && size > 20_000) child.kill("SIGINT")
          }, 5)
        }
      })
      clearInterval(timer)
      expect(ended.code).toBe(130)
      expect(ended.errors).toContain("results so far are in evaluation")
      const report = JSON.parse(readFileSync(path.join(cwd, "evaluation/results.json"), "utf8")) as Report
      expect(report.extent.status).toBe("stopped")
      expect(report.extent.samples).toBeGreaterThan(0)
      expect(samplesIn(path.join(cwd, "evaluation"))).toHaveLength(report.extent.samples)
    }))

  it("asks as the paper does, in other forms and parts of a benchmark, and grades that part again", () =>
    inFolder(async (cwd) => {
      const rows = [1, 2, 3].map((n) => ({ question: `What is ${n} + ${n}?`, answer: `Twice.\n#### ${2 * n}` }))
      writeFileSync(path.join(cwd, "rows.jsonl"), rows.map((row) => JSON.stringify(row)).join("\n"))
      const mine = ["eval", "--benchmark", "gsm8k=rows.jsonl", "--policy", "single:abacus"]
      const paper = await evaluated([...mine, "--paper", "--out", "paper"], cwd)
      expect(paper.benchmarks[0]!.prompt).toBe("gsm8k/tags/1")
      expect(paper.config).toMatchObject({ maxOutputTokens: 4096, temperature: 0.2 })
      const other = await evaluated(
        [...mine, "--temperature", "0.7", "--reasoning", "low", "--samples", "2", "--out", "o"],
        cwd
      )
      expect(other.benchmarks[0]!.prompt).toBe("gsm8k/line/1")
      expect(other.config).toMatchObject({
        epochs: 2,
        temperature: 0.7,
        settings: { reasoning: { type: "effort", effort: "low" } }
      })
      const box = await divisi([...mine, "--format", "box", "--out", "b"], { cwd })
      expect([box.code, box.errors]).toEqual([
        2,
        expect.stringContaining('gsm8k has no format "box". Available: line, tags.')
      ])
      const gym = ["eval", "--limit", "3", "--policy", "lexical", "--split", "validation", "--out", "gym"]
      expect((await evaluated(gym, cwd)).benchmarks[0]!.prompt).toMatch(/^gym\/\d+\/validation$/)
      const regraded = await divisi(["eval", "regrade", "gym"], { cwd })
      expect([regraded.code, regraded.output]).toEqual([
        0,
        expect.stringContaining("Regraded 3 answers; 0 verdicts changed")
      ])
      const none = await divisi(["eval", "--split", "dev"], { cwd })
      expect([none.code, none.errors]).toEqual([
        2,
        expect.stringContaining('Unknown gym split "dev". Available: train')
      ])
    }))
})

describe("divisi eval, from what was recorded", () => {
  it("replays an evaluation without a call, and counts what is not recorded as missing", () =>
    inFolder(async (cwd) => {
      const policies = ["--policy", "lexical", "--baselines", "self-consistency:3,masrouter-light"]
      const args = ["eval", "--limit", "6", "--seed", "5", "--learn-limit", "4", ...policies]
      const first = await evaluated(args, cwd)
      const again = await evaluated([...args, "--offline", "evaluation", "--out", "again"], cwd)
      expect(again.extent).toMatchObject({ status: "complete", samples: 18, paidUsd: 0 })
      const known = (report: Report) => report.cells.map(({ costUsd, policy, score }) => ({ policy, score, costUsd }))
      expect(known(again)).toEqual(known(first))
      const texts = (folder: string) => samplesIn(path.join(cwd, folder)).map(({ answer, score }) => [answer, score])
      expect(texts("again")).toEqual(texts("evaluation"))

      const other = ["eval", "--limit", "6", "--seed", "5", "--policy", "single:courier", "--epochs", "2"]
      const missing = await divisi([...other, "--offline", "evaluation", "--out", "missing", "--json"], { cwd })
      // Without any answer, the evaluation fails, but its report is written.
      expect(missing.code).toBe(1)
      expect((JSON.parse(missing.output) as Report).cells[0]!.score).toMatchObject({ missing: 12, samples: 0 })
      expect(samplesIn(path.join(cwd, "missing")).find((one) => one.missing)?.missing).toMatchObject({
        cause: "harness",
        message: expect.stringContaining("no answer is recorded for")
      })
      const nowhere = await divisi([...args, "--offline", "nowhere"], { cwd })
      expect(nowhere).toMatchObject({
        code: 2,
        errors: expect.stringContaining("nowhere/answers.sqlite does not exist")
      })
      expect(existsSync(path.join(cwd, "nowhere"))).toBe(false)
    }))

  it("exports decisions and answers with the rewards that the evaluation gave", () =>
    inFolder(async (cwd) => {
      await evaluated([...small, "--baselines", "best-of:3@professor", "--transcripts"], cwd)
      const exported = async (...args: ReadonlyArray<string>) => {
        const { code, errors, output } = await divisi(["eval", "export", ...args], { cwd })
        const lines = output.trim() === "" ? [] : output.trim().split("\n")
        return { code, errors, records: lines.map((line) => JSON.parse(line)) }
      }
      const decisions = await exported("evaluation", "--to", "decisions")
      expect(decisions.errors).toContain("16 decisions of 16 runs")
      const samples = samplesIn(path.join(cwd, "evaluation"))
      const right = samples.filter(({ correct }) => correct === true).length
      expect(right).toBeGreaterThan(0)
      expect(decisions.records.filter(({ reward }) => reward === 1)).toHaveLength(right)
      expect(decisions.records[0].completion).toContain("model_id")
      const answers = await exported("evaluation", "--to", "answers", "--out", "answers.jsonl")
      expect(answers).toMatchObject({ code: 0, records: [] })
      const lines = readFileSync(path.join(cwd, "answers.jsonl"), "utf8").trim().split("\n")
      expect(lines).toHaveLength(samples.flatMap(({ steps }) => steps.filter((one) => one.state === "answered")).length)
      expect(JSON.parse(lines[0]!)).toMatchObject({ version: 1, type: "answer", worker: expect.any(String) })
      const ungraded = await exported("evaluation/transcripts", "--to", "answers")
      expect(ungraded).toMatchObject({ code: 2, errors: expect.stringContaining("Choose a grader with --grader") })
      const graded = await exported("evaluation/transcripts", "--to", "decisions", "--grader", "text")
      expect(graded.records).toHaveLength(16)
    }))
})

describe("--profiles", () => {
  it("shows policies what workers were good at, under a name of its own", () =>
    inFolder(async (cwd) => {
      const single = "--baselines=single@abacus,single@professor,single@almanac"
      await evaluated(
        ["eval", "--limit", "30", "--seed", "9", "--policy", "single:courier", single, "--out", "seen"],
        cwd
      )
      const pool = "--pool=courier,abacus,professor,almanac"
      const args = ["eval", "--limit", "20", "--seed", "5", pool, "--policy", "lexical,lexical+profiles"]
      const report = await evaluated([...args, "--profiles", "seen"], cwd)
      const [plain, shown] = report.config.policies.map(({ name }) => name)
      expect(plain).toBe("lexical")
      expect(shown).toMatch(/^lexical\+profiles-[0-9a-f]{6}$/)
      const workers = report.cells.map(({ workers }) => workers)
      expect(workers[0]).not.toEqual(workers[1])
      const shares = await evaluated([...args, "--profiles", "seen/results.json"], cwd)
      expect(shares.config.policies[1]!.name).toBe(shown)
      const run = await divisi(
        [
          "run",
          "How many days pass from 1 March 2031 to 5 April 2031?",
          pool,
          "--policy",
          "lexical+profiles",
          "--profiles",
          "seen"
        ],
        {
          cwd
        }
      )
      expect(run.code).toBe(0)
      const wrong = async (...flags: ReadonlyArray<string>) =>
        (await divisi(["eval", "--limit", "2", ...flags], { cwd })).errors
      expect(await wrong("--policy", "lexical+profiles")).toContain("Pass an evaluation or transcripts with --profiles")
      expect(await wrong("--policy", "moa+profiles", "--profiles", "seen")).toContain("does not support")
      expect(await wrong("--policy", "lexical+profiles", "--profiles", "no")).toContain(
        "Cannot read transcripts from no"
      )
    }))
})
