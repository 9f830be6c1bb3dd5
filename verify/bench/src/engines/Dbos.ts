/**
 * DBOS: a workflow of steps. When a process starts, it recovers the runs of an earlier process with the same executor
 * id.
 */
import { DBOS } from "@dbos-inc/dbos-sdk"
import * as Engine from "./Engine.ts"

export const start: Engine.Start = async ({ atOnce, call, url }) => {
  const workflow = DBOS.registerWorkflow(
    async (run: string): Promise<string> => {
      let answer = ""
      for (let step = 0; step < Engine.steps; step++) {
        answer = await DBOS.runStep(() => call(Engine.textOf(run, step)), { name: `step ${step}` })
      }
      return answer
    },
    { name: "line" }
  )
  DBOS.setConfig({ name: "engines", systemDatabaseUrl: url.replace(/postgres$/, "dbos"), logLevel: "error" })
  await DBOS.launch()
  const execute = async (run: string) => (await DBOS.startWorkflow(workflow, { workflowID: run })(run)).getResult()
  return async (runs) => {
    const answers: Array<string> = []
    const left = [...runs.entries()]
    const lane = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) answers[next[0]] = await execute(next[1])
    }
    await Promise.all(Array.from({ length: atOnce }, lane))
    return answers
  }
}
