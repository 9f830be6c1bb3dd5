/**
 * Plain Promises: the plan written with `async` functions and `Promise.all`. This is the lower bound, without any
 * engine.
 */
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
import { compose, type Workload } from "../Workload.ts"

const run = ({ plan, worker }: Workload): Promise<string> => {
  const answers: Array<Promise<string>> = []
  const step = async (index: number): Promise<string> => {
    const { access } = plan.steps[index]!
    const seen = await Promise.all(access.map((earlier) => answers[earlier]!))
    const messages = compose(plan, index, (earlier) => seen[access.indexOf(earlier)]!)
    return await worker(index)(messages)
  }
  for (let index = 0; index < plan.steps.length; index++) answers.push(step(index))
  return answers.at(-1)!
}

/** Processes the items with as many loops as items may run concurrently. */
const runMapping = async (mapping: Mapping, list: typeof lastWorker, stages: ReadonlyArray<typeof lastWorker>) => {
  const items: ReadonlyArray<string> = JSON.parse(await list([]))
  const answers: Array<string> = []
  let next = 0
  const loop = async () => {
    while (next < items.length) {
      const index = next++
      let answer: string | undefined
      for (const [stage, ask] of stages.entries()) {
        answer = await ask(stageMessages(mapping, stage, items[index]!, answer))
      }
      answers[index] = answer!
    }
  }
  await Promise.all(Array.from({ length: mapping.atOnce }, loop))
  return lastWorker(joinMessages(mapping, answers))
}

const runPanel = async (panel: Panel, experts: ReadonlyArray<typeof lastWorker>) => {
  const answers: Array<string | undefined> = experts.map(() => undefined)
  const enough = Promise.withResolvers<void>()
  let answered = 0
  const all = experts.map(async (ask, expert) => {
    answers[expert] = await ask(expertMessages(panel, expert))
    answered += 1
    if (answered === panel.enough) setTimeout(enough.resolve, panel.graceMillis)
  })
  await Promise.race([enough.promise, Promise.all(all)])
  return lastWorker(judgeMessages(panel, answers))
}

export const contender: Contender = {
  name: "promises",
  prepare: async (workload) => ({ run: () => run(workload) }),
  prepareMapping: async (mapping) => {
    const list = listWorker(mapping)
    const stages = mapping.stages.map((_, stage) => stageWorker(mapping, stage))
    return { run: () => runMapping(mapping, list, stages) }
  },
  preparePanel: async (panel) => {
    const experts = panel.experts.map((_, expert) => expertWorker(panel, expert))
    return { run: () => runPanel(panel, experts) }
  }
}
