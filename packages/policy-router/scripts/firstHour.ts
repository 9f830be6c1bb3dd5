/**
 * The first hour of two models, from a file of outcomes: the router's choices for ten questions without prior
 * information, with the reasons, and its results compared with either model alone.
 *
 * `node --conditions=@divisi/source packages/policy-router/scripts/firstHour.ts FILE A B`
 */

import { Escalation, Seed, Strongest, Transcript } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import type { Policy } from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import type { Worker } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import * as Outcomes from "../src/Outcomes.ts"

const [file, ...ids] = process.argv.slice(2)
if (file === undefined || ids.length !== 2) throw new Error("Name a file of outcomes and two of its workers.")

const read = await Effect.runPromise(Outcomes.read(file))
const known = read.filter(({ costUsd, scores }) => ids.every((id) => scores.has(id) && costUsd.has(id)))
const ten = Seed.shuffled(Seed.draw(0), known).slice(0, 10)

const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length

/** As the vendor serves it: by its price, which is what it cost per question here. */
const workerOf = (id: string): Worker => ({
  ...ScriptedWorker.make({ id, replies: [id] }),
  isLanguageModel: true,
  pricing: { inputPerMillion: 0, outputPerMillion: mean(known.map(({ costUsd }) => 1e6 * costUsd.get(id)!)) }
})
const pool = WorkerPool.makeUnsafe(ids.map(workerOf))
const [cheap, dear] = pool.workers.toSorted(
  (left, right) => left.pricing!.outputPerMillion - right.pricing!.outputPerMillion
)

/** A policy, and the checks of the run. */
type Way = Pick<Conductor.Options, "policy" | "checks">

/** Plays a question: returns the workers that were called, and the score of the accepted answer by the record. */
const play = (way: Way, question: Outcomes.GradedQuestion) =>
  Effect.gen(function* () {
    const recorder = Transcript.recorder()
    yield* Conductor.make({ pool, ...way }).run(question.text!, { listener: recorder.listener })
    const { rounds } = recorder.transcript()!
    const decision = rounds.at(-1)?.revisions?.at(-1)?.decision
    const asked = rounds.flatMap(({ steps }) => steps.map(({ worker }) => worker))
    return {
      asked,
      notes: rounds.flatMap(({ notes }) => notes),
      // If no answer passed, the first one is used.
      score: question.scores.get(decision === "stop" ? asked[0]! : asked.at(-1)!)!,
      costUsd: asked.reduce((sum, id) => sum + question.costUsd.get(id)!, 0)
    }
  })

const alone = (id: string): Policy => ({
  ...Strongest.make(),
  name: id,
  propose: () => Effect.succeed({ workflow: { steps: [{ worker: ids.indexOf(id), subtask: "", access: [] }] } })
})

/** A check by the record: workers answer with their names. */
const right = ({ scores }: Outcomes.GradedQuestion) => ({ right: (answer: string) => scores.get(answer)! >= 0.5 })

const ways: Readonly<Record<string, (question: Outcomes.GradedQuestion) => Way>> = {
  router: () => ({ policy: Strongest.make() }),
  "router:within-2": () => ({ policy: Strongest.make({ dial: "within-2" }) }),
  "router:half": () => ({ policy: Strongest.make({ dial: "half" }) }),
  "router, a check that is right": (question) => ({ policy: Strongest.make(), checks: right(question) }),
  "router:half, a check that is right": (question) => ({
    policy: Strongest.make({ dial: "half" }),
    checks: right(question)
  }),
  "checked, a check that is right": (question) => ({
    policy: Escalation.checked(cheap!.id, dear!.id, right(question).right)
  }),
  [`${cheap!.id} alone`]: () => ({ policy: alone(cheap!.id) }),
  [`${dear!.id} alone`]: () => ({ policy: alone(dear!.id) })
}

for (const [at, question] of ten.entries()) {
  const { asked, notes } = await Effect.runPromise(play({ policy: Strongest.make() }, question))
  if (at === 0) process.stdout.write(`${notes.join(" ")}\n`)
  process.stdout.write(`${at + 1}. ${question.kind}: ${asked.join(", then ")}\n`)
}
for (const [label, some] of [["ten questions", ten] as const, [`all ${known.length}`, known] as const]) {
  process.stdout.write(`\n${label}\n`)
  for (const [name, wayOf] of Object.entries(ways)) {
    const played = await Effect.runPromise(Effect.forEach(some, (question) => play(wayOf(question), question)))
    const right = mean(played.map(({ score }) => score))
    const error = Math.sqrt(mean(played.map(({ score }) => (score - right) ** 2)) / played.length)
    const costUsd = played.reduce((sum, one) => sum + one.costUsd, 0)
    process.stdout.write(
      `${name}: ${(100 * right).toFixed(1)} ± ${(100 * error).toFixed(1)}, ${costUsd.toPrecision(3)} USD\n`
    )
  }
}
