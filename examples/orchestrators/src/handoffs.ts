/**
 * Handoffs as in OpenAI's Agents SDK: the agent in charge answers, or calls `transfer_to_<agent>`, and that agent is in
 * charge from then on (https://openai.github.io/openai-agents-js/guides/handoffs/).
 */
import { type Policy, policy, type Worker } from "@divisi/core/promise"

export interface Agent {
  readonly name: string
  readonly model: Worker
  readonly instructions: string
  /** The names of the agents that it may hand over to. */
  readonly handoffs: ReadonlyArray<string>
}

const transfer = "transfer_to_"

/** The first agent is in charge at the start. */
export const handoffs = ([first, ...others]: readonly [Agent, ...ReadonlyArray<Agent>], maxHandoffs = 10): Policy =>
  policy("handoffs", async ({ complete, task }) => {
    const agents = [first, ...others]
    let agent = first
    for (let handoff = 0; ; handoff++) {
      const mayHandOff = handoff < maxHandoffs
      const { text, toolCalls } = await complete({
        model: agent.model,
        messages: [{ role: "system", content: agent.instructions }, ...task.messages],
        tools: mayHandOff
          ? agent.handoffs.map((name) => ({
              name: `${transfer}${name}`,
              description: `Hand over to ${name}.`,
              input: { type: "object", properties: {} }
            }))
          : []
      })
      const wanted = toolCalls[0]?.name.slice(transfer.length)
      const next = mayHandOff ? agents.find(({ name }) => name === wanted) : undefined
      if (next === undefined) return { answer: text, notes: [`${agent.name} answered.`] }
      agent = next
    }
  })
