/** Three workers. Anything that turns messages into a text is one: a model behind an API, a database, a function. */
import { type Worker, worker, workerError } from "@tutti/core/promise"

/** What each call costs, so that budgets hold. */
const pricing = { inputPerMillion: 0.5, outputPerMillion: 2 }

const textOf = (request: { readonly messages: ReadonlyArray<{ readonly content: string }> }) =>
  request.messages.at(-1)?.content ?? ""

const thesaurus = new Map([
  ["big", "large"],
  ["quick", "fast"]
])

export const pool: ReadonlyArray<Worker> = [
  worker({
    id: "counter",
    description: "Counts the words and letters of a text",
    pricing,
    answer: (request) =>
      `${
        textOf(request)
          .match(/"([^"]*)"/)?.[1]
          ?.split(/\s+/).length ?? 0
      } words`
  }),
  worker({
    id: "thesaurus",
    description: "Finds synonyms for a word",
    pricing,
    answer: async (request) => {
      const word = [...thesaurus.keys()].find((word) => textOf(request).includes(word))
      if (word === undefined) throw workerError("thesaurus", { _tag: "InvalidRequest", detail: "I know no such word" })
      return thesaurus.get(word)!
    }
  }),
  worker({
    id: "editor",
    description: "Puts the answers of others together",
    pricing,
    // What it may see of the others' work comes as earlier turns; their answers are the assistant's.
    answer: async function* ({ messages }) {
      yield "Found: "
      yield messages
        .filter((message) => message.role === "assistant")
        .map(({ content }) => content)
        .join("; ")
    }
  })
]
