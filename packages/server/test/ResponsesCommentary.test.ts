/** Notes as commentary: separate messages for clients that distinguish them from the answer. */
import type OpenAI from "openai"
import { assert, describe, it } from "vitest"
import { ask, notes, streamed, thrown, types, weather } from "./responses.ts"
import { serving } from "./serving.ts"
import { asks, said, team, worker } from "./teams.ts"

const commented = { divisi: { notes_as: "commentary" } }

const phasesOf = (output: ReadonlyArray<OpenAI.Responses.ResponseOutputItem>) =>
  output.map((item) => (item.type === "message" ? [item.phase, textOf(item)] : [item.type]))

const textOf = ({ content }: OpenAI.Responses.ResponseOutputMessage) =>
  content.map((part) => (part.type === "output_text" ? part.text : "")).join("")

const told = notes.map((note) => ["commentary", note])

describe("notes as commentary", () => {
  it("are messages of their own, and the answer says that it is one", () => {
    const workers = [worker("a", said("one")), worker("b", said("two")), worker("c", said("th", "ree"))]
    return serving(team(...workers), async ({ client, url }) => {
      const { output } = await client.responses.create(ask("How much?"), {
        headers: { "x-divisi-notes-as": "commentary" }
      })
      assert.deepStrictEqual(phasesOf(output), [...told, ["final_answer", "three"]])
      const { events, isEnded } = await streamed(url, { ...ask("How much?"), ...commented })
      assert.isTrue(isEnded)
      const whole = (...pieces: ReadonlyArray<string>) => [
        ...["output_item.added", "content_part.added", ...pieces],
        ...["output_text.done", "content_part.done", "output_item.done"]
      ]
      const delta = "output_text.delta"
      assert.deepStrictEqual(types(events), [
        ...["created", "in_progress"],
        ...notes.flatMap(() => whole(delta)),
        ...whole(delta),
        "completed"
      ])
      const items = events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item] : []))
      assert.deepStrictEqual(phasesOf(items), [...told, ["final_answer", "three"]])
      const indices = events.flatMap((event) => ("output_index" in event ? [event.output_index] : []))
      assert.deepStrictEqual(indices, indices.toSorted())
    })
  })

  it("have no author when they come back, like any other commentary", () => {
    const c = worker("c", said("three"), said("four"))
    return serving(team(worker("a", said("one")), worker("b", said("two")), c), async ({ client }) => {
      const first = await client.responses.create({ ...ask("How much?"), ...commented })
      const other = { role: "assistant" as const, phase: "commentary" as const, content: "I look at the file." }
      const input = [{ role: "user" as const, content: "How much?" }, ...first.output, other]
      const next = { role: "user" as const, content: "And now?" }
      const { output_text } = await client.responses.create({ model: "divisi", input: [...(input as []), next] })
      assert.strictEqual(output_text, "four")
      const seen = JSON.stringify(c.calls[1]?.messages)
      assert.include(seen, "I look at the file.")
      assert.notInclude(seen, "Plan of 3 steps")
      assert.notInclude(seen, "has answered")
    })
  })

  it("continue when a run resumes, and text before a tool call is commentary, too", () => {
    const words = asks(["weather", { city: "Bern" }]) as { readonly parts: ReadonlyArray<object> }
    const looks = { parts: [{ type: "text", text: "I look. " }, ...words.parts] } as ReturnType<typeof asks>
    const workers = [worker("a", said("one")), worker("b", said("two")), worker("c", looks, said("Rain"))]
    return serving(team(...workers), async ({ client }) => {
      const asked = { model: "divisi", tools: [weather], ...commented }
      const first = await client.responses.create({ ...asked, input: "Bern?" })
      const said = phasesOf(first.output)
      // The order in which two concurrent steps end is not relevant.
      assert.sameDeepMembers(said.slice(0, 3), told)
      assert.deepStrictEqual(said.slice(3), [["commentary", "I look. "], ["function_call"]])
      const call = first.output.find((item) => item.type === "function_call")!
      const result = { type: "function_call_output" as const, call_id: call.call_id, output: "rain" }
      const input = [{ role: "user" as const, content: "Bern?" }, ...first.output, result]
      const last = await client.responses.create({ ...asked, input: input as [] })
      assert.deepStrictEqual(phasesOf(last.output), [["final_answer", "Rain"]])
      assert.deepStrictEqual(
        workers.map(({ calls }) => calls.length),
        [1, 1, 2]
      )
    })
  })

  it("are asked for in one word of two", () =>
    serving(
      team(worker("a", said("one")), worker("b", said("two")), worker("c", said("three"))),
      async ({ client }) => {
        const error = await thrown(client.responses.create({ ...ask("?"), divisi: { notes_as: "poem" } } as never))
        assert.strictEqual(error.status, 400)
        assert.match(error.message, /must be reasoning or commentary/)
      }
    ))
})
