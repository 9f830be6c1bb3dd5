/**
 * Mastra: a workflow of steps with schemas, committed once, with a new run for each question. It supports sequences and
 * sets of parallel steps, so the plan is converted to levels: `.parallel([...])` for a level with several steps,
 * `.then(...)` for a level with one. A step reads its inputs with `getStepResult`.
 */
import { createStep, createWorkflow } from "@mastra/core/workflows"
import { z } from "zod"
import type { Contender } from "../Contender.ts"
import {
  expertMessages,
  expertWorker,
  joinMessages,
  judgeMessages,
  lastWorker,
  listWorker,
  type Mapping,
  type Panel,
  stageMessages,
  stageWorker
} from "../Programs.ts"
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

/** Groups the steps by level. A step's level is one higher than the highest level among its inputs. */
const levels = (plan: Plan): ReadonlyArray<ReadonlyArray<number>> => {
  const levelOf: Array<number> = []
  for (const { access } of plan.steps) levelOf.push(1 + Math.max(-1, ...access.map((step) => levelOf[step]!)))
  return Array.from({ length: 1 + Math.max(...levelOf) }, (_, level) =>
    levelOf.flatMap((one, step) => (one === level ? [step] : []))
  )
}

type MastraStep = ReturnType<typeof createStep>

/** The part of a Mastra workflow used here. Its actual type grows with each step, so it cannot be named in a loop. */
interface Flow {
  readonly then: (step: MastraStep) => Flow
  readonly parallel: (steps: ReadonlyArray<MastraStep>) => Flow
  readonly foreach: (step: MastraStep, options: { readonly concurrency: number }) => Flow
  readonly commit: () => Flow
  readonly createRun: () => Promise<{
    readonly start: (options: {
      readonly inputData: unknown
    }) => Promise<{ readonly status: "success"; readonly result: Answer } | { readonly status: "failed" }>
  }>
}

const emptyFlow = (): Flow =>
  createWorkflow({ id: "plan", inputSchema: z.any(), outputSchema: answerSchema }) as unknown as Flow

const makeWorkflow = (workload: Workload): Flow => {
  const flow = levels(workload.plan).reduce((flow, level) => {
    const steps = level.map((index) => makeStep(workload, index) as unknown as MastraStep)
    return steps.length === 1 ? flow.then(steps[0]!) : flow.parallel(steps)
  }, emptyFlow())
  return flow.commit()
}

const anyStep = (id: string, execute: (input: never) => Promise<unknown>): MastraStep =>
  createStep({
    id,
    inputSchema: z.any(),
    outputSchema: z.any(),
    execute: async ({ inputData }) => execute(inputData as never)
  }) as unknown as MastraStep

interface Reviewed {
  readonly item: string
  readonly answer?: string
}

/**
 * Uses `.foreach` for each stage, chained as in the documentation: a stage starts when the previous one has finished.
 */
const mappingFlow = (mapping: Mapping): Flow => {
  const list = listWorker(mapping)
  const items = anyStep("list", async () => JSON.parse(await list([])).map((item: string): Reviewed => ({ item })))
  const stages = mapping.stages.reduce((flow, _, stage) => {
    const ask = stageWorker(mapping, stage)
    const one = anyStep(`stage-${stage}`, async ({ answer, item }: Reviewed) => ({
      item,
      answer: await ask(stageMessages(mapping, stage, item, answer))
    }))
    return flow.foreach(one, { concurrency: mapping.atOnce })
  }, emptyFlow().then(items))
  const join = anyStep("join", async (reviewed: ReadonlyArray<Required<Reviewed>>) => ({
    answer: await lastWorker(
      joinMessages(
        mapping,
        reviewed.map(({ answer }) => answer)
      )
    )
  }))
  return stages.then(join).commit()
}

const panelFlow = (panel: Panel): Flow => {
  const experts = panel.experts.map((_, expert) => {
    const ask = expertWorker(panel, expert)
    return anyStep(`expert-${expert}`, async () => ({ answer: await ask(expertMessages(panel, expert)) }))
  })
  const judge = anyStep("judge", async (answers: Readonly<Record<string, Answer>>) => ({
    answer: await lastWorker(
      judgeMessages(
        panel,
        experts.map((_, expert) => answers[`expert-${expert}`]?.answer)
      )
    )
  }))
  return emptyFlow().parallel(experts).then(judge).commit()
}

const runOf = (workflow: Flow, question: string) => async (): Promise<string> => {
  const run = await workflow.createRun()
  const result = await run.start({ inputData: { question } })
  if (result.status !== "success") throw new Error(`The workflow ended with ${result.status}.`)
  return result.result.answer
}

export const contender: Contender = {
  name: "mastra",
  prepare: async (workload) => ({ run: runOf(makeWorkflow(workload), workload.plan.question) }),
  prepareMapping: async (mapping) => ({ run: runOf(mappingFlow(mapping), mapping.question) }),
  preparePanel: async (panel) => ({ run: runOf(panelFlow(panel), panel.question) })
}
