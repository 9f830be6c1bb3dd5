/** A database, and an evaluation that several processes of `divisi eval --on` share. */
import fs from "node:fs"
import path from "node:path"
import { PostgresServer } from "@divisi/testkit/journals"

export const hasPostgres = PostgresServer.find() !== undefined

if (!hasPostgres) console.warn("Not tested: `divisi eval --on` needs initdb, pg_ctl and postgres.")

/** A pool whose answers follow from the question, and cost something. It writes each call into a file. */
const pool = (books: string) => `
import fs from "node:fs"
import { worker } from "@divisi/core/promise"
if (process.env.PID_FILE) fs.writeFileSync(process.env.PID_FILE, String(process.pid))
const answer = (id) => async ({ messages }) => {
  fs.appendFileSync(${JSON.stringify(books)}, id + "\\n")
  await new Promise((resolve) => setTimeout(resolve, Number(process.env.CALL_MILLIS ?? 20)))
  const text = JSON.stringify(messages)
  return { text: "The answer is " + (text.length % 7), usage: { inputTokens: 10 + (text.length % 7), outputTokens: 5 } }
}
export default {
  pool: ["a", "b"].map((id) => worker({ id, answer: answer(id), pricing: { inputPerMillion: 1, outputPerMillion: 2 } }))
}
`

/** A report without times, which differ from run to run, and without its digest. */
export const untimed = (text: string): unknown =>
  JSON.parse(text, (key, value) => (/millis|latency|duration|seconds|created|^sha256$/i.test(key) ? undefined : value))

/** The URL of a database without its password, which is in the environment. */
export const placeOf = (database: PostgresServer.PostgresServer) => {
  const { PGPASSWORD, url } = PostgresServer.withoutPassword(database.url)
  return { url, environment: { PGPASSWORD, DIVISI_OUTCOMES: "none" } }
}

export const prepare = (folder: string, policies = "single:a,lexical") => {
  const rows = Array.from({ length: 60 }, (_, at) =>
    JSON.stringify({ question: `What is ${at} plus ${at}?`, answer: `${at % 7}` })
  )
  fs.writeFileSync(path.join(folder, "rows.jsonl"), rows.join("\n"))
  fs.writeFileSync(path.join(folder, "divisi.config.mjs"), pool(path.join(folder, "books")))
  fs.writeFileSync(path.join(folder, "books"), "")
  const flags = ["--benchmark", "rows.jsonl", "--policy", policies, "--config", "divisi.config.mjs"]
  return (...more: ReadonlyArray<string>) => ["eval", ...flags, "--concurrency", "2", ...more]
}

export const callsIn = (folder: string) => fs.readFileSync(path.join(folder, "books"), "utf8").split("\n").length - 1
