import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { said, team, worker } from "./teams.ts"

const user = (content: string) => ({ role: "user" as const, content })
const system = (content: string) => ({ role: "system" as const, content })

const tools = [{ type: "function" as const, function: { name: "look" } }]

const small = {
  "a title of a coding agent": {
    messages: [system("You are a title generator. You output ONLY a thread title. Nothing else."), user("Fix the test")]
  },
  "a topic of a coding agent": {
    messages: [
      system("Analyze if this message indicates a new conversation topic. If it does, extract a 2-3 word title."),
      user("Fix the test")
    ]
  },
  "a line of a coding agent": {
    messages: [system("Summarize this coding conversation in under 50 characters."), user("Fix the test")]
  },
  "tags of a chat window": {
    messages: [user("### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history.\n\n…")]
  },
  "a probe": { messages: [user("quota")], max_tokens: 1 }
}

const others = {
  "a question": { messages: [user("How many minutes are there in 3 days?")] },
  "a person who wants a title": { messages: [user("Write a title for my novel about bees.")] },
  "an agent with its tools": { messages: [system("You are a title generator."), user("?")], tools },
  "a long answer": { messages: [system("Generate a title and then the book."), user("?")], max_tokens: 32_000 },
  "long instructions": { messages: [system(`Generate a title. ${"And more. ".repeat(500)}`), user("?")] }
}

/** The workers that answer a request for a model. */
const whoAnswers = (request: object, model: string, housekeeping?: "as-asked") =>
  serving(
    {
      ...team(worker("a", said("a")), worker("b", said("b")), worker("c", said("c"))),
      housekeeping,
      aliases: { gpt: "divisi" }
    },
    async ({ url }) => {
      const body = JSON.stringify({ model, ...request })
      const answer = await (await fetch(`${url}/chat/completions`, { method: "POST", body })).json()
      return answer.divisi.workers as ReadonlyArray<string>
    }
  )

describe("the housekeeping of agents", () => {
  for (const [what, request] of Object.entries(small)) {
    it(`goes to the fast one: ${what}`, async () => {
      assert.lengthOf(await whoAnswers(request, "divisi"), 1)
      assert.lengthOf(await whoAnswers(request, "gpt"), 1)
      assert.lengthOf(await whoAnswers(request, "divisi", "as-asked"), 3)
    })
  }

  for (const [what, request] of Object.entries(others)) {
    it(`is not ${what}`, async () => assert.lengthOf(await whoAnswers(request, "divisi"), 3))
  }
})
