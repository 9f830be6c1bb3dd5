/**
 * Measures the benefit and cost of re-planning on evidence in the gym: questions with several parts, a plan with a
 * check on each part, and the same plan without checks. The checks know the exact answers and are wrong in a given
 * share of cases. Prints one table row per policy. Differences are paired with the plan that is executed unchanged.
 *
 *   pnpm --filter @divisi/tiny-conductor evidence [--tasks 400] [--seed 0]
 */
import { parseArgs } from "node:util"
import { type Critic, Escalation, Grader, Seed, Transcript, type Workflow } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as Policy from "@divisi/core/Policy"
import type * as Task from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { Family, GymGrader, GymWorker } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as GymPool from "@divisi/gym/GymPool"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import * as Effect from "effect/Effect"
import { policies, retry } from "./ComparedPolicies.ts"

const { values } = parseArgs({
  options: { tasks: { type: "string", default: "400" }, seed: { type: "string", default: "0" } }
})

const seed = Number(values.seed)
const pool = GymPool.make({ latencyMillis: 0 })
const lexical = LexicalPolicy.make()

const tasks = Gym.tasks({ split: "test", count: 4 * Number(values.tasks), seed })
  .filter(({ metadata }) => metadata?.family === "composite")
  .slice(0, Number(values.tasks))

// -------------------------------------------------------------------------------------------------------------------
// Checks
// -------------------------------------------------------------------------------------------------------------------

/** Answers every part exactly, at a price that is wasted, because the checks already know the answer. */
const exact = GymWorker.make(
  {
    id: "exact",
    description: "",
    pricing: { inputPerMillion: 0, outputPerMillion: 0 },
    skills: Object.fromEntries(Family.names.map((name) => [name, {}])),
    generalist: true
  },
  { latencyMillis: 0 }
)

const inParts = Policy.fixed(
  "in-parts",
  (_, task) => ({
    steps: Gym.metadata(task)!.parts.map(({ needs, question }) => ({
      worker: 0,
      subtask: `Answer only this part of the question${needs.length === 0 ? "" : ", using the earlier answers"}: ${question}`,
      access: needs
    }))
  }),
  { maxSteps: 9 }
)

/** The exact answers of the parts of each task. */
const answersOf = Effect.fnUntraced(function* (task: Task.Task) {
  const recorder = Transcript.recorder()
  const conductor = Conductor.make({ policy: inParts, pool: WorkerPool.makeUnsafe([exact]), skipUnseen: false })
  yield* conductor.run(task, { listener: recorder.listener })
  return recorder.transcript()!.rounds[0]!.steps.map(({ text }) => text)
})

/** Whether a check that is wrong in a share of cases passes an answer. The same call always has the same verdict. */
const passes = (isRight: boolean, wrong: number, ...of: ReadonlyArray<string | number>): boolean =>
  Seed.chance(Seed.draw(Seed.spread(seed, ...of)), wrong) ? !isRight : isRight

/** A grader of the whole answer that is wrong in a share of cases. */
const flawed = (wrong: number): Grader.Grader => ({
  name: "grader",
  grade: (task, answer) =>
    Effect.map(GymGrader.grader.grade(task, answer), ({ correct }) =>
      Grader.verdict(passes(correct, wrong, task.id, "whole", answer))
    )
})

// -------------------------------------------------------------------------------------------------------------------
// Policies
// -------------------------------------------------------------------------------------------------------------------

/** The order in which workers are tried after a failure: the best of all first. */
const order = ["professor", ...WorkerPool.ids(pool).filter((id) => id !== "professor")].map((id) =>
  pool.workers.findIndex((worker) => worker.id === id)
)

const otherThan = (tried: ReadonlyArray<number>, planned: number): number =>
  tried.length === 0 ? planned : (order.find((worker) => !tried.includes(worker)) ?? planned)

/** The workers that have already answered a subtask. */
const triedFor = (subtask: string, rounds: Policy.Previous["rounds"] = []): ReadonlyArray<number> =>
  rounds.flatMap(({ answers, workflow }) =>
    workflow.steps.flatMap((step, at) => (step.subtask === subtask && answers[at] !== undefined ? [step.worker] : []))
  )

/** The same plan again, with a different worker for each step. */
const anew = ({ previous }: Policy.Context): Workflow.Workflow => {
  const rounds = previous?.rounds ?? []
  const steps = rounds[0]!.workflow.steps.map((step) => ({
    ...step,
    worker: otherThan(triedFor(step.subtask, rounds), step.worker)
  }))
  return { steps }
}

/** The lexical plan. If a critic objects at the end, the whole plan runs again with other workers. */
const recursive: Policy.Policy = {
  name: "the plan again after its end",
  propose: (context) => (context.round === 0 ? lexical.propose(context) : Effect.succeed({ workflow: anew(context) }))
}

const checkOf = (part: number, onFailure: Workflow.OnFailure) => ({ by: `part ${part}`, onFailure })

/** The lexical plan where each step that answers a part has a check. */
const checkedPlan = (name: string, onFailure: Workflow.OnFailure, revise?: Policy.Policy["revise"]): Policy.Policy => ({
  name,
  revise,
  propose: (context) =>
    Effect.map(lexical.propose(context), (proposal) => {
      const { steps } = proposal.workflow
      const parts = Gym.metadata(context.task)!.parts.length
      if (steps.length !== parts) return proposal
      return { ...proposal, workflow: { steps: steps.map((step, at) => ({ ...step, check: checkOf(at, onFailure) })) } }
    })
})

/** The answers to a subtask, and whether they passed. */
const saidTo = (subtask: string, rounds: Policy.Previous["rounds"] = []) =>
  rounds.flatMap(({ answers, verdicts, workflow }, round) =>
    workflow.steps.flatMap((one, step) => {
      const answer = answers[step]
      if (one.subtask !== subtask || answer?.type !== "answered") return []
      return [{ round, step, passed: verdicts[step]?.passed === true, answer: GymGrader.normalise(answer.text) }]
    })
  )

/**
 * Gives the subtasks that failed to other workers, which see the answers that passed. With `agreement`, two equal
 * answers outvote the check.
 */
const redo = ({ previous }: Policy.Revising, agreement: boolean): Policy.Revision => {
  const rounds = previous.rounds ?? []
  const plan = rounds[0]!.workflow.steps
  const passed = plan.map(({ subtask }) => {
    const said = saidTo(subtask, rounds)
    const agreed = said.find(({ answer }, at) => said.some((other, index) => index < at && other.answer === answer))
    const found = said.find(({ passed }) => passed) ?? (agreement ? agreed : undefined)
    return found && { round: found.round, step: found.step }
  })
  const last = passed.at(-1)
  if (last !== undefined) return { type: "stop", answer: last }
  const open = plan.flatMap((_, at) => (passed[at] === undefined ? [at] : []))
  const steps = open.map((part): Workflow.Step => {
    const { access, check, subtask, worker } = plan[part]!
    const seen = access === "all" ? [...Array(part).keys()] : access
    return {
      worker: otherThan(triedFor(subtask, rounds), worker),
      subtask,
      access: seen.flatMap((at) => (passed[at] === undefined ? [open.indexOf(at)] : [])),
      earlier: seen.flatMap((at) => passed[at] ?? []),
      check: check!
    }
  })
  return { type: "re-plan", workflow: { steps } }
}

interface Contender {
  readonly name: string
  readonly policy: Policy.Policy
  readonly settings?: Partial<Conductor.Options>
}

const critic = (wrong: number): Critic.Critic => ({
  name: "grader",
  score: ({ answer, task }) => flawed(wrong).grade(task, answer)
})

const professor = policies(pool).find(({ name }) => name === "single:professor")!

const contenders: ReadonlyArray<Contender> = [
  { name: "the best worker alone", policy: professor },
  { name: "the plan as it is", policy: lexical },
  ...[0, 0.1, 0.3].flatMap((wrong): ReadonlyArray<Contender> => {
    const of = wrong === 0 ? "always right" : `wrong in ${100 * wrong} %`
    const revising = (agreement: boolean) =>
      checkedPlan("planned anew", "revise", (context) => Effect.sync(() => redo(context, agreement)))
    return [
      { name: `checked, ${of}`, policy: Escalation.checked("professor", "editor", flawed(wrong)) },
      {
        name: `the whole plan again after its end, ${of}`,
        policy: recursive,
        settings: { recursion: 2, critic: critic(wrong) }
      },
      { name: `each part by the next worker, ${of}`, policy: checkedPlan("next", "next"), settings: checksFor(wrong) },
      { name: `planned anew on evidence, ${of}`, policy: revising(false), settings: checksFor(wrong) },
      {
        name: `the same, two that agree outvote the check, ${of}`,
        policy: revising(true),
        settings: checksFor(wrong)
      }
    ]
  })
]

/** The right answers of the parts of the task that is run. */
const known = new Map<string, ReadonlyArray<string>>()

function checksFor(wrong: number): Partial<Conductor.Options> {
  const checkPart = (part: number) => (answer: string, task: Task.Task) => {
    const right = GymGrader.isCorrect(answer, known.get(task.id)?.[part] ?? "")
    return passes(right, wrong, task.id, part, answer) || "It is not right."
  }
  return { checks: Object.fromEntries(Array.from({ length: 9 }, (_, part) => [`part ${part}`, checkPart(part)])) }
}

// -------------------------------------------------------------------------------------------------------------------
// Measuring
// -------------------------------------------------------------------------------------------------------------------

const played = Effect.fnUntraced(function* ({ policy, settings }: Contender) {
  const conductor = Conductor.make({ policy, pool, retry, reassign: "never", seed, ...settings })
  return yield* Effect.forEach(tasks, (task) =>
    Effect.flatMap(conductor.run(task), ({ answer = "", spend }) =>
      Effect.map(GymGrader.grader.grade(task, answer), ({ score }) => ({
        score,
        costUsd: spend.costUsd,
        calls: spend.calls
      }))
    )
  )
})

const mean = (numbers: ReadonlyArray<number>) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length

const errorOf = (numbers: ReadonlyArray<number>) => {
  const middle = mean(numbers)
  return Math.sqrt(mean(numbers.map((one) => (one - middle) ** 2)) / (numbers.length - 1))
}

const points = (share: number) => (100 * share).toFixed(1)

await Effect.runPromise(
  Effect.gen(function* () {
    for (const task of tasks) known.set(task.id, yield* answersOf(task))
    const base = yield* played(contenders[1]!)
    console.log(
      "| policy | right, % | to the plan as it is, points | cost over its cost | calls |\n|---|---|---|---|---|"
    )
    for (const contender of contenders) {
      const runs = yield* played(contender)
      const differences = runs.map(({ score }, at) => score - base[at]!.score)
      const cost = mean(runs.map(({ costUsd }) => costUsd)) / mean(base.map(({ costUsd }) => costUsd))
      const facts = [
        contender.name,
        points(mean(runs.map(({ score }) => score))),
        `${points(mean(differences))} ± ${points(errorOf(differences))}`,
        cost.toFixed(2),
        mean(runs.map(({ calls }) => calls)).toFixed(2)
      ]
      console.log(`| ${facts.join(" | ")} |`)
    }
    const wrong = tasks.filter((task) => !GymGrader.isCorrect(known.get(task.id)!.at(-1) ?? "", task.reference!)).length
    console.error(
      `${tasks.length} tasks of several parts; of ${wrong} the exact answer of the last part is not the reference.`
    )
  })
)
