/** `divisi gym sample`: prints generated tasks with their answers. */
import * as Task from "@divisi/core/Task"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Failure } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import * as OfflineGym from "../team/OfflineGym.ts"
import { clean } from "../view/Line.ts"
import type { SampleInput } from "./flags.ts"

const show = (task: Task.Task): string => {
  const about = [task.id, task.metadata?.family, task.metadata?.difficulty].filter((part) => part !== undefined)
  return [about.join(" · "), clean(Task.question(task)), `→ ${clean(task.reference ?? "")}`, ""].join("\n")
}

/** Generates tasks and prints them. */
export const sample = Effect.fnUntraced(function* (input: SampleInput): Effect.fn.Return<void, Failure> {
  const family = yield* OfflineGym.familyOf(input.family)
  const { count, json, split } = input
  const seed = Option.getOrElse(input.seed, () => 0)
  yield* OfflineGym.eachTask({ split, count, seed, family }, (task) => {
    stdout.write(`${json ? JSON.stringify(task) : show(task)}\n`)
  })
})
