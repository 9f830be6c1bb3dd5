import type * as Policy from "@divisi/core/Policy"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import type OpenAI from "openai"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, asks, said, team, worker } from "./teams.ts"

const tools = [{ type: "function" as const, function: { name: "look", parameters: { type: "object" } } }]

/**
 * Asks, and answers tools until there are no calls any more: the calls of each turn, the last answer, and what each segment
 * has read, for its answer and besides.
 */
const talk = async (client: OpenAI, more: object) => {
  const messages: Array<OpenAI.ChatCompletionMessageParam> = [{ role: "user", content: "Where?" }]
  const turns: Array<ReadonlyArray<string>> = []
  const used: Array<readonly [answer: number | undefined, orchestration: unknown]> = []
  for (;;) {
    const { choices, usage } = await client.chat.completions.create({ model: "divisi", messages, tools, ...more })
    const { message } = choices[0]!
    const details = usage?.prompt_tokens_details as unknown as Readonly<Record<string, unknown>>
    used.push([usage?.prompt_tokens, details.orchestration_input_tokens])
    const calls = (message.tool_calls ?? []).filter((call) => call.type === "function")
    if (calls.length === 0) return { turns, used, answer: message.content }
    turns.push(calls.map((call) => call.function.arguments))
    messages.push(message)
    for (const { function: asked, id } of calls) {
      messages.push({ role: "tool", tool_call_id: id, content: `seen ${asked.arguments}` })
    }
  }
}

describe("tools that several steps ask for", () => {
  const made = () => {
    const a = worker("a", asks(["look", { at: 1 }]), said("left"))
    const b = worker("b", asks(["look", { at: 2 }], ["look", { at: 3 }]), said("right"))
    const c = worker("c", said("there"))
    return { workers: [a, b, c], options: { ...team(a, b, c), settings: { toolAccess: "every-step" as const } } }
  }

  const seenBy = ({ calls }: ReturnType<typeof worker>) =>
    calls.at(-1)!.messages.flatMap(({ content, role }) => (role === "tool" ? [content] : []))

  it("come in one turn, and each step sees what it has asked for", () => {
    const { options, workers } = made()
    return serving(options, async ({ client }) => {
      const { answer, turns } = await talk(client, {})
      // The first client is answered first.
      assert.deepStrictEqual(
        turns.map((calls) => calls.toSorted()),
        [['{"at":1}', '{"at":2}', '{"at":3}']]
      )
      assert.strictEqual(answer, "there")
      assert.deepStrictEqual(seenBy(workers[0]!), ['seen {"at":1}'])
      assert.deepStrictEqual(seenBy(workers[1]!), ['seen {"at":2}', 'seen {"at":3}'])
    })
  })

  it("arrive one after another for a client that handles one at a time, and no worker is called twice", () => {
    const { options, workers } = made()
    return serving(options, async ({ client }) => {
      const { answer, turns } = await talk(client, { parallel_tool_calls: false })
      assert.deepStrictEqual(
        turns.toSorted((left, right) => (left[0]! < right[0]! ? -1 : 1)),
        [['{"at":1}'], ['{"at":2}'], ['{"at":3}']]
      )
      assert.strictEqual(answer, "there")
      assert.deepStrictEqual(
        workers.map(({ calls }) => calls.length),
        [2, 2, 1]
      )
      assert.deepStrictEqual(seenBy(workers[1]!), ['seen {"at":2}', 'seen {"at":3}'])
    })
  })
})

describe("tools that a run within a step asks for", () => {
  it("lead back to it, and a segment has used what was used since", () => {
    const a = worker("a", said("one"), said("two"))
    const b = worker("b", asks(["look", {}]), said("there"))
    const policy: Policy.Policy = {
      name: "delegates",
      propose: ({ self }) =>
        Effect.succeed({
          workflow: {
            steps: [
              { worker: 0, subtask: "", access: [] },
              { worker: self ? 2 : 1, subtask: "", access: "all" as const }
            ]
          }
        })
    }
    const pool = WorkerPool.makeUnsafe([a, b])
    return serving({ pool, policy, settings: { self: { maxDepth: 1 } } }, async ({ client }) => {
      const { answer, turns, used } = await talk(client, {})
      assert.deepStrictEqual([turns, answer], [[["{}"]], "there"])
      assert.deepStrictEqual(
        [a, b].map(({ calls }) => calls.length),
        [2, 2]
      )
      // Two that advise, and the call of the tool; then the answer alone.
      assert.deepStrictEqual(used, [
        [7, 14],
        [7, 0]
      ])
    })
  })
})

describe("tools of which some are allowed", () => {
  it("are the only tools that workers receive, on both of OpenAI's wires", () => {
    const a = worker("a", said("one"), said("two"))
    return serving(alone(a), async ({ client }) => {
      const [look, go] = ["look", "go"].map((name) => ({ type: "function" as const, name }))
      await client.chat.completions.create({
        model: "divisi",
        messages: [{ role: "user", content: "Where?" }],
        tools: [look!, go!].map(({ name }) => ({ type: "function" as const, function: { name } })),
        tool_choice: {
          type: "allowed_tools",
          allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "go" } }] }
        }
      })
      await client.responses.create({
        model: "divisi",
        input: "Where?",
        tools: [look, go].map((tool) => ({ ...tool!, parameters: null, strict: null })),
        tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ ...go }] }
      })
      assert.deepStrictEqual(
        a.calls.map(({ tools = [] }) => tools.map(({ name }) => name)),
        [["go"], ["go"]]
      )
    })
  })
})
