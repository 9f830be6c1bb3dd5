// A program that uses @divisi/policy-tiny and @divisi/gym: the model included in the package plans.
import * as Conductor from "@divisi/core/Conductor"
import * as GymPool from "@divisi/gym/GymPool"
import { TinyConductor } from "@divisi/policy-tiny"
import * as Effect from "effect/Effect"

const program = Effect.gen(function* () {
  const policy = yield* TinyConductor.policy()
  const conductor = Conductor.make({ policy, pool: GymPool.make({ latencyMillis: 0 }), seed: 1 })
  const planners = []
  const listener = (event) => {
    if (event.type === "workflow-proposed") planners.push(event.policy)
  }
  const { answer, ending } = yield* conductor.run("What is 17 times 23?", { listener })
  return { answer, ending, planners }
})

const { answer, ending, planners } = await Effect.runPromise(program)
console.log(`${TinyConductor.card().name} by ${planners.join()}: ${ending}: ${answer}`)
if (planners.join() !== "divisi-tiny") process.exitCode = 1
