/** The team: one worker writes, the other shortens. Real models go here, as `openai("gpt-6.1-terra")`. */
import { messageText, policy, worker } from "@divisi/core/promise"

const writer = worker({
  id: "writer",
  description: "Writes a draft",
  answer: ({ messages }) => `A long text about this: ${messageText(messages[0])}`
})

const editor = worker({
  id: "editor",
  description: "Shortens a draft",
  answer: async function* () {
    for (const piece of ["The sea, ", "in ", "short."]) yield piece
  }
})

export const team = {
  pool: [writer, editor],
  policy: policy("write and edit", () => ({
    steps: [
      { worker: "writer", subtask: "Write a draft.", access: [] },
      { worker: "editor", subtask: "Shorten it.", access: [0] }
    ]
  }))
}
