/** Measures policies of the gym against baselines, and writes the report. Everything follows from the seed, times aside. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { parseArgs } from "node:util"
import * as Task from "@divisi/core/Task"
import { Baselines, Evaluation, Recording, WorkerProfile } from "@divisi/evals"
import type { Verdict } from "@divisi/graders"
import { GymGrader, OraclePolicy } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as GymPool from "@divisi/gym/GymPool"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import * as EvaluationTables from "@divisi/report/EvaluationTables"
import { Reports } from "@divisi/studio"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

const { values } = parseArgs({
  options: {
    questions: { type: "string", default: "40" },
    training: { type: "string", default: "60" },
    epochs: { type: "string", default: "2" },
    texts: { type: "string", default: "1000000" },
    out: { type: "string" }
  }
})

const seed = 11
const concurrency = 64
const pool = GymPool.make({ latencyMillis: 0 })
const training = Gym.tasks({ split: "train", count: Number(values.training), seed })
const tasks = Gym.tasks({ split: "test", count: Number(values.questions), seed })

const baselines = [
  ...["professor", "editor", "engineer", "student", "intern"].map((worker) => `single@${worker}`),
  "context:5,self-consistency:5,self-reflection:5,best-of:5,moa,random",
  "routerdc-light,masrouter-light,smoothie-independent,smoothie-dependent"
].join(",")

const grader: Verdict.AnswerGrader = {
  name: "gym",
  grade: (task, answer) =>
    Effect.map(GymGrader.grader.grade(task, answer), (grade) => ({
      ...grade,
      rung: "gym",
      extracted: GymGrader.finalAnswer(answer)
    }))
}

const suite = Evaluation.madeSuite({
  id: "gym",
  title: "Gym",
  prompt: `version ${Gym.version}`,
  licence: "MIT",
  tasks,
  grader,
  seed,
  stratum: "family"
})

/** The lexical policy, shown what the recording tells of each worker instead of what was written by hand. */
const profiled = (samples: ReadonlyArray<Recording.Sample>) => {
  const observations = samples
    .filter(({ policy }) => policy.startsWith("single:"))
    .map(({ answer, costUsd, policy, score, task }) => ({
      worker: policy.slice("single:".length),
      kind: String(task.metadata?.family),
      question: task.id,
      score,
      isAlone: true,
      isAnswered: answer !== undefined,
      costUsd
    }))
  return WorkerProfile.shown(LexicalPolicy.make({ name: "lexical+profiles" }), WorkerProfile.make(observations))
}

const evaluate = Effect.gen(function* () {
  const record = Recording.make({ tasks: training, grader, pool, seed, concurrency })
  const recorded: Array<Recording.Sample> = []
  const learned = yield* Baselines.make(Result.getOrThrow(Baselines.read(baselines)), {
    pool,
    seed,
    record: (policies) => Effect.tap(record(policies), (samples) => Effect.sync(() => recorded.push(...samples)))
  })
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-evaluation-"))
  const evaluated = yield* Evaluation.run({
    suites: [suite],
    policies: [
      { policy: LexicalPolicy.make() },
      { policy: profiled(recorded) },
      { policy: OraclePolicy.make() },
      ...learned.map((baseline) => ({ ...baseline, isBaseline: true }))
    ],
    pool,
    folder,
    epochs: Number(values.epochs),
    run: { seed },
    concurrency
  })
  return { ...evaluated, folder }
})

const { folder, report, samples } = await Effect.runPromise(evaluate)

const asked = new Map(tasks.map((task) => [task.id, task]))
const page = Reports.evaluation(report, {
  name: "Policies of the gym",
  samples,
  profiles: WorkerProfile.make(WorkerProfile.fromSamples(samples)).workers,
  questionOf: (_, id) => {
    const task = asked.get(id)
    return task === undefined ? undefined : { question: Task.question(task), reference: task.reference }
  },
  maxCharacters: Number(values.texts)
})

const out = path.resolve(values.out ?? folder)
fs.mkdirSync(out, { recursive: true })
fs.writeFileSync(path.join(out, "report.html"), page)
fs.writeFileSync(path.join(out, "report.md"), EvaluationTables.markdown(report))
fs.writeFileSync(path.join(out, "report.csv"), EvaluationTables.csv(report))
fs.writeFileSync(path.join(out, "results.json"), `${JSON.stringify(report, null, 2)}\n`)

console.log(EvaluationTables.markdown(report).split("\n## Differences")[0])
console.log(`${samples.length} samples. The report: ${path.join(out, "report.html")}`)

const scoreOf = (policy: string) => report.overall.find((one) => one.policy === policy)?.mean ?? 0
if (scoreOf("lexical") <= scoreOf("single:professor")) {
  console.error("The policy that splits questions did not beat the best single worker.")
  process.exitCode = 1
}
