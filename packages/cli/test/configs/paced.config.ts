import fs from "node:fs"
import { setTimeout } from "node:timers/promises"
import { defineConfig } from "@divisi/cli/config"
import * as Policy from "@divisi/core/Policy"
import type { Worker } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

const { BOOK = "", GATE = "" } = process.env

/** Writes down each call that it begins, and answers once the file of its gate exists. The text differs from call to call. */
const worker = (id: string): Worker => ({
  id,
  pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 0.01 },
  capabilities: { tools: true },
  generate: () =>
    Stream.unwrap(
      Effect.promise(async () => {
        fs.appendFileSync(BOOK, `${id}\n`)
        const count = fs.readFileSync(BOOK, "utf8").split("\n").length
        while (!fs.existsSync(`${GATE}.${id}`)) await setTimeout(20)
        return Stream.fromIterable([
          { type: "text", text: `${id} says ` },
          { type: "text", text: `${count}` },
          { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } }
        ] as const)
      })
    )
})

export default defineConfig({
  pool: ["a", "b", "c"].map(worker),
  policy: Policy.fixed("a line", () => ({
    steps: [
      { worker: 0, subtask: "begin", access: [] },
      { worker: 1, subtask: "go on", access: "all" },
      { worker: 2, subtask: "", access: "all" }
    ]
  }))
})
