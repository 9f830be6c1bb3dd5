import * as Policy from "@divisi/core/Policy"
import paced from "./paced.config.ts"

export default {
  ...paced,
  policy: Policy.fixed("one step", () => ({ steps: [{ worker: 0, subtask: "", access: [] }] })),
  limits: { a: { requestsPerMinute: 1 } }
}
