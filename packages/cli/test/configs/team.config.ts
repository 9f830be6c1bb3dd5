/** A team whose first worker has a wrong key and whose second is unreachable: the third answers. */
import { defineConfig } from "@divisi/cli/config"
import { policy, worker } from "@divisi/core/promise"
import { openaiCompatible } from "@divisi/providers-openai"

const at = (id: string, baseURL: string) => ({ ...openaiCompatible({ baseURL, model: "m", apiKey: "some-key" }), id })

const steps = [0, 1, 2].map((worker) => ({ worker, subtask: "Answer.", access: worker === 2 ? ("all" as const) : [] }))

export default defineConfig({
  pool: [
    at("keyless", process.env.UPSTREAM ?? ""),
    at("gone", "http://127.0.0.1:9/v1"),
    worker({ id: "answerer", answer: () => "It is 42." })
  ],
  policy: policy("a team", () => ({ steps })),
  retry: { maxAttempts: 1 },
  reassign: process.env.REASSIGN === "next" ? "next" : "never",
  onAuthenticationFailure: process.env.ON_AUTHENTICATION_FAILURE === "end" ? "end" : "report"
})
