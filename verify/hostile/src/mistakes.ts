/**
 * Prints ten configurations with one mistake each and the errors, as Markdown: `pnpm --filter @divisi/hostile mistakes`.
 */
import { configurations } from "./configurations.ts"
import { outcomeOf } from "./options.ts"

/** A function, and the options in which it differs from a valid configuration. */
const mistakes: ReadonlyArray<readonly [name: string, options: Readonly<Record<string, unknown>>]> = [
  ["conduct", { maxstep: 3 }],
  ["conduct", { budget: { costUSD: 1 } }],
  ["TrainingConfig.grpo", { groupsize: 12 }],
  ["TrainingConfig.grpo", { groupSize: 1 }],
  ["TrainingConfig.grpo", { optimizer: { learningRate: -1 } }],
  ["TrainingConfig.grpo", { rollouts: { run: { maxsteps: 3 } } }],
  ["Gym.tasks", { split: "exam" }],
  ["Evaluation.run", { epochs: 0 }],
  ["Server.make", { heartbeat: 9 }],
  ["openai", { temperature: "warm" }]
]

const rows = await Promise.all(
  mistakes.map(async ([name, options]) => {
    const configuration = configurations.find((one) => one.name === name)!
    const message = await outcomeOf(configuration.make, { ...configuration.options, ...options })
    return `| \`${name}\` | \`${JSON.stringify(options)}\` | ${message} |`
  })
)
process.stdout.write(`${["| function | mistake | error |", "|---|---|---|", ...rows].join("\n")}\n`)
process.exit(0)
