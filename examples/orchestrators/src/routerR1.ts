/**
 * The form of Router-R1: the model thinks in `<think>`, asks a model of the pool in `<search>model:query</search>`, reads
 * the reply in `<information>`, and ends with `<answer>` (arXiv 2506.09033, https://github.com/ulab-uiuc/Router-R1).
 */
import { type Policy, policy, type Worker } from "@divisi/core/promise"

const tag = (name: string, text: string): string | undefined =>
  new RegExp(`<${name}>([\\s\\S]*?)</${name}>`).exec(text)?.[1]?.trim()

/** Reads the last request of a turn; a request names a worker of the pool. */
const requestOf = (text: string, known: ReadonlyArray<string>) => {
  const asked = tag("search", text)
  const at = asked?.indexOf(":") ?? -1
  const worker = asked?.slice(0, at).trim()
  return at < 0 || !known.includes(worker!) ? undefined : { worker: worker!, query: asked!.slice(at + 1).trim() }
}

export const routerR1 = (model: Worker, turns = 4): Policy =>
  policy(
    "router-r1",
    async ({ complete, pool, previous, round, task }) => {
      const ids = pool.workers.map(({ id }) => id)
      const described = pool.workers.map(({ description = "", id }) => `${id}: ${description}`).join("\n")
      const turnsSoFar = (previous?.rounds ?? []).flatMap(({ answers, said: [turn] = [] }) => {
        if (turn === undefined) return []
        const answer = answers[0]
        const information = answer?.type === "answered" ? answer.text : "None."
        return [
          { role: "assistant" as const, content: turn.text },
          { role: "user" as const, content: `<information>${information}</information>` }
        ]
      })
      const { text } = await complete({
        model,
        messages: [
          {
            role: "system",
            content: `Think in <think>. Ask a model in <search>model:query</search>. Answer in <answer>.\nModels:\n${described}`
          },
          ...task.messages,
          ...turnsSoFar
        ]
      })
      const answer = tag("answer", text)
      if (answer !== undefined) return { answer, isLast: true }
      const request = requestOf(text, ids)
      if (request === undefined) return { answer: text, isLast: true, notes: ["It neither asked nor answered."] }
      // Only the model's own answer ends the run: the reply of a worker is a draft.
      return { steps: [{ worker: request.worker, subtask: request.query, access: [] }], isLast: round + 1 === turns }
    },
    { recursion: turns - 1 }
  )
