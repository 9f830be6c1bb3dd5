/** The policies that ask a second worker on evidence, by name: `checked:a+b+command:npm test` and `agreed:a+b+c`. */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import * as Check from "@divisi/core/Check"
import * as Escalation from "@divisi/core/Escalation"
import * as Grader from "@divisi/core/Grader"
import type * as Policy from "@divisi/core/Policy"
import * as Seed from "@divisi/core/Seed"
import * as Task from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import { type Failure, messageOf, usage } from "../invocation/Failure.ts"
import * as OfflineGym from "./OfflineGym.ts"

/** How each is written. */
const forms = { checked: "checked:<first>+<then>+<check>", agreed: "agreed:<a>+<b>+<otherwise>" } as const

/** A command may run for so long. */
const timeoutMillis = 60_000

/** Of what a command prints, so many characters are told. */
const mostTold = 2_000

/**
 * A check by a command of the user's shell: the answer is its standard input, the question `DIVISI_QUESTION`. It passes
 * with the exit code 0; what it prints says what is wrong.
 */
const byCommand =
  (command: string): Check.Check =>
  (answer, task, signal) =>
    new Promise((resolve, reject) => {
      const child = spawn(command, {
        shell: true,
        signal,
        timeout: timeoutMillis,
        env: { ...process.env, DIVISI_QUESTION: Task.question(task) },
        stdio: ["pipe", "pipe", "pipe"]
      })
      let printed = ""
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          printed = `${printed}${text}`.slice(-mostTold)
        })
      }
      // A command need not read the answer.
      child.stdin.on("error", () => {})
      child.on("error", reject)
      child.on("close", (code, ended) => {
        const said = printed.trim() || `\`${command}\` ended with ${ended ?? code}.`
        resolve(code === 0 ? true : said)
      })
      child.stdin.end(answer)
    })

const bySchema = (file: string): Effect.Effect<Check.Check, Failure> =>
  Effect.try({
    try: () => Check.matches(JSON.parse(readFileSync(file, "utf8"))),
    catch: (error) => usage(`The policy checked cannot use the schema ${file}: ${messageOf(error)}.`)
  })

/**
 * The grader of the gym for its tasks; the reference of others has to be the answer. It can be made wrong in a share of
 * cases, the same ones each time, to see what a check is worth that is.
 */
const byReference = (wrong: number): Check.Check => ({
  name: "grader",
  grade: (task, answer) =>
    Effect.map((task.id.startsWith("gym-") ? OfflineGym.grader : Grader.exact).grade(task, answer), (grade) => {
      const isWrong = Seed.chance(Seed.draw(Seed.spread(0, task.id, answer)), wrong)
      return isWrong ? Grader.verdict(!grade.correct) : grade
    })
})

/** What a name calls the check: a worker of the pool that judges, a schema, a command, or the grader. */
const checkOf = (pool: WorkerPool.WorkerPool, name: string): Effect.Effect<Check.Check, Failure> => {
  const judge = pool.workers.find(({ id }) => id === name)
  if (judge !== undefined) return Effect.succeed(judge)
  const share = /^grader(?::(\d{1,2}|100))?$/.exec(name)
  if (share !== null) return Effect.succeed(byReference(Number(share[1] ?? 0) / 100))
  const [kind, ...rest] = name.split(":")
  const value = rest.join(":")
  if (kind === "schema" && value !== "") return bySchema(value)
  if (kind === "command" && value !== "") return Effect.succeed(byCommand(value))
  return Effect.fail(
    usage(
      `The policy checked has no check "${name}". A check is schema:<file>, command:<command>, grader, grader:<per cent wrong>, or a worker that judges: ${WorkerPool.ids(pool).join(", ")}.`
    )
  )
}

/** The policy behind a name; `value` is what stands behind its colon. A command may have a plus in it. */
export const resolve = (
  kind: keyof typeof forms,
  value: string,
  pool: WorkerPool.WorkerPool
): Effect.Effect<Policy.Policy, Failure> => {
  const ids = WorkerPool.ids(pool)
  const [first = "", second = "", ...rest] = value.split("+")
  const third = rest.join("+")
  const workers = kind === "agreed" ? [first, second, third] : [first, second]
  if (third === "" || !workers.every((id) => ids.includes(id))) {
    return Effect.fail(
      usage(`The policy ${kind} names workers of the pool: write ${forms[kind]} with some of ${ids.join(", ")}.`)
    )
  }
  const name = `${kind}:${value}`
  return kind === "agreed"
    ? Effect.succeed({ ...Escalation.agreed(first, second, third), name })
    : Effect.map(checkOf(pool, third), (check) => ({ ...Escalation.checked(first, second, check), name }))
}
