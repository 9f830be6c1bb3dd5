/** The target of converted requests in tests. */
import type { WorkerRequest } from "@divisi/core/Worker"
import { capabilitiesOf } from "../src/capabilities.ts"
import type { Target } from "../src/internal/request.ts"

export const target = (model: string, more: Partial<Target> = {}): Target => ({
  model,
  capabilities: capabilitiesOf(model),
  maxTokens: 32_000,
  promptCache: { prefix: "none", keepFor: "5m" },
  omitUnsupported: false,
  body: {},
  ...more
})

export const conversation: WorkerRequest["messages"] = [
  { role: "system", content: "The rules." },
  { role: "user", content: "First subtask" },
  { role: "assistant", content: "First answer" },
  { role: "user", content: "Question and second subtask" }
]
