/**
 * The workload, which is the same for every contender: the same plan, messages and workers.
 *
 * A step composes its messages from the question and from the subtasks and answers its access list names, hands them to
 * its worker and keeps the answer. The worker's answer depends on every message it was shown, so a run that composed
 * anything else ends in another answer, and is refused.
 */

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** One turn in a conversation. */
export interface Message {
  readonly role: "user" | "assistant"
  readonly content: string
}

/** A step, the earlier steps that it can access, and the latency of its worker. */
export interface Step {
  readonly subtask: string
  readonly access: ReadonlyArray<number>
  readonly latencyMillis: number
}

/** A plan for the question. */
export interface Plan {
  readonly question: string
  readonly steps: ReadonlyArray<Step>
}

/** Messages as shown to a worker. */
export type Shown = ReadonlyArray<{ readonly content: unknown }>

/**
 * A plan and the worker for each step: an async function, as users would write it, which is the same for all
 * contenders.
 */
export interface Workload {
  readonly plan: Plan
  readonly worker: (step: number) => (messages: Shown) => Promise<string>
}

// -------------------------------------------------------------------------------------------------------------------
// Plans
// -------------------------------------------------------------------------------------------------------------------

const question = "Which of the three proposals for the new bridge is the cheapest over thirty years?"

/** Three independent steps, a step that depends on all of them, and a final step. */
export const fiveSteps: Plan = {
  question,
  steps: [
    { subtask: "Estimate the cost of the steel bridge.", access: [], latencyMillis: 0 },
    { subtask: "Estimate the cost of the concrete bridge.", access: [], latencyMillis: 0 },
    { subtask: "Estimate the cost of the timber bridge.", access: [], latencyMillis: 0 },
    { subtask: "Compare the three estimates.", access: [0, 1, 2], latencyMillis: 0 },
    { subtask: "Write the recommendation.", access: [3], latencyMillis: 0 }
  ]
}

/**
 * Two chains of steps with different latencies that are joined at the end: 20 + 100 and 100 + 20, then 20. The critical
 * path is 140 ms; level by level, the plan takes 100 + 100 + 20 = 220 ms.
 */
export const uneven: Plan = {
  question,
  steps: [
    { subtask: "Look up the price of steel.", access: [], latencyMillis: 20 },
    { subtask: "Survey the ground.", access: [], latencyMillis: 100 },
    { subtask: "Design the steel bridge.", access: [0], latencyMillis: 100 },
    { subtask: "Price the foundations.", access: [1], latencyMillis: 20 },
    { subtask: "Write the recommendation.", access: [2, 3], latencyMillis: 20 }
  ]
}

/** Returns the maximum sum of latencies along a path. */
export const criticalPathMillis = (plan: Plan): number => {
  const ends: Array<number> = []
  for (const { access, latencyMillis } of plan.steps) {
    ends.push(latencyMillis + Math.max(0, ...access.map((step) => ends[step]!)))
  }
  return Math.max(...ends)
}

// -------------------------------------------------------------------------------------------------------------------
// Workloads
// -------------------------------------------------------------------------------------------------------------------

/** Creates workers that answer immediately. */
export const immediate = (plan: Plan): Workload => ({ plan, worker: () => async (messages) => work(messages) })

/** Creates workers with the latencies in the plan, using Node's timers. */
export const timed = (plan: Plan): Workload => ({
  plan,
  worker: (step) => async (messages) => {
    await new Promise((resolve) => setTimeout(resolve, plan.steps[step]!.latencyMillis))
    return work(messages)
  }
})

/** Workers that wait at a gate, which can hold any number of runs in flight. */
export interface Gate {
  readonly workload: Workload
  /** Admits all waiting and future calls until the gate is closed again. */
  readonly open: () => void
  readonly close: () => void
  /** Returns the number of calls that have reached the gate. */
  readonly arrivals: () => number
}

/** Creates a closed gate. */
export const gated = (plan: Plan): Gate => {
  let gate = Promise.withResolvers<void>()
  let arrivals = 0
  const worker = () => async (messages: Shown) => {
    arrivals += 1
    await gate.promise
    return work(messages)
  }
  return {
    workload: { plan, worker },
    open: () => gate.resolve(),
    close: () => {
      gate = Promise.withResolvers<void>()
    },
    arrivals: () => arrivals
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Work
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the messages for a step's worker: the turns of the steps that it can access, then the question with its
 * subtask.
 */
export const compose = (plan: Plan, step: number, answer: (step: number) => string): [...Array<Message>, Message] => {
  const { access, subtask } = plan.steps[step]!
  const messages: Array<Message> = []
  for (const earlier of access) {
    messages.push({ role: "user", content: plan.steps[earlier]!.subtask })
    messages.push({ role: "assistant", content: answer(earlier) })
  }
  return [...messages, { role: "user", content: `Question:\n${plan.question}\n\nSubtask:\n${subtask}` }]
}

/** Returns the answer of every worker: the number of messages that it received and their total length. */
export const work = (messages: Shown): string => {
  let characters = 0
  for (const { content } of messages) characters += String(content).length
  return `I saw ${messages.length} messages of ${characters} characters.`
}

/** Returns the expected answer of a run of the plan. */
export const expected = (plan: Plan): string => {
  const answers: Array<string> = []
  plan.steps.forEach((_, step) => {
    answers.push(work(compose(plan, step, (earlier) => answers[earlier]!)))
  })
  return answers.at(-1)!
}
