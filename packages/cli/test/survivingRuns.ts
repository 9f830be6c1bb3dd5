import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { config, divisi } from "./process.ts"

/** A folder with a journal, and the book of whom the workers were asked by. */
export const inFolder = async (
  work: (folder: {
    readonly run: (
      args: ReadonlyArray<string>,
      environment?: Readonly<Record<string, string>>
    ) => ReturnType<typeof divisi>
    readonly killed: (signal: "SIGKILL" | "SIGINT") => ReturnType<typeof divisi>
    readonly asked: () => ReadonlyArray<string>
  }) => Promise<void>
) => {
  const folder = mkdtempSync(path.join(tmpdir(), "divisi-runs-"))
  const BOOK = path.join(folder, "book")
  const environment = {
    BOOK,
    DIVISI_RUNS: path.join(folder, "runs.sqlite"),
    DIVISI_CONFIG: config("surviving"),
    DIVISI_OUTCOMES: "none"
  }
  const run = (args: ReadonlyArray<string>, more = {}) => divisi(args, { environment: { ...environment, ...more } })
  const killed = (signal: "SIGKILL" | "SIGINT") =>
    divisi(["run", "Which?", "--run-id", "run-1"], {
      environment: { ...environment, STUCK: "1" },
      onOutput: (output, child) => {
        if (!child.killed && output.includes("last started")) setTimeout(() => child.kill(signal), 300)
      }
    })
  const asked = () => readFileSync(BOOK, "utf8").trim().split("\n")
  await work({ run, killed, asked }).finally(() => rmSync(folder, { recursive: true }))
}
