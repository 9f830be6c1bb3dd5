/**
 * The form of NVIDIA's Orchestrator-8B: in each turn the model calls one of three tools, and each call names the model
 * that answers it (arXiv 2511.21689, https://huggingface.co/nvidia/Orchestrator-8B).
 */
import { type ModelResponse, type Policy, policy, type Worker } from "@divisi/core/promise"

/** The workers that the model knows by other names, by the tool that they answer: `{ answer: { "answer-1": "gpt-5" } }`. */
export type Seats = { readonly [tool in "search" | "enhance_reasoning" | "answer"]: Readonly<Record<string, string>> }

const subtasks = {
  search: "Search for what is missing to answer the question, and report it.",
  enhance_reasoning: "Reason about the question, step by step, and report what follows.",
  answer: "Answer the question."
}

const toolsOf = (seats: Seats) =>
  Object.entries(seats).map(([name, models]) => ({
    name,
    description: subtasks[name as keyof Seats],
    input: {
      type: "object",
      properties: { model: { type: "string", enum: Object.keys(models) } },
      required: ["model"]
    }
  }))

/** Reads the call of a tool, whose arguments may be no JSON. */
const callOf = ({ toolCalls: [call] }: ModelResponse, seats: Seats) => {
  if (call === undefined || !Object.hasOwn(seats, call.name)) return undefined
  const tool = call.name as keyof Seats
  try {
    const { model } = JSON.parse(call.arguments) as { model?: string }
    const worker = seats[tool][model ?? ""]
    return worker === undefined ? undefined : { tool, worker }
  } catch {
    return undefined
  }
}

/** At most 50 turns, as published; the turn that calls `answer` is the last. */
export const orchestrator8b = (model: Worker, seats: Seats, turns = 50): Policy =>
  policy(
    "orchestrator-8b",
    async ({ complete, previous, task }) => {
      const rounds = previous?.rounds ?? []
      const turnsSoFar = rounds.flatMap(({ answers, said: [turn] = [] }) => {
        if (turn === undefined) return []
        const { text, toolCalls } = turn
        const answer = answers[0]
        const content = answer?.type === "answered" ? answer.text : "There is no result."
        const results = toolCalls.map(({ id, name }) => ({ role: "tool" as const, callId: id, name, content }))
        return [{ role: "assistant" as const, content: text, toolCalls }, ...results]
      })
      const problem = task.messages.map(({ content }) => String(content)).join("\n")
      const said = await complete({
        model,
        messages: [
          { role: "system", content: "You are good at using tools." },
          { role: "user", content: `Problem: ${problem}\n\nChoose an appropriate tool.` },
          ...turnsSoFar
        ],
        tools: toolsOf(seats)
      })
      const call = callOf(said, seats)
      if (call === undefined) return { answer: said.text, isLast: true, notes: ["The model called no tool."] }
      const earlier = rounds.map((_, round) => ({ round, step: 0 }))
      const step = { worker: call.worker, subtask: subtasks[call.tool], access: [], earlier }
      return { steps: [step], isLast: call.tool === "answer" }
    },
    { recursion: turns - 1 }
  )
