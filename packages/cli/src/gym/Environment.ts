/**
 * `divisi gym environment`: exposes the gym as an environment for external trainers, over JSON Lines on standard input
 * and output.
 *
 * A request is `{ id, op: "tasks", split, count, seed, family, mode }` or `{ id, op: "grade", mode, question,
 * reference, completion }`; the response has the same `id`. In `conductor` mode, a task's messages ask for a plan,
 * which the gym's workers execute and which receives the paper's reward. In `answer` mode, the messages contain the
 * question, and the completion is graded directly.
 */
import { createInterface } from "node:readline"
import { Grader, LanguagePolicy, Prompt, Workflow } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Task from "@divisi/core/Task"
import { GymGrader } from "@divisi/gym"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type Failure, messageOf } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import * as OfflineGym from "../team/OfflineGym.ts"

/** Maximum length of a request, in characters. */
const mostCharacters = 2 ** 20

const mode = Schema.Literals(["conductor", "answer"])
const optional = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

const request = Schema.Union([
  Schema.Struct({
    id: Schema.Finite,
    op: Schema.Literal("tasks"),
    split: optional(Schema.Literals(["train", "validation", "test"])),
    count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000 })),
    seed: optional(Schema.Int),
    family: optional(Schema.String),
    mode: optional(mode)
  }),
  Schema.Struct({
    id: Schema.Finite,
    op: Schema.Literal("grade"),
    mode: optional(mode),
    question: Schema.String,
    reference: Schema.String,
    completion: Schema.String
  })
])

type Request = typeof request.Type
type Of<Op extends Request["op"]> = Extract<Request, { readonly op: Op }>

const pool = OfflineGym.fastPool()

const messagesOf = (task: Task.Task, asked: "conductor" | "answer") =>
  asked === "answer"
    ? task.messages
    : Prompt.conductorMessages({ task, pool, maxSteps: Workflow.defaultMaxSteps, self: false })

const tasksOf = Effect.fnUntraced(function* ({ count, family, mode, seed, split }: Of<"tasks">) {
  const named = yield* OfflineGym.familyOf(Option.fromNullishOr(family))
  const tasks = yield* OfflineGym.tasks({ split: split ?? "train", count, seed: seed ?? 0, family: named })
  return {
    tasks: tasks.map((task) => ({
      id: task.id,
      question: Task.question(task),
      reference: task.reference ?? "",
      family: task.metadata?.family ?? null,
      messages: messagesOf(task, mode ?? "conductor")
    }))
  }
})

/** Executes the plan in a completion once and returns the paper's reward. */
const planned = Effect.fnUntraced(function* ({ completion, question, reference }: Of<"grade">) {
  // The trainer has already sampled the completion, so the model only replays it.
  const model = ScriptedWorker.make({ id: "completion", replies: () => completion })
  const policy = LanguagePolicy.make({ model, resamples: 0 })
  const conductor = Conductor.make({ pool, policy, retry: OfflineGym.atOnce })
  const { answer, error } = yield* conductor.run(Task.make({ question, reference }))
  const correct = answer !== undefined && GymGrader.isCorrect(answer, reference)
  const result = error?._tag === "PolicyError" ? "unreadable" : correct ? "correct" : "wrong"
  return { reward: Grader.reward(result), result, correct, answer: answer ?? null }
})

const answered = ({ completion, reference }: Of<"grade">) => {
  const correct = GymGrader.isCorrect(completion, reference)
  return {
    reward: correct ? 1 : 0,
    result: correct ? "correct" : "wrong",
    correct,
    answer: GymGrader.finalAnswer(completion)
  }
}

const respond = (asked: Request): Effect.Effect<object, Failure> => {
  if (asked.op === "tasks") return tasksOf(asked)
  return asked.mode === "answer" ? Effect.sync(() => answered(asked)) : planned(asked)
}

const idOf = (value: unknown): unknown =>
  typeof value === "object" && value !== null && "id" in value && typeof value.id === "number" ? value.id : null

const answerTo = (line: string): Effect.Effect<object> =>
  Effect.suspend(() => {
    if (line.length > mostCharacters) {
      return Effect.succeed({ id: null, error: `a request can have at most ${mostCharacters} characters` })
    }
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      return Effect.succeed({ id: null, error: "the line is not JSON" })
    }
    const id = idOf(value)
    return Effect.matchEager(Effect.flatMap(Schema.decodeUnknownEffect(request)(value), respond), {
      onFailure: (error) => ({ id, error: messageOf(error) }),
      onSuccess: (answer) => ({ id, ...answer })
    })
  })

/** Handles requests from standard input, one at a time, until the input ends. */
export const serve: Effect.Effect<void> = Effect.promise(async () => {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === "") continue
    stdout.write(`${JSON.stringify(await Effect.runPromise(answerTo(line)))}\n`)
  }
})
