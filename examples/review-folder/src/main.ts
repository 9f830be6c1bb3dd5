/** Reviews every file of a folder: a list, a review of each item, a check of each review, and a summary. */
import assert from "node:assert/strict"
import { readdir, readFile } from "node:fs/promises"
import { conduct, policy, worker } from "@divisi/core/promise"

const folder = new URL("../", import.meta.url)

const filesOf = async () =>
  (await readdir(folder, { withFileTypes: true })).flatMap((entry) => (entry.isFile() ? [entry.name] : [])).sort()

/** Stands in for a model: it lists, reviews and verifies what its instruction names. */
const reviewer = worker({
  id: "reviewer",
  answer: async ({ messages }) => {
    const asked = String(
      messages.findLast(({ role, content }) => role === "user" && String(content).includes("Subtask:"))?.content
    )
    if (asked.includes("List the files")) return JSON.stringify(await filesOf())
    const name = /(?:Review|Verify) (\S+)\.$/u.exec(asked)?.[1]
    if (asked.includes("Review"))
      return `${name} has ${(await readFile(new URL(name!, folder), "utf8")).split("\n").length} lines`
    const review = String(messages.findLast(({ role }) => role === "assistant")?.content)
    return asked.includes("Verify") ? `verified: ${review}` : review
  }
})

const { answer, spend, transcript } = await conduct({
  question: "Is the code of this folder in order?",
  pool: [reviewer],
  maxItems: 200,
  policy: policy("review-folder", () => ({
    steps: [
      { worker: "reviewer", subtask: "List the files of the folder.", access: [], gives: { list: 100 } },
      { worker: "reviewer", subtask: "Review {item}.", access: [], each: 0 },
      { worker: "reviewer", subtask: "Verify {item}.", access: [1], each: 1 },
      { worker: "reviewer", subtask: "Sum up.", access: [2] }
    ]
  })),
  onEvent: (event) => {
    if (event.type === "step-unfolded") console.log(`Step ${event.step} runs for ${event.items} items.`)
  }
})

const files = await filesOf()
const reviews = transcript.rounds[0]!.steps[1]!
assert.equal(reviews.items!.length, files.length)
assert.equal(spend.calls, 2 + 2 * files.length)
assert.deepEqual(
  JSON.parse(answer!).map(({ item }: { readonly item: string }) => item),
  files
)
console.log(`${files.length} files, ${spend.calls} calls: ${answer}`)
