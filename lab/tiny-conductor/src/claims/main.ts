/**
 * Measures the figures published in docs/tiny-conductor.md and docs/lab/tiny-conductor.md, or checks a sample of them
 * with new seeds.
 *
 *   pnpm --filter @divisi/tiny-conductor claims            measures ten seeds, writes claims.json and the page's tables
 *   pnpm --filter @divisi/tiny-conductor claims --check    a row of each world with up to three seeds of the day; exit code
 *                                                          1 if a claim is contradicted by all three
 *   pnpm --filter @divisi/tiny-conductor claims --tables   writes the page's tables from claims.json
 */
import fs from "node:fs"
import path from "node:path"
import { parseArgs } from "node:util"
import { Seed } from "@divisi/core"
import * as Effect from "effect/Effect"
import { fill } from "../tiny/Markdown.ts"
import * as Claims from "./Claims.ts"
import { hashOfModel, measure, rows } from "./measure.ts"

const { values } = parseArgs({
  options: { check: { type: "boolean", default: false }, tables: { type: "boolean", default: false } }
})

const file = path.resolve(import.meta.dirname, "../../claims.json")
const page = path.resolve(import.meta.dirname, "../../../../docs/lab/tiny-conductor.md")

/** Ten days from 29 November 2026: fixed before anything was measured with them. */
const seeds = [20261129, 20261130, 20261201, 20261202, 20261203, 20261204, 20261205, 20261206, 20261207, 20261208]
const tasks = { gym: 500, drawn: 200 }

const say = (text: string) => void process.stderr.write(`${text}\n`)
const today = new Date().toISOString().slice(0, 10)
const read = (): Claims.Claims => JSON.parse(fs.readFileSync(file, "utf8"))

const check = async (): Promise<void> => {
  const claims = read()
  if (claims.model !== hashOfModel()) throw new Error("claims.json is of another file: measure again without --check.")
  const day = Seed.derive(0, "claims", today)
  const ofWorld = (world: Claims.World) => rows.filter((row) => row.world === world)
  const sample = (["gym", "drawn"] as const).map((world) => ofWorld(world)[day % ofWorld(world).length]!)
  const questions = 100
  const measured = await Effect.runPromise(
    measure({
      seeds: [0, 1, 2].map((index) => Seed.derive(day, index)),
      tasks: { gym: questions, drawn: questions },
      isWanted: ({ name, world }) => sample.some((row) => row.name === name && row.world === world),
      // One seed that confirms all claims suffices.
      isEnough: (rows) => Claims.contradictions(claims, rows, questions).length === 0,
      say
    })
  )
  const problems = Claims.contradictions(claims, measured, questions)
  for (const problem of problems) console.log(problem)
  console.log(`${measured.length - problems.length} passed, ${problems.length} failed`)
  process.exitCode = problems.length === 0 ? 0 : 1
}

const writeTables = (claims: Claims.Claims): void => {
  const text = (["gym", "drawn"] as const).reduce(
    (document, world) => fill(document, `claims-${world}`, Claims.table(claims, world)),
    fs.readFileSync(page, "utf8")
  )
  fs.writeFileSync(page, text)
}

const measureAll = async (): Promise<void> => {
  const measured = await Effect.runPromise(measure({ seeds, tasks, isWanted: () => true, say }))
  const claims: Claims.Claims = { version: 1, date: today, model: hashOfModel(), tasks, rows: measured }
  fs.writeFileSync(file, `${JSON.stringify(claims, null, 1)}\n`)
  writeTables(claims)
}

if (values.check) await check()
else if (values.tables) writeTables(read())
else await measureAll()
