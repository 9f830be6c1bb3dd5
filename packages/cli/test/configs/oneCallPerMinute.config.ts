import * as Policy from "@divisi/core/Policy"
import type { Worker } from "@divisi/core/Worker"
import paced from "./paced.config.ts"

export default {
  // One worker, because another one would answer instead of waiting.
  pool: [(paced.pool as ReadonlyArray<Worker>)[0]!],
  policy: Policy.fixed("one step", () => ({ steps: [{ worker: 0, subtask: "", access: [] }] })),
  limits: { a: { requestsPerMinute: 1 } }
}
