/**
 * Measures how much there is to gain with drawn teams, and what a reading Conductor gains of it. One JSON line for each
 * policy and setting; with `--table`, a table in Markdown; with `--write FILE`, the same table in its place there.
 *
 *   pnpm --filter @divisi/recipes teams [--tasks 200] [--seed 1] [--settings "new teams,24 workers"]
 *     [--policies "lexical,best single"] [--reader] [--table] [--write FILE]
 */
import fs from "node:fs"
import path from "node:path"
import { parseArgs } from "node:util"
import * as Teams from "@divisi/gym/Teams"
import * as Effect from "effect/Effect"
import * as Markdown from "../tiny/Markdown.ts"
import * as Sample from "../tiny/Sample.ts"
import * as Kinds from "./Kinds.ts"
import * as Rules from "./Rules.ts"
import { settings } from "./Settings.ts"
import * as TeamRuns from "./TeamRuns.ts"

const { values } = parseArgs({
  options: {
    tasks: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    settings: { type: "string" },
    policies: { type: "string" },
    table: { type: "boolean", default: false },
    write: { type: "string" }
  }
})

const [count, seed] = [Number(values.tasks), Number(values.seed)]
const guess = Kinds.learn(1500)

const isNamed = (list: string | undefined, name: string): boolean => list?.split(",").includes(name) ?? true

const mean = (runs: ReadonlyArray<TeamRuns.Run>, value: (run: TeamRuns.Run) => number) =>
  Sample.estimate(runs.map(value))

const measureSetting = Effect.fnUntraced(function* ({ name, options }: (typeof settings)[number]) {
  const teams = Teams.draw({ ...options, split: "test", count, seed })
  const policies = Rules.policies(teams, guess).filter((policy) => isNamed(values.policies, policy.name))
  return yield* Effect.forEach(
    policies,
    Effect.fnUntraced(function* (policy) {
      const runs = yield* TeamRuns.measure(policy, teams)
      const independent = runs.filter(({ hasIndependent }) => hasIndependent)
      const record = {
        setting: name,
        policy: policy.name,
        tasks: runs.length,
        right: mean(runs, ({ right }) => right),
        usdPerThousand: mean(runs, ({ costUsd }) => 1000 * costUsd),
        calls: mean(runs, ({ calls }) => calls),
        parallelOfIndependent: mean(independent, ({ isParallel }) => (isParallel ? 1 : 0))
      }
      if (!values.table) console.log(JSON.stringify(record))
      return record
    })
  )
})

const measured: Array<Effect.Success<ReturnType<typeof measureSetting>>> = []
for (const setting of settings.filter(({ name }) => isNamed(values.settings, name))) {
  process.stderr.write(`${setting.name}\n`)
  measured.push(await Effect.runPromise(measureSetting(setting)))
}

const columns = ["teams", ...(measured[0] ?? []).map(({ policy }) => `${policy}, right, %`)]
const rows = measured.map((records) => [records[0]!.setting, ...records.map(({ right }) => Markdown.percent(right))])
const table = Markdown.table(columns, rows)
if (values.table) console.log(table)
if (values.write !== undefined) {
  const file = path.resolve(process.env.INIT_CWD ?? ".", values.write)
  fs.writeFileSync(file, Markdown.fill(fs.readFileSync(file, "utf8"), "headroom", table))
}
