// A program that uses only @divisi/core: two workers, a plan and an answer.
import { conduct, selfReflection, worker } from "@divisi/core/promise"

const counter = worker({
  id: "counter",
  description: "Counts the letters of the last word",
  answer: ({ messages }) => String(/(\w+)\W*$/.exec(messages[0].content)?.[1].length ?? 0)
})

const result = await conduct({
  question: "How many letters are in the word orchestra?",
  pool: [counter],
  policy: selfReflection({ rounds: 1 })
})
console.log(`${result.ending}: ${result.answer}`)
if (result.ending !== "answered") process.exitCode = 1
