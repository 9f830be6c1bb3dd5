/** A policy of your own: here the same plan for every question. */
import { policy } from "@divisi/core/promise"

export const plan = policy("count and find", () => ({
  steps: [
    { worker: 0, subtask: "Count the words.", access: [] },
    { worker: 1, subtask: "Find the synonym.", access: [] },
    { worker: 2, subtask: "Say both.", access: "all" }
  ]
}))
