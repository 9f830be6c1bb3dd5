/**
 * DBOS: a workflow of steps in Postgres, as shown in its documentation. A step starts when its inputs are available.
 * All of its runs are durable, so it appears only in the durable rows. The database server's CPU time is not included.
 */
import { DBOS } from "@dbos-inc/dbos-sdk"
import type { Contender, Prepared } from "../Contender.ts"
import { startPostgres } from "../postgres.ts"
import { compose, type Workload } from "../Workload.ts"

const workflowOf = ({ plan, worker }: Workload) =>
  DBOS.registerWorkflow(
    async (): Promise<string> => {
      const answers: Array<Promise<string>> = []
      plan.steps.forEach(({ access }, step) => {
        const ask = async () => {
          const seen = new Map(await Promise.all(access.map(async (at) => [at, await answers[at]!] as const)))
          const messages = compose(plan, step, (at) => seen.get(at)!)
          return DBOS.runStep(() => worker(step)(messages), { name: `step-${step}` })
        }
        answers.push(ask())
      })
      return (await Promise.all(answers)).at(-1)!
    },
    { name: "bench" }
  )

const prepare = async (workload: Workload): Promise<Prepared> => {
  const workflow = workflowOf(workload)
  const { url } = await startPostgres()
  DBOS.setConfig({ name: "bench", systemDatabaseUrl: url.replace(/postgres$/, "dbos"), logLevel: "error" })
  await DBOS.launch()
  return { run: () => workflow() }
}

export const contender: Contender = { name: "dbos", prepare, prepareDurable: prepare }
