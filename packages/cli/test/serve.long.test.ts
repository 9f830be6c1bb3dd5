/** `divisi serve` is killed and restarted: the next request resumes the active work, and nothing is paid twice. */
import fs from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { config, divisi, inFolder } from "./process.ts"

interface Life {
  /** Sends a body to a path of the server. */
  readonly post: (path: string, body: object, headers?: Record<string, string>) => Promise<Response>
  /** Asks on Chat Completions, and gives what the server answers. */
  readonly ask: (messages: ReadonlyArray<object>, more?: object) => Promise<Response>
  readonly asked: () => ReadonlyArray<string>
}

/** Speaks to a server, and kills it with SIGKILL when `use` has ended. */
const killed = async <A>(folder: string, use: (life: Life) => Promise<A>, more: Record<string, string> = {}) => {
  const book = path.join(folder, "book")
  const environment = {
    BOOK: book,
    DIVISI_RUNS: path.join(folder, "runs.sqlite"),
    DIVISI_RESPONSES: path.join(folder, "responses.sqlite"),
    DIVISI_OUTCOMES: "none",
    DIVISI_KEYS: path.join(folder, "keys.json"),
    ...more
  }
  let using: Promise<A> | undefined
  const asked = () => (fs.existsSync(book) ? fs.readFileSync(book, "utf8").trim().split("\n") : [])
  const ended = await divisi(["serve", "--port", "0", "--config", config("served")], {
    environment,
    onOutput: (output, child) => {
      const url = /http:\/\/127\.0\.0\.1:\d+\/v1/.exec(output)?.[0]
      if (url === undefined || using !== undefined) return
      const post: Life["post"] = (path, body, headers = {}) =>
        fetch(`${url}/${path}`, { method: "POST", headers, body: JSON.stringify({ model: "divisi", ...body }) })
      const ask: Life["ask"] = (messages, more = {}) => post("chat/completions", { messages, ...more })
      using = use({ post, ask, asked }).finally(() => child.kill("SIGKILL"))
    }
  })
  if (using === undefined) throw new Error(ended.errors)
  return using
}

const question = { role: "user", content: "Where?" }
const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }]

describe("divisi serve, killed with SIGKILL", () => {
  it("while a run waits for a tool, resumes it when the result arrives", () =>
    inFolder(async (folder) => {
      const { choices } = await killed(folder, async ({ ask }) => (await ask([question], { tools })).json())
      const { message } = choices[0]
      const result = { role: "tool", tool_call_id: message.tool_calls[0].id, content: "left" }
      const history = [question, message, result]
      const answers = await killed(folder, async ({ ask, asked }) => {
        const answer = await (await ask(history, { tools })).json()
        return { answer, book: asked() }
      })
      expect(answers.answer.choices[0].message.content).toBe("done")
      expect(answers.book.toSorted()).toEqual(["first", "second", "third", "third"])
      // A third process knows the second's answers, too.
      const again = await killed(folder, async ({ ask, asked }) => {
        const answer = await (await ask(history, { tools })).json()
        return { answer, book: asked() }
      })
      expect(again.answer.choices[0].message.content).toBe("done")
      expect(again.book).toHaveLength(4)
    }))

  it("while runs of Responses and Messages are suspended, resumes them, too", () =>
    inFolder(async (folder) => {
      const shape = { type: "object" }
      const ofResponses = { tools: [{ type: "function", name: "look", parameters: shape }] }
      const ofMessages = { max_tokens: 100, tools: [{ name: "look", input_schema: shape }] }
      const [response, message] = await killed(folder, async ({ post }) => [
        await (await post("responses", { ...ofResponses, input: [question] })).json(),
        await (await post("messages", { ...ofMessages, messages: [question] })).json()
      ])
      const { call_id } = response.output.find(({ type }: { readonly type: string }) => type === "function_call")
      const { id: tool_use_id } = message.content.find(({ type }: { readonly type: string }) => type === "tool_use")
      const { book, texts } = await killed(folder, async ({ asked, post }) => {
        // The stored response is recovered, so that only the result is sent.
        const input = [{ type: "function_call_output", call_id, output: "left" }]
        const previous = { ...ofResponses, previous_response_id: response.id, input }
        const results = { role: "user", content: [{ type: "tool_result", tool_use_id, content: "left" }] }
        const messages = [question, { role: "assistant", content: message.content }, results]
        const texts = [
          await (await post("responses", previous)).text(),
          await (await post("messages", { ...ofMessages, messages })).text()
        ]
        return { texts, book: asked() }
      })
      for (const text of texts) expect(text).toContain('"text":"done"')
      expect(book.toSorted()).toEqual(["first", "first", "second", "second", ...Array(4).fill("third")])
    }))

  it("while it streams, resumes the run on the same request", () =>
    inFolder(async (folder) => {
      const more = { stream: true }
      await killed(
        folder,
        async ({ ask, asked }) => {
          const going = ask([question], more).catch(() => undefined)
          while (!asked().includes("third")) await new Promise((resolve) => setTimeout(resolve, 20))
          void going
        },
        { STUCK: "1" }
      )
      const { book, text } = await killed(folder, async ({ ask, asked }) => ({
        text: await (await ask([question], more)).text(),
        book: asked()
      }))
      expect(text).toContain('"content":"done"')
      expect(text).toContain("[DONE]")
      // The call that was under way is made again; the others were answered.
      expect(book.toSorted()).toEqual(["first", "second", "third", "third"])
    }))

  const wires = {
    "chat/completions": { messages: [question] },
    responses: { input: [question] },
    messages: { max_tokens: 100, messages: [question] }
  }

  it.each([
    ["chat/completions", true],
    ["responses", false],
    ["messages", true]
  ] as const)("finishes the run of an Idempotency-Key, and repeats its answer: %s, streamed: %s", (path, stream) =>
    inFolder(async (folder) => {
      const key = { "idempotency-key": "order-1" }
      const request = { ...wires[path], stream }
      await killed(
        folder,
        async ({ asked, post }) => {
          void post(path, request, key).catch(() => undefined)
          while (!asked().includes("third")) await new Promise((resolve) => setTimeout(resolve, 20))
        },
        { STUCK: "1" }
      )
      // Two clients repeat the request at once: they share the run.
      const texts = await killed(folder, ({ post }) =>
        Promise.all([0, 1].map(async () => (await post(path, request, key)).text()))
      )
      for (const text of texts) expect(text).toContain("done")
      const last = await killed(folder, async ({ asked, post }) => {
        const again = await post(path, request, key)
        const other = await post(path, { ...request, temperature: 0.5 }, key)
        return { again: await again.text(), other: await other.text(), status: other.status, book: asked() }
      })
      expect(last.again).toContain("done")
      expect([last.status, last.other]).toEqual([400, expect.stringContaining("was used with a different request")])
      // The call in flight at the first kill is the only one that is paid twice.
      expect(last.book.toSorted()).toEqual(["first", "second", "third", "third"])
    })
  )
})
