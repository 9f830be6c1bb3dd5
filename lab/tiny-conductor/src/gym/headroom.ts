/**
 * Measures the possible improvement in the gym: the accuracy of each single worker, the usual baselines, a majority
 * vote of all workers, the lexical policy and the oracle, on test tasks. Prints one JSON line for each. `--table`
 * prints a Markdown table, and `--families` prints accuracy by family.
 *
 *   pnpm --filter @divisi/tiny-conductor headroom [--tasks 500] [--seed 0] [--policies lexical,oracle] [--families] [--table]
 */
import { parseArgs } from "node:util"
import type { RunEvent } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import type { Policy } from "@divisi/core/Policy"
import { Family, GymGrader } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as GymPool from "@divisi/gym/GymPool"
import * as Effect from "effect/Effect"
import { policies, retry } from "./ComparedPolicies.ts"

const { values } = parseArgs({
  options: {
    tasks: { type: "string", default: "500" },
    seed: { type: "string", default: "0" },
    families: { type: "boolean", default: false },
    policies: { type: "string" },
    table: { type: "boolean", default: false }
  }
})

const tasks = Gym.tasks({ split: "test", count: Number(values.tasks), seed: Number(values.seed) })
const pool = GymPool.make({ latencyMillis: 0 })

/** The standard error of a share. */
const standardError = (share: number, count: number) => Math.sqrt((share * (1 - share)) / count)

const measure = Effect.fnUntraced(function* (policy: Policy) {
  const conductor = Conductor.make({ policy, pool, retry, reassign: "never", seed: 0 })
  let steps = 0
  // Counted from the plan, because a declined run also has planned steps.
  const listener: RunEvent.Listener = (event) => {
    if (event.type === "workflow-proposed") steps += event.workflow.steps.length
  }
  const runs = yield* Effect.forEach(tasks, (task) =>
    Effect.map(conductor.run(task, { listener }), (run) => ({ run, task }))
  )
  const graded = yield* Effect.forEach(runs, ({ run, task }) =>
    Effect.map(GymGrader.grader.grade(task, run.answer ?? ""), ({ correct }) => ({ correct, run, task }))
  )
  const accuracy = share(graded.map(({ correct }) => correct))
  const byFamily = Object.groupBy(graded, ({ task }) => String(task.metadata?.family))
  return {
    policy: policy.name,
    accuracy,
    standardError: standardError(accuracy, tasks.length),
    costUsd: runs.reduce((sum, { run }) => sum + run.spend.costUsd, 0),
    meanSteps: steps / runs.length,
    unanswered: runs.filter(({ run }) => run.ending !== "answered").length,
    families: values.families
      ? Object.fromEntries(
          Object.entries(byFamily).map(([family, group]) => [family, share((group ?? []).map((one) => one.correct))])
        )
      : undefined
  }
})

const share = (verdicts: ReadonlyArray<boolean>) =>
  verdicts.length === 0 ? 0 : verdicts.filter((correct) => correct).length / verdicts.length

const percent = (share: number) => `${(share * 100).toFixed(1)} %`

/** One row of the table: cost and steps are means. */
const row = ({ accuracy, costUsd, meanSteps, policy, standardError }: Effect.Success<ReturnType<typeof measure>>) => {
  const perThousand = ((costUsd / tasks.length) * 1000).toFixed(3)
  return `| ${policy} | ${percent(accuracy)} | ${percent(standardError)} | ${perThousand} | ${meanSteps.toFixed(2)} |`
}

/** The families in the order of the table, and what is made of several. */
const columns = [...Family.names, "composite"]

const familyRow = ({ families = {}, policy }: Effect.Success<ReturnType<typeof measure>>) =>
  `| ${[policy, ...columns.map((name) => ((families[name] ?? 0) * 100).toFixed(0))].join(" | ")} |`

if (values.table) {
  const head = values.families
    ? ["policy", ...columns]
    : ["policy", "accuracy", "standard error", "USD per 1,000 tasks", "steps"]
  console.log(`| ${head.join(" | ")} |\n|${head.map(() => "---|").join("")}`)
}
const wanted = values.policies?.split(",")
for (const policy of policies(pool).filter(({ name }) => wanted?.includes(name) ?? true)) {
  const measured = await Effect.runPromise(measure(policy))
  console.log(values.table ? (values.families ? familyRow : row)(measured) : JSON.stringify(measured))
}
