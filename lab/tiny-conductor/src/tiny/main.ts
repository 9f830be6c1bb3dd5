/**
 * Measures the tiny Conductor on the gym's test tasks. Prints one JSON line per figure. `--table` prints Markdown
 * tables, and `--write FILE` inserts them at the marked positions in that file.
 *
 *   pnpm --filter @divisi/tiny-conductor tiny --model FILE [--part table,pools,recursion,adaptivity,teams] [--tasks 500]
 *     [--pool-tasks 100] [--seeds 20261123,...]
 *     [--untrained FILE] [--warm FILE] [--ablations name=FILE,...] [--without-subtasks name,...]
 *     [--runs name=FOLDER,...] [--picture FILE.svg] [--penalties name=FOLDER,...] [--table] [--write FILE]
 *
 * Names that differ only after a `#`, such as `whole#1` and `whole#2`, are seeds of the same setting. The first
 * ablation is the full recipe, with which the others are compared. Teams are measured with five seeds, derived from
 * today's date by default, and with a fifth of the tasks for each.
 */
import fs from "node:fs"
import path from "node:path"
import { parseArgs } from "node:util"
import * as Gym from "@divisi/gym/Gym"
import * as GymPool from "@divisi/gym/GymPool"
import * as Effect from "effect/Effect"
import { givenFile } from "../givenFile.ts"
import * as Ablations from "./Ablations.ts"
import * as Adaptivity from "./Adaptivity.ts"
import * as Comparison from "./Comparison.ts"
import * as Costs from "./Costs.ts"
import * as Curves from "./Curves.ts"
import * as Markdown from "./Markdown.ts"
import * as Model from "./Model.ts"
import type { Context, Found } from "./Part.ts"
import * as Pools from "./Pools.ts"
import * as Recursion from "./Recursion.ts"
import * as Runs from "./Runs.ts"
import * as Sample from "./Sample.ts"
import { seedsOfDate } from "./seedsOfDate.ts"
import * as Teams from "./Teams.ts"

const { values } = parseArgs({
  options: {
    model: { type: "string" },
    untrained: { type: "string" },
    warm: { type: "string" },
    part: { type: "string" },
    tasks: { type: "string", default: "500" },
    "pool-tasks": { type: "string", default: "100" },
    seeds: { type: "string" },
    ablations: { type: "string" },
    "without-subtasks": { type: "string", default: "" },
    runs: { type: "string" },
    picture: { type: "string" },
    penalties: { type: "string" },
    table: { type: "boolean", default: false },
    write: { type: "string" }
  }
})

const inFolders = (text: string | undefined) =>
  Runs.named(text).map(({ name, value }) => ({ name, value: givenFile(value) }))

const say = (text: string) => void process.stderr.write(`${text}\n`)

const report = (part: string, { markdown, records }: Found) => {
  if (values.table) console.log(`## ${part}\n\n${markdown}\n`)
  else for (const record of records) console.log(JSON.stringify({ part, ...record }))
  if (values.write === undefined) return
  const file = givenFile(values.write)
  fs.writeFileSync(file, Markdown.fill(fs.readFileSync(file, "utf8"), part, markdown))
}

const blank = values["without-subtasks"].split(",")

const openNamed = (models: ReadonlyArray<Runs.Named>) =>
  Effect.forEach(models, ({ name, value }) => Model.open(name, value, !blank.includes(Runs.settingOf(name))))

const pool = GymPool.make({ latencyMillis: 0 })
const tasks = Gym.tasks({ split: "test", count: Number(values.tasks) })
const poolTasks = Number(values["pool-tasks"])

const contextOf = Effect.fnUntraced(function* (file: string) {
  const tiny = yield* Model.open("tiny", givenFile(file))
  const others = yield* openNamed([
    ...(values.warm === undefined ? [] : [{ name: "tiny, after its warm start", value: givenFile(values.warm) }]),
    ...(values.untrained === undefined ? [] : [{ name: "tiny, untrained", value: givenFile(values.untrained) }])
  ])
  const samples = yield* Effect.cached(
    Effect.suspend(() => {
      say(tiny.name)
      return Sample.measure({ policy: tiny.policy, pool, tasks })
    })
  )
  return { tiny, others, pool, tasks, samples, say } satisfies Omit<Context, "count">
})

const ofModel = {
  table: Comparison.run,
  adaptivity: Adaptivity.run,
  recursion: Recursion.run,
  pools: Pools.run
}

const wanted = (part: string) => values.part === undefined || values.part.split(",").includes(part)

const measureModel = Effect.fnUntraced(function* (file: string) {
  const context = yield* contextOf(file)
  for (const [part, run] of Object.entries(ofModel)) {
    const count = part === "pools" ? poolTasks : tasks.length
    if (wanted(part)) report(part, yield* run({ ...context, count }))
  }
})

const measureTeams = Effect.fnUntraced(function* (file: string) {
  if (!wanted("teams")) return
  const seeds = values.seeds?.split(",").map(Number) ?? seedsOfDate()
  const count = Math.ceil(tasks.length / seeds.length)
  report("teams", yield* Teams.run({ tiny: yield* Model.served("tiny", givenFile(file)), seeds, count, say }))
})

const measureAblations = Effect.gen(function* () {
  if (values.ablations === undefined || !wanted("ablations")) return
  const models = yield* openNamed(inFolders(values.ablations))
  report("ablations", yield* Ablations.run({ pool, tasks, say, count: poolTasks }, models))
})

/** Draws the curves if a picture is requested, and adds it to the table. */
const drawn = (runs: ReadonlyArray<Runs.Run>): string => {
  if (values.picture === undefined) return ""
  const file = givenFile(values.picture)
  fs.writeFileSync(file, Curves.picture(runs))
  const from = values.write === undefined ? "." : path.dirname(givenFile(values.write))
  return `![${Curves.title}](${path.relative(from, file)})\n\n`
}

const readRuns = Effect.gen(function* () {
  if (values.runs !== undefined && wanted("curves")) {
    const runs = yield* Runs.read(inFolders(values.runs))
    const { markdown, records } = Curves.table(runs)
    report("curves", { records, markdown: `${drawn(runs)}${markdown}` })
  }
  if (values.penalties !== undefined && wanted("costs")) {
    report("costs", Costs.table(yield* Runs.read(inFolders(values.penalties))))
  }
})

if ([values.model, values.ablations, values.runs, values.penalties].every((value) => value === undefined)) {
  say("Nothing to measure: give --model FILE, --ablations name=FILE, --runs name=FOLDER or --penalties name=FOLDER.")
  process.exit(2)
}

const measures = [
  ...(values.model === undefined ? [] : [measureModel(values.model), measureTeams(values.model)]),
  measureAblations,
  readRuns
]

await Effect.runPromise(Effect.scoped(Effect.all(measures, { discard: true })))
