/**
 * The work that every contender does: the same plan, the same messages, the same workers.
 *
 * A step composes its messages from the question and from the subtasks and answers its access list names, hands them to
 * its worker and keeps the answer. The worker's answer depends on every message it was shown, so a run that composed
 * anything else ends in another answer, and is refused.
 */

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** One turn of a conversation. */
export interface Message {
  readonly role: "user" | "assistant"
  readonly content: string
}

/** A step, the earlier steps it sees, and how long its worker takes. */
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

/** What a worker is shown. */
export type Shown = ReadonlyArray<{ readonly content: unknown }>

/** A plan with the worker of each step: an async function, as users write them, and the same one for everybody. */
export interface Workload {
  readonly plan: Plan
  readonly worker: (step: number) => (messages: Shown) => Promise<string>
}

// -------------------------------------------------------------------------------------------------------------------
// Plans
// -------------------------------------------------------------------------------------------------------------------

const question = "Which of the three proposals for the new bridge is the cheapest over thirty years?"

/** 3 independent steps, one that sees all of them, and a last. */
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
 * Two chains of unlike steps that meet: 20 + 100 and 100 + 20, then 20. The critical path is 140 ms; one level after
 * the other takes 100 + 100 + 20 = 220 ms.
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

/** The longest sum of latencies along a path. */
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

/** Workers that answer without waiting for anything. */
export const immediate = (plan: Plan): Workload => ({ plan, worker: () => async (messages) => work(messages) })

/** Workers that take as long as the plan says, by Node's own timers. */
export const timed = (plan: Plan): Workload => ({
  plan,
  worker: (step) => async (messages) => {
    await new Promise((resolve) => setTimeout(resolve, plan.steps[step]!.latencyMillis))
    return work(messages)
  }
})

/** Workers that wait for a gate, which holds any number of runs in flight. */
export interface Gate {
  readonly workload: Workload
  /** Lets everybody through who waits, and all who come, until it is closed again. */
  readonly open: () => void
  readonly close: () => void
  /** How many calls have reached the gate so far. */
  readonly arrivals: () => number
}

/** A gate, closed. */
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

/** What the worker of a step is shown: past turns of the steps it sees, then the question with its own subtask. */
export const compose = (plan: Plan, step: number, answer: (step: number) => string): [...Array<Message>, Message] => {
  const { access, subtask } = plan.steps[step]!
  const messages: Array<Message> = []
  for (const earlier of access) {
    messages.push({ role: "user", content: plan.steps[earlier]!.subtask })
    messages.push({ role: "assistant", content: answer(earlier) })
  }
  return [...messages, { role: "user", content: `Question:\n${plan.question}\n\nSubtask:\n${subtask}` }]
}

/** What every worker answers: it tells how many messages it saw and how long they are together. */
export const work = (messages: Shown): string => {
  let characters = 0
  for (const { content } of messages) characters += String(content).length
  return `I saw ${messages.length} messages of ${characters} characters.`
}

/** What a run of the plan must answer. */
export const expected = (plan: Plan): string => {
  const answers: Array<string> = []
  plan.steps.forEach((_, step) => {
    answers.push(work(compose(plan, step, (earlier) => answers[earlier]!)))
  })
  return answers.at(-1)!
}
