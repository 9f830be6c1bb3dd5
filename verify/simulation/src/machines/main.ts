/**
 * `pnpm simulate:machines`: simulates machines that share a database, under faults. Problems are printed to standard
 * output, in which case the exit code is 1.
 */
import { parseArgs } from "node:util"
import { PostgresServer } from "@divisi/testkit/journals"
import * as Mutants from "../Mutants.ts"
import { mutants } from "./mutants.ts"

const whole = (text: string): number => {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number > 0) return number
  throw new TypeError(`"${text}" is not a positive whole number.`)
}

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    seeds: { type: "string", default: "1" },
    machines: { type: "string", default: "1000" },
    runs: { type: "string" },
    tasks: { type: "string" },
    faults: { type: "string" },
    seconds: { type: "string", default: "60" },
    mutant: { type: "string" }
  }
})
if (values.mutant !== undefined) Mutants.plant(values.mutant, mutants)
const { simulate } = await import("./Machines.ts")
const machines = whole(values.machines)
for (let seed = whole(values.seed), left = whole(values.seeds); left > 0; seed++, left--) {
  const server = await PostgresServer.start({ settings: { fsync: "off", jit: "off" } })
  try {
    const begun = performance.now()
    const { problems, ...found } = await simulate({
      seed,
      machines,
      runs: whole(values.runs ?? `${machines * 3}`),
      tasks: whole(values.tasks ?? `${machines * 2}`),
      faults: whole(values.faults ?? `${machines}`),
      seconds: whole(values.seconds),
      url: server.url
    })
    for (const problem of problems) console.log(problem)
    const { rss } = process.memoryUsage()
    console.log(JSON.stringify({ machines, ...found, problems: problems.length }))
    console.log(`${((performance.now() - begun) / 1000).toFixed(1)} s, ${(rss / 1e6).toFixed(0)} MB`)
    if (problems.length > 0) process.exitCode = 1
  } finally {
    server.stop()
  }
}
process.exit()
