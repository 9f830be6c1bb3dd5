/** `divisi serve` is killed and started again: the next request goes on with what was begun, and pays nobody twice. */
import fs from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { config, divisi, inFolder } from "./process.ts"

interface Life {
  /** Asks, and gives what the server answers. */
  readonly ask: (messages: ReadonlyArray<object>, more?: object) => Promise<Response>
  readonly asked: () => ReadonlyArray<string>
}

/** Speaks to a server, and kills it with SIGKILL when `use` has ended. */
const killed = async <A>(folder: string, use: (life: Life) => Promise<A>, more: Record<string, string> = {}) => {
  const book = path.join(folder, "book")
  const environment = {
    BOOK: book,
    DIVISI_RUNS: path.join(folder, "runs.sqlite"),
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
      const ask: Life["ask"] = (messages, more = {}) =>
        fetch(`${url}/chat/completions`, {
          method: "POST",
          body: JSON.stringify({ model: "divisi", messages, ...more })
        })
      using = use({ ask, asked }).finally(() => child.kill("SIGKILL"))
    }
  })
  if (using === undefined) throw new Error(ended.errors)
  return using
}

const question = { role: "user", content: "Where?" }
const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }]

describe("divisi serve, killed with SIGKILL", () => {
  it("while a run waits for a tool, goes on with it when the result comes", () =>
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
      // What the second process has answered, a third knows, too.
      const again = await killed(folder, async ({ ask, asked }) => {
        const answer = await (await ask(history, { tools })).json()
        return { answer, book: asked() }
      })
      expect(again.answer.choices[0].message.content).toBe("done")
      expect(again.book).toHaveLength(4)
    }))

  it("while it streams, goes on with the run when the same request comes", () =>
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
})
