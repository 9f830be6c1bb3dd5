/** Three workers. Anything that turns messages into a text is one: a model behind an API, a database, a function. */
import { messageText, type Worker, type WorkerRequest, worker, workerError } from "@divisi/core/promise"

const pricing = { inputPerMillion: 0.5, outputPerMillion: 2 }
const synonyms: Readonly<Record<string, string>> = { big: "large", quick: "fast" }
const lastOf = ({ messages }: WorkerRequest) => messageText(messages.at(-1))

/** A function. */
const counter = worker({
  id: "counter",
  pricing,
  answer: (request) =>
    `${
      lastOf(request)
        .match(/"(.*)"/)?.[1]
        ?.split(" ").length ?? 0
    } words`
})

/** An async function, which may fail: the reason says whether trying again can help. */
const thesaurus = worker({
  id: "thesaurus",
  pricing,
  answer: async (request) => {
    const word = /word for (\w+)/.exec(lastOf(request))?.[1] ?? ""
    if (synonyms[word] === undefined) throw workerError("thesaurus", { _tag: "InvalidRequest", detail: `"${word}"?` })
    return synonyms[word]
  }
})

/** A generator, which streams. What it may see of the work of others comes as earlier turns of the assistant. */
const editor = worker({
  id: "editor",
  pricing,
  answer: async function* ({ messages }) {
    const answers = messages.filter((message) => message.role === "assistant")
    for (const [index, { content }] of answers.entries()) yield index === 0 ? content : `; ${content}`
  }
})

export const pool: ReadonlyArray<Worker> = [counter, thesaurus, editor]
