/**
 * Mastra: a workflow of steps with schemas, committed once, with a run made for each question. It knows sequences and
 * sets of parallel steps, so a plan becomes its levels: `.parallel([...])` where a level has several steps, `.then(...)`
 * where it has one. A step reads what it sees with `getStepResult`.
 */
import { createStep, createWorkflow } from "@mastra/core/workflows"
import { z } from "zod"
import type { Contender } from "../Contender.ts"
import { compose, type Plan, type Workload } from "../Workload.ts"

const answerSchema = z.object({ answer: z.string() })
type Answer = z.infer<typeof answerSchema>

const makeStep = ({ plan, worker }: Workload, index: number) =>
  createStep({
    id: `step-${index}`,
    inputSchema: z.any(),
    outputSchema: answerSchema,
    execute: async ({ getStepResult }) => {
      const messages = compose(plan, index, (earlier) => getStepResult<Answer>(`step-${earlier}`).answer)
      return { answer: await worker(index)(messages) }
    }
  })

/** The steps by level: a step's level is one more than the highest it sees. */
const levels = (plan: Plan): ReadonlyArray<ReadonlyArray<number>> => {
  const levelOf: Array<number> = []
  for (const { access } of plan.steps) levelOf.push(1 + Math.max(-1, ...access.map((step) => levelOf[step]!)))
  return Array.from({ length: 1 + Math.max(...levelOf) }, (_, level) =>
    levelOf.flatMap((one, step) => (one === level ? [step] : []))
  )
}

type MastraStep = ReturnType<typeof makeStep>

/** What is used of a Mastra workflow. Its own type grows with each step, so that a loop cannot name it. */
interface Flow {
  readonly then: (step: MastraStep) => Flow
  readonly parallel: (steps: ReadonlyArray<MastraStep>) => Flow
  readonly commit: () => Flow
  readonly createRun: () => Promise<{
    readonly start: (options: {
      readonly inputData: unknown
    }) => Promise<{ readonly status: "success"; readonly result: Answer } | { readonly status: "failed" }>
  }>
}

const makeWorkflow = (workload: Workload): Flow => {
  const empty = createWorkflow({ id: "plan", inputSchema: z.any(), outputSchema: answerSchema }) as unknown as Flow
  const flow = levels(workload.plan).reduce((flow, level) => {
    const steps = level.map((index) => makeStep(workload, index))
    return steps.length === 1 ? flow.then(steps[0]!) : flow.parallel(steps)
  }, empty)
  return flow.commit()
}

export const contender: Contender = {
  name: "mastra",
  prepare: async (workload) => {
    const workflow = makeWorkflow(workload)
    return {
      run: async () => {
        const run = await workflow.createRun()
        const result = await run.start({ inputData: { question: workload.plan.question } })
        if (result.status !== "success") throw new Error(`The workflow ended with ${result.status}.`)
        return result.result.answer
      }
    }
  }
}
