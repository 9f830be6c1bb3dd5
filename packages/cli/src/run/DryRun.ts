/** `divisi run --dry-run`: prints the plan for a question, with its price and topology, without executing it. */
import { type Price, Topology, Transcript, type Workflow } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import { type Failure, failed } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import { clean, oneLine } from "../view/Line.ts"
import * as PlanPrice from "../view/PlanPrice.ts"
import * as Records from "../view/Records.ts"

/** A plan with its price. */
interface Priced {
  readonly plan: string
  readonly price: Price.Price
  /** The reason why the budget would reject the plan (`budget.admit`), if it would. */
  readonly admission?: string
}

const print = (text: string): void => void stdout.write(`${text}\n`)

const json = (policy: string, { admission, plan, price }: Priced, workflow: Workflow.Workflow): string => {
  const topology = Topology.make(workflow)
  const shape = { shape: Topology.shape(topology), width: Topology.width(topology), layers: Topology.layers(topology) }
  return JSON.stringify({ policy, plan, workflow, price, admission, topology: shape })
}

const text = (
  policy: string,
  { admission, plan, price }: Priced,
  workflow: Workflow.Workflow,
  isPlay: boolean
): string =>
  [
    `Plan by ${oneLine(policy)}: ${Records.shapeOf(workflow)}`,
    "",
    clean(plan).trimEnd(),
    "",
    ...PlanPrice.lines(price, isPlay),
    ...(admission === undefined ? [] : ["", oneLine(admission)])
  ].join("\n")

/** Asks the policy for a plan and prints it. Calls to the policy's own model are made and charged. */
export const show = (
  options: Conductor.Options,
  question: string,
  isJson: boolean,
  provided: (run: Effect.Effect<Conductor.RunResult>) => Effect.Effect<Conductor.RunResult, Failure>
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const recorder = Transcript.recorder()
    let priced: Priced | undefined
    const conductor = Conductor.make({ ...options, approvePlans: true })
    const run = conductor.run(question, {
      listener: recorder.listener,
      approvePlan: ({ call }) => {
        priced = JSON.parse(call.arguments) as Priced
        return Effect.succeed({ approved: false, reason: "it is a dry run" })
      }
    })
    const { answer, detail } = yield* provided(run)
    const { policy = "", workflow } = recorder.transcript()?.rounds[0] ?? {}
    if (priced !== undefined && workflow !== undefined) {
      return print(
        isJson ? json(policy, priced, workflow) : text(policy, priced, workflow, WorkerPool.isPlay(options.pool))
      )
    }
    if (answer === undefined) return yield* failed(detail ?? "The policy wrote no plan.")
    print(isJson ? JSON.stringify({ policy, answer }) : `${oneLine(policy)} answers itself:\n${clean(answer)}`)
  })
