/** Whole trainings through the command line, each of several processes. */
import { existsSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { config, divisi, inFolder } from "./process.ts"

const short = ["train", "--recipe", "toy", "--iterations", "3"]

const ours = ["--config", config("recipes")]

/** Returns the metrics that a repeated run reproduces, killed and resumed or not. */
const measured = (folder: string): ReadonlyArray<unknown> =>
  readFileSync(path.join(folder, "metrics.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => {
      const { at: _, criticalPathSeconds: __, seconds: ___, sha256: ____, ...metrics } = JSON.parse(line)
      return metrics
    })

// Each test waits for processes of its own, so they run side by side.
describe.concurrent("divisi train", () => {
  it("trains with plain lines if there is no terminal, and prints the next steps", () =>
    inFolder(async (cwd) => {
      const { code, errors, output } = await divisi(short, { cwd })
      assert.deepStrictEqual([code, errors], [0, ""])
      assert.match(
        output,
        /^toy: trains in runs\/toy: model lookup table \(5 tokens of context\), engine toy, 3 workers, 23 iterations\n/
      )
      assert.match(output, /\n23\/23 learn {2}reward [\d.]+ {2}correct \d+ % {2}parsed \d+ % {2}steps [\d.]+ {2}/)
      assert.match(
        output,
        /\nFinished: 23 iterations, \$[\d.]+ play money\. Write a report with `divisi train report runs\/toy`\.\n$/
      )
      assert.notInclude(output, "\u001b")
      assert.deepInclude(JSON.parse(readFileSync(path.join(cwd, "runs/toy/recipe.json"), "utf8")), { recipe: "toy" })

      const again = await divisi(short, { cwd })
      assert.include(again.output, "in runs/toy-2")
      const taken = await divisi([...short, "--out", "runs/toy"], { cwd })
      assert.strictEqual(taken.code, 2)
      assert.include(taken.errors, "`divisi train resume runs/toy`")
      const done = await divisi(["train", "resume", "runs/toy"], { cwd })
      assert.deepStrictEqual([done.code, done.output.split("\n").length], [0, 3])
    }))

  it("stops at a checkpoint when it is interrupted, and resumes to the same result", () =>
    inFolder(async (cwd) => {
      let isAsked = false
      const stopped = await divisi(["train", "--recipe", "toy", "--iterations", "24", "--out", "a"], {
        cwd,
        onOutput: (output, child) => {
          if (isAsked || !output.includes("22/44 learn")) return
          isAsked = true
          child.kill("SIGINT")
        }
      })
      assert.strictEqual(stopped.code, 130)
      assert.include(stopped.output, "Stopping at a checkpoint.\n")
      assert.match(stopped.output, /Stopped after [234]\d of 44 iterations\. Resume with `divisi train resume a`\.\n/)
      const resumed = await divisi(["train", "resume", "a"], { cwd })
      assert.strictEqual(resumed.code, 0)
      assert.match(resumed.output, /, from iteration [234]\d\n/)
      const whole = await divisi(["train", "--recipe", "toy", "--iterations", "24", "--out", "b"], { cwd })
      assert.strictEqual(whole.code, 0)
      assert.deepStrictEqual(measured(path.join(cwd, "a")), measured(path.join(cwd, "b")))
    }))

  it("stops at the limit of cost, and resumes with a higher one", () =>
    inFolder(async (cwd) => {
      const { code, output } = await divisi([...short, "--max-cost", "0.00001", "--out", "a"], { cwd })
      assert.strictEqual(code, 3)
      assert.include(output, "Stopped at the cost limit of $0.00001 play money after 20 of 23 iterations.")
      assert.include(output, "`divisi train resume a --max-cost <more>`")
      const resumed = await divisi(["train", "resume", "a", "--max-cost", "1"], { cwd })
      assert.strictEqual(resumed.code, 0)
      assert.include(resumed.output, "Finished: 23 iterations")
    }))
})

describe.concurrent("recipes of a config", () => {
  for (const recipe of ["mine", "effectful"]) {
    it(`trains and resumes ${recipe}`, () =>
      inFolder(async (cwd) => {
        const { code, errors } = await divisi(
          ["train", "--recipe", recipe, "--iterations", "1", "--out", "a", ...ours],
          { cwd }
        )
        assert.deepStrictEqual([code, errors], [0, ""])
        const resumed = await divisi(["train", "resume", "a", ...ours], { cwd })
        assert.strictEqual(resumed.code, 0)
        const lost = await divisi(["train", "resume", "a"], { cwd })
        assert.strictEqual(lost.code, 2)
        assert.include(lost.errors, `Unknown recipe "${recipe}"`)
      }))
  }
})

describe.concurrent("a run that was trained", () => {
  it("is written as a page, and its weights where the engine writes them", () =>
    inFolder(async (cwd) => {
      await divisi([...short, "--out", "a"], { cwd })
      const { code, output } = await divisi(["train", "report", "a"], { cwd })
      assert.deepStrictEqual([code, output], [0, "a/report.html\n"])
      const page = readFileSync(path.join(cwd, "a/report.html"), "utf8")
      for (const text of ["v1/trainings/a/rollouts/", "almanac", "default-src 'none'"]) assert.include(page, text)
      const other = await divisi(["train", "report", "a", "--out", "page.html"], { cwd })
      assert.strictEqual(other.output, "page.html\n")
      assert.strictEqual(readFileSync(path.join(cwd, "page.html"), "utf8"), page)
      const missing = await divisi(["train", "report", "b"], { cwd })
      assert.deepStrictEqual([missing.code, missing.output], [2, ""])
      assert.include(missing.errors, '"b" contains no training run')

      const exported = await divisi(["train", "export", "a", "--to", "gguf", "--out", "x.gguf"], { cwd })
      assert.strictEqual(exported.code, 2)
      assert.include(exported.errors, "The engine toy exports nothing.")
      const best = await divisi(["train", "export", "a", "--to", "gguf", "--checkpoint", "best", "--out", "x"], { cwd })
      assert.include(best.errors, "Take --checkpoint last.")
      const none = await divisi(["train", "export", "a", "--to", "gguf", "--checkpoint", "7", "--out", "x"], { cwd })
      assert.include(none.errors, "Checkpoint 7 does not exist. Available: best, last, ")

      rmSync(path.join(cwd, "a/metrics.jsonl"))
      const early = await divisi(["train", "report", "a"], { cwd })
      assert.strictEqual(early.code, 2)
      assert.include(early.errors, "No iteration of the training run in a is finished yet.")

      rmSync(path.join(cwd, "a/recipe.json"))
      const foreign = await divisi(["train", "resume", "a"], { cwd })
      assert.strictEqual(foreign.code, 2)
      assert.include(foreign.errors, "it was not started by `divisi train`")
      assert.isFalse(existsSync(path.join(cwd, "x.gguf")))
    }))

  it("has sent its metrics to a collector, where one is named", () =>
    inFolder(async (cwd) => {
      const received: Array<{ readonly url: string | undefined; readonly body: string }> = []
      const server = createServer(async (request, response) => {
        let body = ""
        for await (const chunk of request) body += chunk
        received.push({ url: request.url, body })
        response.end("{}")
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const { code } = await divisi(short, { cwd, environment: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } })
      server.close()
      assert.strictEqual(code, 0)
      const sent = received.filter(({ url }) => url === "/v1/metrics")
      assert.isAbove(sent.length, 0)
      const names = JSON.parse(sent.at(-1)!.body).resourceMetrics[0].scopeMetrics[0].metrics.map(
        ({ name }: { readonly name: string }) => name
      )
      assert.includeMembers(names, [
        "divisi.training.reward",
        "divisi.training.worker.steps",
        "gen_ai.client.token.usage"
      ])
    }))
})
