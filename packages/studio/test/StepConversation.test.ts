/** The messages that the page shows for a step are those that its worker received. */
import { conduct, policy, tool, worker, workerError } from "@divisi/core/promise"
import { describe, expect, it } from "vitest"
import { sentMessages } from "../src/run/StepConversation.ts"

type Seen = Array<{ readonly worker: string; readonly messages: ReadonlyArray<unknown> }>

const recording = (seen: Seen, id: string, answer: (call: number) => unknown) => {
  let call = 0
  return worker({
    id,
    capabilities: { tools: true, jsonSchema: true },
    answer: (({ messages }: { messages: ReadonlyArray<unknown> }) => {
      seen.push({ worker: id, messages: structuredClone(messages) })
      call += 1
      return answer(call)
    }) as Parameters<typeof worker>[0]["answer"]
  })
}

const last = (seen: Seen, id: string) => seen.findLast((one) => one.worker === id)?.messages

describe("the messages of a step", () => {
  it("are those that a worker received, with answers, refusals and failures before it", async () => {
    const seen: Seen = []
    const { transcript } = await conduct({
      question: {
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "Hello" },
          { role: "assistant", content: "Hi." },
          { role: "user", content: "What is a raft?" }
        ]
      },
      pool: [
        recording(seen, "first", () => "Logs."),
        recording(seen, "broken", () => {
          throw workerError("broken", { _tag: "Authentication", detail: "key sk-1 is unknown" } as never)
        }),
        recording(seen, "quiet", () => ""),
        recording(seen, "last", () => "A raft is logs and rope.")
      ],
      policy: policy("four", () => ({
        steps: [
          { worker: 0, subtask: "Name the parts.", access: [] },
          { worker: 1, subtask: "Check it.", access: [0] },
          { worker: 2, subtask: "", access: [0] },
          { worker: 3, subtask: "Write it.", access: "all" }
        ]
      })),
      reassign: "never"
    })
    for (const [step, id] of ["first", "broken", "quiet", "last"].entries()) {
      expect(sentMessages(transcript, 0, step).map(({ message }) => message)).toEqual(last(seen, id))
    }
    expect(sentMessages(transcript, 0, 3).map(({ from }) => from)).toEqual([
      "system",
      "Earlier turn",
      "assistant",
      "Step 0",
      "Step 0",
      "Step 1",
      "Step 1",
      "Step 2",
      "Step 2",
      "Question"
    ])
  })

  it("include the turns with tools and the corrections of a shape", async () => {
    const seen: Seen = []
    const { transcript } = await conduct({
      question: "Add 2 and 3.",
      pool: [
        recording(seen, "solver", (call) =>
          call === 1
            ? { text: "I add.", toolCalls: [{ name: "add", arguments: { left: 2, right: 3 } }] }
            : call === 2
              ? "five"
              : '{"sum":5}'
        )
      ],
      policy: policy("one", () => ({ steps: [{ worker: 0, subtask: "", access: [] }] })),
      tools: [
        tool({
          name: "add",
          description: "Adds.",
          input: { type: "object", properties: { left: { type: "number" }, right: { type: "number" } } },
          execute: () => "5"
        } as never)
      ],
      output: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] }
    } as Parameters<typeof conduct>[0])
    expect(transcript.ending).toBe("answered")
    expect(seen).toHaveLength(3)
    expect(JSON.parse(JSON.stringify(sentMessages(transcript, 0, 0).map(({ message }) => message)))).toEqual(
      JSON.parse(JSON.stringify(last(seen, "solver")))
    )
  })

  it("of a later round have the previous answer", async () => {
    const seen: Seen = []
    let round = 0
    const { transcript } = await conduct({
      question: "Write a haiku.",
      pool: [recording(seen, "poet", (call) => `haiku ${call}`)],
      policy: policy("two rounds", () => {
        round += 1
        if (round > 2) return { steps: [] }
        return {
          steps: [
            { worker: 0, subtask: "Try.", access: [] },
            { worker: 0, subtask: "Improve.", access: "all" }
          ]
        }
      }),
      recursion: 1
    } as Parameters<typeof conduct>[0])
    expect(transcript.rounds).toHaveLength(2)
    expect(sentMessages(transcript, 1, 1).map(({ message }) => message)).toEqual(last(seen, "poet"))
    expect(sentMessages(transcript, 1, 1)[0]?.from).toBe("Previous answer")
  })

  it("of each item are those that its worker received, and a join sees the items as one answer", async () => {
    const seen: Seen = []
    const { transcript } = await conduct({
      question: "Review the change.",
      pool: [
        recording(seen, "lister", () => '["a.ts","b.ts","c.ts"]'),
        recording(seen, "reviewer", (call) => `review ${call}`),
        recording(seen, "judge", (call) => `verdict ${call}`),
        recording(seen, "writer", () => "Two reviews.")
      ],
      policy: policy("map", () => ({
        steps: [
          { worker: 0, subtask: "List the files.", access: [], gives: { list: 8 } },
          { worker: 1, subtask: "Review {item}.", access: [0], each: 0 },
          { worker: 2, subtask: "Judge it.", access: [1], each: 1 },
          { worker: 3, subtask: "Sum up.", access: [1, 2] }
        ]
      })),
      reassign: "never"
    } as Parameters<typeof conduct>[0])
    expect(transcript.ending).toBe("answered")
    const shown = (step: number, item?: string) => sentMessages(transcript, 0, step, item).map(({ message }) => message)
    const received = (id: string) => seen.filter((one) => one.worker === id).map(({ messages }) => messages)
    const items = ["0", "1", "2"]
    expect(items.map((item) => shown(1, item))).toEqual(received("reviewer"))
    const judged = items.map((item) => JSON.stringify(shown(2, item)))
    expect(judged.toSorted()).toEqual(
      received("judge")
        .map((messages) => JSON.stringify(messages))
        .toSorted()
    )
    expect(shown(3)).toEqual(last(seen, "writer"))
    expect(JSON.stringify(shown(3))).toContain("b.ts")
    expect(shown(1)).toEqual([])
  })

  it("leave out a step whose condition was not met, and of a quorum the answers that it did not wait for", async () => {
    const seen: Seen = []
    let release = () => {}
    const slow = new Promise<void>((resolve) => {
      release = resolve
    })
    const { transcript } = await conduct({
      question: "Prove it.",
      pool: [
        recording(seen, "first", () => "A proof."),
        recording(seen, "slow", () => slow.then(() => "Late.")),
        recording(seen, "repair", () => "Repaired."),
        recording(seen, "last", () => {
          release()
          return "Done."
        })
      ],
      policy: policy("quorum", () => ({
        steps: [
          { worker: 0, subtask: "Prove.", access: [], check: { by: "right", onFailure: "continue" } },
          { worker: 2, subtask: "Repair.", access: [0], when: { failed: 0 } },
          { worker: 1, subtask: "Prove in another way.", access: [] },
          { worker: 3, subtask: "Choose.", access: "all", enough: { answers: 2, graceMillis: 0 } }
        ]
      })),
      checks: { right: () => true }
    } as unknown as Parameters<typeof conduct>[0])
    expect(transcript.ending).toBe("answered")
    expect(sentMessages(transcript, 0, 3).map(({ message }) => message)).toEqual(last(seen, "last"))
    expect(sentMessages(transcript, 0, 3).map(({ from }) => from)).not.toContain("Step 1")
  })
})
