/** Plain Promises: the plan read off with `async` functions and `Promise.all`. The floor, with no engine at all. */
import type { Contender } from "../Contender.ts"
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

export const contender: Contender = {
  name: "promises",
  prepare: async (workload) => ({ run: () => run(workload) })
}
