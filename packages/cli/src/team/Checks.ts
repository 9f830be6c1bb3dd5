/**
 * Creates checks from their definitions on the command line or in a config: `command:npm test`,
 * `schema:invoice.schema.json`, `grader`, or a worker in the pool that judges answers. A run can have several named
 * checks, which plans can apply.
 */
import { Check, Elapsed, Grader, Nearest, Seed } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as ProcessGroup from "@divisi/files/ProcessGroup"
import * as Effect from "effect/Effect"
import type { Config } from "../config.ts"
import { type Failure, messageOf, usage } from "../invocation/Failure.ts"
import * as TextFile from "../invocation/TextFile.ts"

/** Timeout for a check command, in milliseconds. */
const timeoutMillis = 60_000

/** Number of characters to show from the end of a command's output. */
const maxShown = 2_000

/**
 * Creates a check that runs a shell command. The answer is passed on standard input, and the question in
 * `DIVISI_QUESTION`. Exit code 0 means that the answer passes; otherwise, the output is the objection.
 */
const byCommand =
  (command: string): Check.Check =>
  async (answer, task, signal) => {
    const {
      code,
      isTimedOut,
      output,
      signal: ending
    } = await ProcessGroup.run(command, {
      input: answer,
      env: { ...process.env, DIVISI_QUESTION: Task.question(task) },
      signal,
      timeoutMillis,
      maxCharacters: maxShown
    })
    if (isTimedOut) return `\`${command}\` did not finish within ${Elapsed.inSeconds(timeoutMillis)}.`
    return code === 0 ? true : output.trim() || `\`${command}\` exited with ${ending ?? code}.`
  }

const bySchema = (whose: string, file: string): Effect.Effect<Check.Check, Failure> =>
  Effect.tryPromise({
    try: async () => {
      const check = Check.matches(JSON.parse(TextFile.read(file)))
      // Throws if the schema is not valid, so that this is reported before the run.
      await (check as (answer: string) => Promise<unknown>)("null")
      return check
    },
    catch: (error) => {
      const problem = messageOf(error, file).replace(/^The schema of the check cannot be used: /, "")
      return usage(`${whose}: cannot use the schema ${file}: ${problem}.`)
    }
  })

/** Returns the grader for a task. The gym is loaded for its own tasks only. */
const graderOf = (task: Task.Task): Effect.Effect<Grader.Grader> =>
  task.id.startsWith("gym-")
    ? Effect.map(
        Effect.promise(() => import("./OfflineGym.ts")),
        ({ grader }) => grader
      )
    : Effect.succeed(Grader.exact)

/**
 * Creates a check based on the gym's grader. For tasks outside the gym, the answer must equal the reference. A given
 * share of verdicts can be inverted, always for the same answers, to measure how useful an imperfect check is.
 */
const byReference = (wrong: number): Check.Check => ({
  name: "grader",
  grade: (task, answer) =>
    Effect.map(
      Effect.flatMap(graderOf(task), (grader) => grader.grade(task, answer)),
      (grade) => {
        const isWrong = Seed.chance(Seed.draw(Seed.spread(0, task.id, answer)), wrong)
        return isWrong ? Grader.verdict(!grade.correct) : grade
      }
    )
})

/** Suggests a kind of check for a misspelt one. */
const meantBy = (kind: string, rest: ReadonlyArray<string>, ids: ReadonlyArray<string>): string => {
  const known = Nearest.nearest(kind, ["schema", "command", "grader"])
  const meant = known === undefined ? Nearest.nearest(kind, ids) : [known, ...rest].join(":")
  return Nearest.didYouMean(meant)
}

/** Describes what is wrong with the definition of a check. */
const problemOf = (name: string, ids: ReadonlyArray<string>): string => {
  const [kind = "", ...rest] = name.split(":")
  if (name === "") return "the definition of the check is missing."
  if (kind === "schema") return "the file of the schema is missing."
  if (kind === "command") return "the command is missing."
  return `unknown check "${name}".${meantBy(kind, rest, ids)}`
}

/**
 * Resolves the definition of a check: a worker in the pool that judges, a schema, a command, or the grader. Errors
 * start with `whose`.
 */
export const named = (
  whose: string,
  pool: WorkerPool.WorkerPool,
  name: string
): Effect.Effect<Check.Check, Failure> => {
  const judge = pool.workers.find(({ id }) => id === name)
  if (judge !== undefined) return Effect.succeed(judge)
  const share = /^grader(?::(\d{1,2}|100))?$/.exec(name)
  if (share !== null) return Effect.succeed(byReference(Number(share[1] ?? 0) / 100))
  const [kind, ...rest] = name.split(":")
  const value = rest.join(":")
  if (kind === "schema" && value !== "") return bySchema(whose, value)
  if (kind === "command" && value !== "") return Effect.succeed(byCommand(value))
  const ids = WorkerPool.ids(pool)
  return Effect.fail(
    usage(
      `${whose}: ${problemOf(name, ids)} Use schema:<file>, command:<command>, grader, or a worker as a judge: ${ids.join(", ")}.`
    )
  )
}

/**
 * Pattern of check names. They must start with a letter, because plans write them after `: next`, where numbers refer
 * to workers.
 */
const namePattern = /^\p{L}[\p{L}\p{N} _.-]{0,63}$/u

/** Splits a `--check` value into the name and the definition of the check. */
const parted = (flag: string): readonly [string, string] => {
  const at = flag.indexOf("=")
  return at < 0 ? [flag, ""] : [flag.slice(0, at).trim(), flag.slice(at + 1).trim()]
}

/**
 * Returns the named checks available to plans: those in the config, and those set with `--check`, which take
 * precedence.
 */
export const resolve = Effect.fnUntraced(function* (
  config: Pick<Config, "checks">,
  flags: ReadonlyArray<string>,
  pool: WorkerPool.WorkerPool
): Effect.fn.Return<Check.Checks | undefined, Failure> {
  const flagged = flags.map(parted)
  const names = flagged.map(([name]) => name)
  const repeated = names.find((name, at) => names.indexOf(name) < at)
  if (repeated !== undefined)
    return yield* usage(`--check: two checks have the name "${repeated}". Give each check its own name.`)
  const given = [
    ...Object.entries(config.checks ?? {}).map(([name, check]) => ({
      name,
      check,
      label: `Check "${name}" in the config`,
      source: "checks",
      form: ""
    })),
    ...flagged.map(([name, check]) => ({
      name,
      check,
      label: `--check ${name}`,
      source: "--check",
      form: ", as in --check 'tests=command:npm test'"
    }))
  ]
  const checks = new Map<string, Check.Check>()
  for (const { check, form, label, name, source } of given) {
    if (!namePattern.test(name))
      return yield* usage(`${source}: "${name}" is not a valid check name. Names start with a letter${form}.`)
    checks.set(name, typeof check === "string" ? yield* named(label, pool, check) : check)
  }
  return checks.size === 0 ? undefined : Object.fromEntries(checks)
})
