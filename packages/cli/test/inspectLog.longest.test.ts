/** Logs that `divisi eval export --to inspect` writes are read by the real inspect_ai, which is installed here. */
import { execFileSync } from "node:child_process"
import { describe, expect, it } from "vitest"
import { evaluated } from "./evaluated.ts"
import { divisi, inFolder } from "./process.ts"
import { hasPython, pythonWith } from "./python.ts"

const script = `
import json, sys
from inspect_ai.log import list_eval_logs, read_eval_log
for info in list_eval_logs(sys.argv[1]):
    log = read_eval_log(info)
    score = log.results.scores[0]
    print(json.dumps({
        "status": log.status, "model": log.eval.model, "samples": len(log.samples),
        "accuracy": score.metrics["accuracy"].value,
        "mean": sum(sample.scores["gym"].as_float() for sample in log.samples) / len(log.samples),
        "input": log.samples[0].input[0].text
    }))
`

describe.skipIf(!hasPython)("logs for inspect_ai", () => {
  it(
    "are read by it, with the same figures",
    () =>
      inFolder(async (cwd) => {
        const report = await evaluated(["eval", "--limit", "12", "--policy", "lexical", "--baselines", "random"], cwd)
        expect((await divisi(["eval", "export", "evaluation", "--to", "inspect", "--out", "logs"], { cwd })).code).toBe(
          0
        )
        const python = pythonWith(cwd, "inspect_ai")
        const output = execFileSync(python, ["-c", script, "logs"], { cwd, encoding: "utf8" })
        const logs = output
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line))
        expect(logs).toHaveLength(2)
        for (const log of logs) {
          const { mean } = report.cells.find(({ policy }) => policy === log.model)!.score
          expect(log).toMatchObject({ status: "success", samples: 12, input: expect.stringMatching(/./) })
          expect(log.accuracy).toBe(mean)
          expect(log.mean).toBeCloseTo(mean!)
        }
      }),
    900_000
  )
})
