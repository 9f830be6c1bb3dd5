/**
 * Loads a user's policy or grader from a module given on the command line: `--policy ./mine.ts`, `--grader ./mine.ts`.
 * The module's default export is the object, or the one function that it requires.
 *
 * If the module throws an error, the error is shown with the module's file and line, without a stack.
 */
import { createHash } from "node:crypto"
import { readFileSync, statSync } from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { Callback, Grader, type Workflow } from "@divisi/core"
import type { Policy, Proposal } from "@divisi/core/Policy"
import type { Task } from "@divisi/core/Task"
import type { Verdict } from "@divisi/graders"
import * as Effect from "effect/Effect"
import * as ConfigModule from "../config/ConfigModule.ts"
import { type Failure, messageOf, usage } from "../invocation/Failure.ts"

/** Whether a command line argument is the path of a module. */
export const isPath = (name: string): boolean => /\.[cm]?[jt]s$/.test(name) || /^\.{0,2}[/\\]/.test(name)

const forms = {
  policy: "export default { name, propose }",
  grader: "export default { name, grade }"
} as const

const read = (kind: keyof typeof forms, given: string): Effect.Effect<unknown, Failure> =>
  Effect.suspend(() => {
    const file = path.resolve(given)
    const found = statSync(file, { throwIfNoEntry: false })
    if (found === undefined) return Effect.fail(usage(`The ${kind} file ${given} does not exist.`))
    if (!found.isFile() || !/\.[cm]?[jt]s$/.test(file)) {
      return Effect.fail(usage(`${given} is not a ${kind} module. Use a file that ends in .ts, .mts, .js or .mjs.`))
    }
    return ConfigModule.read(file, { wanted: forms[kind] })
  })

/** Returns a digest of the module's source, because a changed module is a different policy or grader. */
export const digestOf = (given: string): string =>
  createHash("sha256").update(readFileSync(given)).digest("hex").slice(0, 12)

const pathIn = (text: string): string => (text.startsWith("file:") ? fileURLToPath(text) : text)

/** Returns the location at which an error was thrown, in the module or in a file next to it. */
const placeOf = (error: unknown, file: string): string => {
  const folder = path.dirname(path.resolve(file)) + path.sep
  for (const line of error instanceof Error ? (error.stack ?? "").split("\n") : []) {
    const [, at, number] = /\(?((?:file:\/\/|\/|[A-Za-z]:\\)[^()]*?)(?:\?[^:]*)?:(\d+):\d+\)?$/.exec(line) ?? []
    if (at === undefined || at.includes("node_modules") || !pathIn(at).startsWith(folder)) continue
    return `${ConfigModule.shownAs(pathIn(at))}, line ${number}`
  }
  return ConfigModule.shownAs(path.resolve(file))
}

/** Adds the location to an error thrown by the module. Errors with a tag known to the SDK are returned unchanged. */
const placed = (error: unknown, file: string): unknown =>
  typeof error === "object" && error !== null && "_tag" in error
    ? error
    : new Error(`${messageOf(error)} (${placeOf(error, file)})`, { cause: error })

const withPlace =
  <Arguments extends ReadonlyArray<unknown>, A>(file: string, call: (...parameters: Arguments) => A) =>
  (...parameters: Arguments): A => {
    try {
      const given = call(...parameters)
      return given instanceof Promise
        ? (given.catch((error: unknown) => Promise.reject(placed(error, file))) as A)
        : given
    } catch (error) {
      throw placed(error, file)
    }
  }

/** Returns the exported object, or wraps an exported function in a named object. */
const made = (kind: keyof typeof forms, method: "propose" | "grade", given: string) =>
  Effect.flatMap(read(kind, given), (exported): Effect.Effect<Readonly<Record<string, unknown>>, Failure> => {
    const whole = typeof exported === "function" ? { [method]: exported } : exported
    const shown = ConfigModule.shownAs(path.resolve(given))
    if (!ConfigModule.hasFields(whole) || typeof whole[method] !== "function") {
      return Effect.fail(usage(`The default export of ${shown} is not a ${kind}. Use \`${forms[kind]}\`.`))
    }
    const { name = path.basename(given).replace(/\.[cm]?[jt]s$/, "") } = whole
    if (typeof name !== "string" || name.trim() === "") {
      return Effect.fail(usage(`The name of the ${kind} in ${shown} is not a string.`))
    }
    // Class instances have their methods on the prototype.
    const call = whole[method] as (...parameters: ReadonlyArray<unknown>) => unknown
    return Effect.succeed({ ...whole, name, [method]: withPlace(given, call.bind(whole)) })
  })

/** A plan may be returned directly as `{ steps }`, as for `policy` in `@divisi/core/promise`. */
const proposalOf = (given: Proposal): Proposal =>
  ConfigModule.hasFields(given) && "steps" in given && !("workflow" in given)
    ? { workflow: given as unknown as Workflow.Workflow }
    : given

/** Loads a policy from a module. */
export const policy = (given: string): Effect.Effect<Policy, Failure> =>
  Effect.map(made("policy", "propose", given), (own): Policy => {
    const policy = own as unknown as Policy
    return {
      ...policy,
      propose: (context) =>
        Effect.map(
          Callback.settle(() => policy.propose(context)),
          proposalOf
        )
    }
  })

/** Converts the result of a user's grader to a verdict: a boolean, a score from 0 to 1, or a complete verdict. */
const verdictOf = (given: unknown, name: string): Verdict.Verdict | string => {
  if (typeof given === "boolean") return { correct: given, score: given ? 1 : 0, rung: name }
  if (typeof given === "number" && given >= 0 && given <= 1) return { correct: given === 1, score: given, rung: name }
  if (!ConfigModule.hasFields(given)) return "it must return true, false, a score from 0 to 1, or { correct, score }"
  const { correct, explanation, extracted, rung = name, score } = given
  const scored = score ?? (correct === true ? 1 : 0)
  if (typeof scored !== "number" || !(scored >= 0 && scored <= 1)) return "its score is not a number from 0 to 1"
  if (correct !== undefined && typeof correct !== "boolean") return "its field correct is neither true nor false"
  if (correct === undefined && score === undefined) return "it returned an object without correct and score"
  return {
    correct: correct ?? scored === 1,
    score: scored,
    rung: String(rung),
    ...(typeof extracted === "string" ? { extracted } : {}),
    ...(typeof explanation === "string" ? { explanation } : {})
  }
}

/** Loads a grader from a module. */
export const grader = (given: string): Effect.Effect<Verdict.AnswerGrader, Failure> =>
  Effect.map(made("grader", "grade", given), (own): Verdict.AnswerGrader => {
    const grader = own as unknown as { readonly name: string; readonly grade: Grader.Grader["grade"] }
    return {
      ...(own as unknown as Verdict.AnswerGrader),
      grade: (task: Task, answer: string) =>
        Effect.flatMap(Grader.ask(grader, task, answer), (given) => {
          const verdict = verdictOf(given, grader.name)
          return typeof verdict === "string"
            ? Effect.fail(new Grader.GraderError({ grader: grader.name, task: task.id, detail: verdict }))
            : Effect.succeed(verdict)
        })
    }
  })
