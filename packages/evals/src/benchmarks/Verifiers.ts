/**
 * Environments from Prime Intellect's verifiers (0.4 and later, `verifiers.v1`) as benchmarks: the tasks of a taskset,
 * graded with its rewards.
 *
 * A Python process loads the taskset and grades answers. It communicates in JSON Lines and is stopped when the scope
 * closes. A taskset's code runs with the permissions of this process, so load only trusted code. Tasks that need tools
 * or a container are rejected, because answers are plain text.
 */
import type { ChildProcess } from "node:child_process"
import { createInterface } from "node:readline"
import { Grader, Options as Tables } from "@divisi/core"
import type { Message } from "@divisi/core/Message"
import * as Task from "@divisi/core/Task"
import { ProcessGroup } from "@divisi/files"
import type { Verdict } from "@divisi/graders"
import type { NonEmptyReadonlyArray } from "effect/Array"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Evaluation from "../evaluation/Evaluation.ts"
import { bridge } from "./verifiersBridge.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The taskset to load, with its settings. */
export interface Options {
  /** Id of an installed taskset, such as `gsm8k-v1`. */
  readonly taskset: string
  /** Path of the Python interpreter. Default: the environment variable `DIVISI_PYTHON`, or `python3`. */
  readonly python?: string | undefined
  /** Maximum number of tasks. Default: 1,000. */
  readonly limit?: number | undefined
  /** Settings of the taskset, as defined by its config class. */
  readonly config?: Readonly<Record<string, unknown>> | undefined
  /** Timeout in milliseconds for loading all tasks, and for grading one answer. Default: 300,000. */
  readonly timeoutMillis?: number | undefined
}

const table = Tables.table(
  {
    taskset: Tables.name,
    python: Tables.name,
    limit: Tables.whole(1, 1_000_000),
    config: Tables.recordOf(Tables.anything),
    timeoutMillis: Tables.whole(1)
  } satisfies Tables.ShapeOf<Options>,
  { required: ["taskset"] }
)

/** Raised if a verifiers environment cannot be used. */
export class VerifiersError extends Data.TaggedError("VerifiersError")<{
  readonly taskset: string
  readonly reason: "python" | "package" | "environment" | "unsupported" | "timeout" | "ended"
  readonly detail: string
}> {
  override get message(): string {
    const todo = {
      python: "Install Python 3.11 or later, or set DIVISI_PYTHON to an interpreter",
      package: "Install verifiers 0.4 or later in that Python: `pip install verifiers`",
      environment: "Check that the taskset is installed in that Python, and check its settings",
      unsupported: "Choose a taskset whose tasks are questions with an answer as text",
      timeout: "Load fewer tasks, or allow more time",
      ended: "See the error output above"
    }[this.reason]
    return `Cannot use the verifiers taskset ${this.taskset}: ${this.detail}. ${todo}.`
  }
}

/** Maximum number of characters per line. */
const mostCharacters = 8 * 2 ** 20

interface Row {
  readonly id: string
  readonly messages: NonEmptyReadonlyArray<Message>
  readonly unsupported: string | null
}

type Rewards = Readonly<Record<string, readonly [score: number, weight: number] | null>>

type Line =
  | { readonly task: Row }
  | { readonly done: number }
  | { readonly error: "package" | "environment"; readonly detail: string }
  | { readonly id: number; readonly rewards: Rewards }
  | { readonly id: number; readonly failed: string }

// -------------------------------------------------------------------------------------------------------------------
// The process
// -------------------------------------------------------------------------------------------------------------------

const lineOf = (text: string): Line | undefined => {
  try {
    const value: unknown = text.length > mostCharacters ? undefined : JSON.parse(text)
    return typeof value === "object" && value !== null ? (value as Line) : undefined
  } catch {
    return undefined
  }
}

/** Starts a process that loads the taskset. `tasks` waits for all its tasks; `ask` grades an answer. */
const open = Effect.fnUntraced(function* (options: Options) {
  const { config = {}, limit = 1_000, python = process.env.DIVISI_PYTHON ?? "python3", taskset } = options
  const error = (reason: VerifiersError["reason"], detail: string) => new VerifiersError({ taskset, reason, detail })
  const rows: Array<Row> = []
  const loaded = Deferred.makeUnsafe<ReadonlyArray<Row>, VerifiersError>()
  const waiting = new Map<number, (line: Line | VerifiersError) => void>()
  const end = (failure: VerifiersError) => {
    Deferred.doneUnsafe(loaded, Effect.fail(failure))
    for (const hear of waiting.values()) hear(failure)
    waiting.clear()
  }
  const hear = (text: string) => {
    const line = lineOf(text)
    if (line === undefined) return end(error("ended", "it wrote a line that is not JSON"))
    if ("task" in line) rows.push(line.task)
    else if ("done" in line) Deferred.doneUnsafe(loaded, Effect.succeed(rows))
    else if ("error" in line) end(error(line.error, line.detail))
    else {
      waiting.get(line.id)?.(line)
      waiting.delete(line.id)
    }
  }
  const child: ChildProcess = yield* Effect.acquireRelease(
    Effect.sync(() => ProcessGroup.start([python, "-u", "-c", bridge], { stdio: ["pipe", "pipe", "inherit"] })),
    (child) => Effect.promise(() => ProcessGroup.stop(child, 500))
  )
  child.on("error", (cause) => end(error("python", `${python} cannot be started (${cause.message})`)))
  child.on("close", (code) => end(error("ended", `${python} exited with code ${code}`)))
  child.stdin!.on("error", () => {})
  createInterface({ input: child.stdout! }).on("line", hear)
  const write = (value: object) => void child.stdin!.write(`${JSON.stringify(value)}\n`)
  write({ taskset, limit, config })
  let last = 0
  const ask = (task: number, answer: string): Effect.Effect<Rewards, string> =>
    Effect.callback((resume) => {
      const id = ++last
      waiting.set(id, (line) => {
        if ("rewards" in line) resume(Effect.succeed(line.rewards))
        else resume(Effect.fail("failed" in line ? line.failed : (line as VerifiersError).message))
      })
      if (child.exitCode !== null) end(error("ended", `${python} exited with code ${child.exitCode}`))
      else write({ id, task, answer })
      return Effect.sync(() => void waiting.delete(id))
    })
  return { tasks: Deferred.await(loaded), ask, error }
})

// -------------------------------------------------------------------------------------------------------------------
// Tasks and grades
// -------------------------------------------------------------------------------------------------------------------

/** Returns the weighted sum of rewards divided by the sum of the positive weights, from 0 to 1. */
const scoreOf = (rewards: Rewards): number | undefined => {
  const given = Object.values(rewards).filter((reward) => reward !== null)
  const most = given.reduce((sum, [, weight]) => sum + Math.max(0, weight), 0)
  if (given.length === 0 || most === 0) return undefined
  const sum = given.reduce((sum, [score, weight]) => sum + score * weight, 0)
  return Math.min(1, Math.max(0, sum / most))
}

const shown = (rewards: Rewards): string =>
  Object.entries(rewards)
    .map(([name, reward]) => `${name} ${reward === null ? "not computed" : `${reward[0]} x ${reward[1]}`}`)
    .join(", ")

const graderOf = (
  taskset: string,
  timeoutMillis: number,
  ask: (task: number, answer: string) => Effect.Effect<Rewards, string>
): Verdict.AnswerGrader => {
  const name = `verifiers:${taskset}`
  const failed = (task: Task.Task, detail: string) => new Grader.GraderError({ grader: name, task: task.id, detail })
  return {
    name,
    grade: (task, answer) =>
      Effect.gen(function* () {
        const rewards = yield* Effect.timeoutOrElse(
          Effect.mapError(ask(Number(task.metadata?.index), answer), (detail) => failed(task, detail)),
          {
            duration: timeoutMillis,
            orElse: () => Effect.fail(failed(task, `its rewards took longer than ${timeoutMillis} ms`))
          }
        )
        const score = scoreOf(rewards)
        if (score === undefined) return yield* failed(task, "the taskset has no reward that can be computed from text")
        return { correct: score > 1 - 1e-9, score, rung: "rewards", explanation: shown(rewards) }
      })
  }
}

const tasksOf = (taskset: string, rows: ReadonlyArray<Row>): ReadonlyArray<Task.Task> => {
  const seen = new Set<string>()
  return rows.map(({ id, messages }, index) => {
    const unique = seen.has(id) ? `${id}-${index}` : id
    seen.add(unique)
    return Task.make({ id: `${taskset}/${unique}`, messages, metadata: { index } })
  })
}

/**
 * Loads a taskset as a suite for an evaluation. The process is stopped when the scope closes.
 *
 * An answer's score is the weighted sum of the taskset's rewards divided by the sum of the positive weights; an answer
 * is correct if its score is 1. If none of the rewards for an answer can be computed without a runtime, the answer has
 * no verdict.
 */
export const load = (
  options: Options
): Effect.Effect<Evaluation.Suite, VerifiersError | Tables.OptionsError, Scope.Scope> =>
  Effect.gen(function* () {
    yield* Tables.checked("Verifiers.load", options, table)
    const { taskset, timeoutMillis = 300_000 } = options
    const { ask, error, tasks } = yield* open(options)
    const rows = yield* Effect.timeoutOrElse(tasks, {
      duration: timeoutMillis,
      orElse: () => Effect.fail(error("timeout", `its tasks were not loaded within ${timeoutMillis} ms`))
    })
    const refused = rows.find(({ unsupported }) => unsupported !== null)
    if (refused !== undefined)
      return yield* error("unsupported", `its task ${refused.id} is not supported: ${refused.unsupported}`)
    if (rows.length === 0) return yield* error("environment", "it has no tasks")
    return Evaluation.madeSuite({
      id: taskset,
      title: taskset,
      prompt: `verifiers/${taskset}`,
      licence: "unknown",
      tasks: tasksOf(taskset, rows),
      grader: graderOf(taskset, timeoutMillis, ask),
      seed: 0
    })
  })
