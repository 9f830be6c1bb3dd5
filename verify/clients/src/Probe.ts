/** `llmprobe`: assertions about the three wires. All required ones must pass. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { type Check, type Report, run } from "./Check.ts"
import { folder, versionOf } from "./Folders.ts"

interface Result {
  readonly id: string
  readonly surface: string
  readonly outcome: string
  readonly failures: ReadonlyArray<{ readonly id: string; readonly severity: string; readonly message: string }>
}

const surfaces = ["models", "chat", "responses", "messages"]

const checkOf = (surface: string, results: ReadonlyArray<Result>): Check => {
  const own = results.filter((result) => result.surface === surface)
  const failed = own.flatMap(({ failures, id }) =>
    failures.filter(({ severity }) => severity === "MUST").map((failure) => `${id}: ${failure.message}`)
  )
  const count = (outcome: string) => own.filter((result) => result.outcome === outcome).length
  const counts = `${count("pass")} of ${own.length} passed, ${count("inconclusive")} inconclusive, ${count("unsupported")} not supported, ${count("skipped")} not run`
  return {
    name: `${surface}: no failed MUST`,
    isPassed: failed.length === 0 && count("pass") > 0,
    detail: [counts, ...failed].join("\n")
  }
}

/** Runs it. */
export const check = async (url: string): Promise<Report> => {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "divisi-")), "llmprobe.json")
  const options = ["-k", "none", "-m", "divisi", "--no-bench", "--no-save", "--json", "--save", file]
  const finished = await run(["node_modules/.bin/llmprobe", url, ...options], { cwd: folder("sdks"), seconds: 120 })
  const version = versionOf("sdks", "llmprobe")
  if (!fs.existsSync(file)) {
    const detail = finished.output.slice(-3_000)
    return { client: "llmprobe", version, checks: [{ name: "it runs", isPassed: false, detail }] }
  }
  const { conformance } = JSON.parse(fs.readFileSync(file, "utf8"))
  return { client: "llmprobe", version, checks: surfaces.map((surface) => checkOf(surface, conformance.results)) }
}
