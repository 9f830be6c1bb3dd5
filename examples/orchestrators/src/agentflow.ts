/**
 * The form of AgentFlow: a planner chooses the next sub-goal and its tool from a memory of what was done, an executor
 * runs it, a verifier says whether the memory suffices, and a generator writes the answer (arXiv 2510.05592).
 */
import { type Policy, policy, type Worker } from "@divisi/core/promise"

export interface Modules {
  readonly planner: Worker
  readonly verifier: Worker
  /** The id of the worker that writes the answer. */
  readonly generator: string
}

interface Action {
  readonly worker: string
  readonly goal: string
}

const isAction = (value: unknown, known: ReadonlyArray<string>): value is Action => {
  const { goal, worker } = (value ?? {}) as Partial<Action>
  return typeof goal === "string" && typeof worker === "string" && known.includes(worker)
}

const actionIn = (text: string, known: ReadonlyArray<string>): Action | undefined => {
  try {
    const value: unknown = JSON.parse(/\{[^{}]*\}/.exec(text)?.[0] ?? "")
    return isAction(value, known) ? value : undefined
  } catch {
    return undefined
  }
}

export const agentflow = ({ generator, planner, verifier }: Modules, turns = 10): Policy =>
  policy(
    "agentflow",
    async ({ complete, pool, previous, round, task }) => {
      const ids = pool.workers.map(({ id }) => id)
      const rounds = previous?.rounds ?? []
      const memory = rounds.map(({ answers, workflow }, turn) => {
        const answer = answers[0]
        const result = answer?.type === "answered" ? answer.text : "no result"
        return `${turn + 1}. ${workflow.steps[0]?.subtask ?? ""}\n   ${result}`
      })
      const question = task.messages.map(({ content }) => String(content)).join("\n")
      const shown = `Question: ${question}\nMemory:\n${memory.join("\n") || "empty"}`
      const earlier = rounds.map((_, turn) => ({ round: turn, step: 0 }))
      const ending = {
        steps: [{ worker: generator, subtask: "Answer the question from these results.", access: [], earlier }],
        isLast: true
      }
      const ask = (model: Worker, instruction: string) =>
        complete({ model, messages: [{ role: "user", content: `${instruction}\n\n${shown}` }] })
      if (round + 1 >= turns) return ending
      if (memory.length > 0) {
        const { text } = await ask(verifier, "Does the memory suffice to answer the question? Say STOP or CONTINUE.")
        if (/\bSTOP\b/.test(text)) return ending
      }
      const { text } = await ask(
        planner,
        `Choose the next action, as {"worker": …, "goal": …}. Tools: ${ids.join(", ")}`
      )
      const action = actionIn(text, ids)
      return action === undefined ? ending : { steps: [{ worker: action.worker, subtask: action.goal, access: [] }] }
    },
    { recursion: turns - 1 }
  )
