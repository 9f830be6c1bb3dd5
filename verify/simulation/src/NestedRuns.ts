/**
 * Runs that start other runs, from workers, tools, policies and checks, all concurrently and with limited accounts.
 * Every run must end, the accounts must match the vendor's records and never exceed their limits, and no reservation
 * may remain.
 */
import { Budget, Seed } from "@divisi/core"
import { conduct, type Policy, policy, single, type Tool, tool, worker } from "@divisi/core/promise"
import type { Worker } from "@divisi/core/Worker"

/** The problems that a simulation found, and how much it did. */
export interface Found {
  readonly problems: ReadonlyArray<string>
  /** Calls that the vendor was paid for. */
  readonly calls: number
  /** Runs by the way in which they were started. */
  readonly started: Readonly<Record<Way, number>>
  /** Runs by their ending. */
  readonly endings: Readonly<Record<string, number>>
}

const ways = ["worker", "tool", "policy", "check"] as const

/** How a run starts another run. */
export type Way = (typeof ways)[number]

const pricing = { inputPerMillion: 1, outputPerMillion: 1 }
const usage = { inputTokens: 10, outputTokens: 5 }
const maxOutputTokens = 100
const deepest = 4

/**
 * Nothing in this simulation waits for a clock or the network, so runs that make no progress in this many turns of a 1
 * ms timer will never end.
 */
const idleTurns = 2_000

/** Simulates the runs of a seed. */
export const simulate = async (seed: number): Promise<Found> => {
  const draw = Seed.draw(seed)
  const whole = (below: number) => Math.floor(draw() * below)
  const limits: Budget.Limits = [
    { calls: 1 + whole(30) },
    { costUsd: (1 + whole(40)) * 1e-4 },
    { tokens: 200 + whole(4_000) },
    {}
  ][whole(4)]!
  const above = Budget.make(limits)
  const accounts = [above, Budget.make({}, above), Budget.make({ calls: 1 + whole(40) }, above)]
  const started: Record<Way, number> = { worker: 0, tool: 0, policy: 0, check: 0 }
  const endings: Record<string, number> = {}
  let calls = 0
  let ended = 0

  const answered = (text: string) => {
    calls += 1
    return { text, usage }
  }

  /** A worker that answers, and may start a run first. */
  const member = (id: string, before?: () => Promise<unknown>): Worker =>
    worker({
      id,
      pricing,
      maxOutputTokens,
      capabilities: { tools: true },
      answer: async ({ messages, tools = [] }) => {
        await before?.()
        const last = messages.at(-1)
        if (tools.length === 0 || last?.role === "tool") return answered("yes")
        calls += 1
        return { toolCalls: [{ name: tools[0]!.name, arguments: {} }], usage }
      }
    })

  const start = async (depth: number): Promise<string> => {
    const way: Way | undefined = depth < deepest && draw() < 0.8 ? ways[whole(ways.length)] : undefined
    const inner = async () => {
      started[way!] += 1
      const all = await Promise.all(Array.from({ length: 1 + whole(2) }, () => start(depth + 1)))
      return all.join(" ")
    }
    const asks = tool({ name: "ask", input: { type: "object" }, execute: inner })
    const tools: ReadonlyArray<Tool> = way === "tool" ? [asks] : []
    const checked: Policy = policy("checked", () => ({
      steps: [
        { worker: 0, subtask: "a", access: [], check: { by: "judge", onFailure: "revise" } },
        { worker: 0, subtask: "b", access: [0] }
      ]
    }))
    const planned: Policy = policy("planned", async () => {
      await inner()
      return { steps: [{ worker: 0, subtask: "", access: [] }] }
    })
    const { ending } = await conduct({
      question: `${seed}`,
      pool: [member("member", way === "worker" ? inner : undefined)],
      policy: way === "policy" ? planned : way === "check" ? checked : single(0),
      ...(way === "check" && {
        checks: {
          judge: async () => {
            await inner()
            return true
          }
        }
      }),
      tools,
      ledger: accounts[whole(accounts.length)]!
    })
    endings[ending] = (endings[ending] ?? 0) + 1
    ended += 1
    return ending
  }

  const problems: Array<string> = []
  let isOver = false
  void Promise.all(Array.from({ length: 1 + whole(4) }, () => start(0))).then(() => (isOver = true))
  const progress = () => calls + ended
  for (let before = progress(), idle = 0; !isOver && idle < idleTurns; idle++) {
    await new Promise((resolve) => setTimeout(resolve, 0))
    if (progress() > before) [before, idle] = [progress(), 0]
  }
  if (!isOver) problems.push("a run did not end")

  const spent = above.spent()
  if (spent.calls !== calls) problems.push(`${spent.calls} calls are charged, and ${calls} were paid`)
  if (limits.calls !== undefined && spent.calls > limits.calls) problems.push("the limit of calls is exceeded")
  if (limits.costUsd !== undefined && spent.costUsd > limits.costUsd) problems.push("the limit of cost is exceeded")
  for (const account of accounts) {
    const { open, reservedCostUsd, reservedTokens } = account as unknown as Budget.Standing
    if (open !== 0 || reservedTokens !== 0 || Math.abs(reservedCostUsd) > 1e-12)
      problems.push("something stays reserved")
  }
  return { problems, calls, started, endings }
}
