/** A model that answers easy questions itself, and writes a plan for the hard ones. */
import assert from "node:assert/strict"
import { conduct, languagePolicy, worker } from "@divisi/core/promise"

const plan = `model_id = [0, 1]
subtasks = ["Find the inhabitants of Ulm.", "Double the number."]
access_list = [[], [0]]`

const conductor = worker({
  id: "conductor",
  isLanguageModel: true,
  answer: ({ messages }) =>
    messages.some(({ content }) => String(content).includes("capital")) ? 'answer = "Paris."' : plan
})

const pool = [
  worker({ id: "atlas", answer: () => "Ulm has 128,928 inhabitants." }),
  worker({ id: "sums", answer: () => "257,856" })
]

const policy = languagePolicy({ model: conductor, prompt: { descriptions: true, mayAnswer: true } })

const easy = await conduct({ question: "What is the capital of France?", pool, policy })
assert.deepEqual([easy.answer, easy.spend.calls, easy.rounds[0]?.isOwn], ["Paris.", 1, true])
console.log(`easy: ${easy.answer} (${easy.spend.calls} call)`)

const hard = await conduct({ question: "How many inhabitants have two cities like Ulm?", pool, policy })
assert.deepEqual([hard.answer, hard.spend.calls, hard.rounds[0]?.isOwn], ["257,856", 3, undefined])
console.log(`hard: ${hard.answer} (${hard.spend.calls} calls)`)
