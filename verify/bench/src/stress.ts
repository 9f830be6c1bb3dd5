/** `pnpm stress`: runs the stress check. Prints JSON, and exits with code 1 if a call was lost or duplicated. */
import { parseArgs } from "node:util"
import * as Effect from "effect/Effect"
import { machine } from "./Report.ts"
import { type Outcome, run, type Scenario } from "./Scenario.ts"

const options = { runs: { type: "string", default: "10000" }, help: { type: "boolean" } } as const

const readRuns = (): number => {
  try {
    const { help, runs } = parseArgs({ args: process.argv.slice(2).filter((arg) => arg !== "--"), options }).values
    if (!help && Number.isInteger(Number(runs)) && Number(runs) >= 1) return Number(runs)
  } catch {
    // Continues with the usage message.
  }
  process.stderr.write("Usage: pnpm stress [--runs N]\n\n  --runs N   how many runs at once (10000)\n")
  process.exit(2)
}

/**
 * Each run makes five calls, three of them to one provider. The rate limit is chosen so that the last tenth has to
 * wait.
 */
const scenarios = (runs: number): ReadonlyArray<Scenario> => {
  const limits = { requestsPerMinute: Math.ceil(runs * 2.7), tokensPerMinute: runs * 1000, concurrency: 250 }
  const ample = { costUsd: runs, calls: runs * 10, tokens: runs * 10_000 }
  return [
    { name: "an ample budget", runs, budget: ample, limits, failing: 0.03, interrupted: 0 },
    {
      // The worst case is reserved first, so near the limit calls wait until others are settled.
      name: "a budget that does not last",
      runs,
      budget: { ...ample, costUsd: runs * 4.5 * 0.000215 },
      limits,
      failing: 0.03,
      interrupted: 0
    },
    { name: "a tenth of the runs is interrupted", runs, budget: ample, limits, failing: 0.03, interrupted: 0.1 }
  ]
}

const outcomes: Array<Outcome> = []
for (const scenario of scenarios(readRuns())) {
  process.stderr.write(`${scenario.runs} runs, ${scenario.name} ...\n`)
  const outcome = await Effect.runPromise(run(scenario))
  outcomes.push(outcome)
  for (const { actual, expected, name, ok } of outcome.checks) {
    if (!ok) process.stderr.write(`  FAILED ${name}: ${actual} instead of ${expected}\n`)
  }
  const { calls, wallMillis } = outcome
  process.stderr.write(`  ${calls} calls in ${wallMillis} ms, ${JSON.stringify(outcome.outcomes)}\n`)
}

const ok = outcomes.every(({ checks }) => checks.every((check) => check.ok))
process.stdout.write(
  `${JSON.stringify({ version: 1, date: new Date().toISOString(), machine: machine(), ok, scenarios: outcomes }, undefined, 2)}\n`
)
process.exitCode = ok ? 0 : 1
