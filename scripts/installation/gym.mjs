// A program that uses @divisi/core and @divisi/gym: the gym's workers answer a task from its test split.
import * as Conductor from "@divisi/core/Conductor"
import * as Gym from "@divisi/gym/Gym"
import * as GymPool from "@divisi/gym/GymPool"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import * as Effect from "effect/Effect"

const conductor = Conductor.make({ policy: LexicalPolicy.make(), pool: GymPool.make({ latencyMillis: 0 }) })
const [task] = Gym.tasks({ split: "test", count: 1 })
const result = await Effect.runPromise(conductor.run(task))
console.log(`${task.messages[0].content}\n${result.ending}: ${result.answer}`)
if (result.ending !== "answered") process.exitCode = 1
