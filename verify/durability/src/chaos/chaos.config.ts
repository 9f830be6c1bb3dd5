/**
 * The team on each server: two workers in sequence, of which the second one answers. All calls go to the vendor under
 * test.
 */
import { defineConfig } from "@divisi/cli/config"
import * as Policy from "@divisi/core/Policy"
import { openaiCompatible } from "@divisi/providers-openai"

const model = (name: string) =>
  openaiCompatible({
    baseURL: process.env.CHAOS_VENDOR!,
    // The vendor's book names the process that calls.
    apiKey: process.env.CHAOS_INSTANCE!,
    model: name,
    id: name,
    pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 0.01 },
    limits: { maxOutputTokens: 200 }
  })

export default defineConfig({
  pool: [model("first"), model("second")],
  policy: Policy.fixed("a team", () => ({
    steps: [
      { worker: 0, subtask: "part one", access: [] },
      { worker: 1, subtask: "part two", access: [] },
      { worker: 1, subtask: "", access: "all" }
    ]
  })),
  retry: { maxAttempts: 4, baseDelayMillis: 100, maxDelayMillis: 1_000 }
})
