/** Runs whose worker asks for tools, one turn after another, and answers when it has the results. */
import { type ConductOptions, conduct, single, type Tool, worker } from "@divisi/core/promise"

/** A call: a tool, and its arguments. */
export type Ask = readonly [tool: string, input?: object]

/** The results that the worker was shown, in their order, and how the run ended. */
export const asking = async (
  tools: ReadonlyArray<Tool>,
  asks: ReadonlyArray<Ask>,
  options: Partial<ConductOptions> = {}
) => {
  const results: Array<{ readonly content: unknown; readonly isError: boolean }> = []
  const asker = worker({
    id: "asker",
    capabilities: { tools: true, images: true },
    answer: ({ messages }) => {
      const last = messages.at(-1)!
      if (last.role === "tool") results.push({ content: last.content, isError: last.isError === true })
      const next = asks[results.length]
      return next === undefined ? "done" : { toolCalls: [{ name: next[0], arguments: next[1] ?? {} }] }
    }
  })
  const result = await conduct({
    question: "What do the tools say?",
    pool: [asker],
    policy: single(0),
    tools,
    approve: () => true,
    ...options
  })
  return { results, ending: result.ending, answer: result.answer }
}

/** Whether a process is there. */
export const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
