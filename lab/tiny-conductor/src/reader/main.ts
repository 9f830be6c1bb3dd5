/**
 * Measures policies on teams generated separately for each question, by setting. Prints a JSON line for each policy and
 * setting. `--table` prints a Markdown table, and `--write FILE` writes the table into that file.
 *
 *   pnpm --filter @divisi/tiny-conductor teams [--tasks 200] [--seeds 1] [--split test] [--settings "new teams,24 workers"]
 *     [--policies "lexical,best single"] [--reader FILE,FILE] [--price-weight 0.1] [--gym] [--recursion 0]
 *     [--checks] [--table] [--write FILE] [--name headroom] [--picture FILE.svg]
 *
 * `--tasks` is the number of questions per seed. `--seeds date` derives five seeds from today's date. With `--reader`,
 * a reading Conductor is included and paired with the other policies; additional files are Conductors trained with
 * other seeds. `--price-weight` is the weight of prices for the Conductor. With `--gym`, it is measured on the gym's
 * fixed teams instead, with as many additional rounds as given by `--recursion`. With `--checks`, it is also compared
 * with itself without checks.
 */
import fs from "node:fs"
import { parseArgs } from "node:util"
import type * as Gym from "@divisi/gym/Gym"
import * as ChoiceHead from "@divisi/policy-tiny/ChoiceHead"
import * as ReadingPolicy from "@divisi/policy-tiny/ReadingPolicy"
import { EstimatePicture } from "@divisi/report"
import * as Effect from "effect/Effect"
import { givenFile } from "../givenFile.ts"
import * as Markdown from "../tiny/Markdown.ts"
import { seedsOfDate } from "../tiny/seedsOfDate.ts"
import * as GymTeams from "../tiny/Teams.ts"
import * as Kinds from "./Kinds.ts"
import { settings } from "./Settings.ts"
import * as Splits from "./Splits.ts"

const { values } = parseArgs({
  options: {
    tasks: { type: "string", default: "200" },
    seeds: { type: "string", default: "1" },
    split: { type: "string", default: "test" },
    settings: { type: "string" },
    policies: { type: "string" },
    reader: { type: "string" },
    "price-weight": { type: "string", default: String(ReadingPolicy.defaultPriceWeight) },
    gym: { type: "boolean", default: false },
    recursion: { type: "string", default: "0" },
    checks: { type: "boolean", default: false },
    name: { type: "string", default: "headroom" },
    table: { type: "boolean", default: false },
    write: { type: "string" },
    picture: { type: "string" }
  }
})

const count = Number(values.tasks)
const seeds = values.seeds === "date" ? seedsOfDate() : values.seeds.split(",").map(Number)
const say = (text: string) => void process.stderr.write(`${text}\n`)

const isNamed = (list: string | undefined, name: string): boolean => list?.split(",").includes(name) ?? true

const files = values.reader?.split(",") ?? []
const trained = await Effect.runPromise(Effect.forEach(files, (file) => ReadingPolicy.load(givenFile(file))))
const priceWeight = Number(values["price-weight"])
const models = trained.map((model, index) =>
  ReadingPolicy.make(model, { priceWeight, name: index === 0 ? "reading" : `reading (training ${index + 1})` })
)
const [reading] = models

const withoutChecks = trained
  .slice(0, 1)
  .map(({ head, readers }) =>
    ReadingPolicy.make(
      { readers, head: ChoiceHead.withoutChecks(head) },
      { priceWeight, name: "reading without checks" }
    )
  )

/** Writes a picture of the shares of right answers if one is requested. */
const draw = (title: string, series: ReadonlyArray<string>, rows: ReadonlyArray<EstimatePicture.Row>): void => {
  if (values.picture === undefined) return
  const format = (share: number) => `${Math.round(100 * share)} %`
  const picture = EstimatePicture.render(title, { series, rows, format, range: [0, 1] })
  fs.writeFileSync(givenFile(values.picture), picture)
}

const onDrawnTeams = Effect.gen(function* () {
  const measured = yield* Splits.measure({
    settings: settings.filter(({ name }) => isNamed(values.settings, name)),
    split: values.split as Gym.Split,
    seeds,
    count,
    guess: Kinds.learn(1500),
    models: values.checks ? [...models.slice(0, 1), ...withoutChecks] : models,
    isWanted: (name) => (values.checks ? name.startsWith("reading") : isNamed(values.policies, name)),
    say
  })
  const shown = [...models.map(({ name }) => name), "lexical", "best single", "teams-oracle"]
  draw("Right answers on drawn teams", shown, Splits.estimates(measured, shown))
  if (!values.table) for (const row of measured.flat()) console.log(JSON.stringify(Splits.figures(row)))
  if (values.checks) return Splits.checks(measured)
  const isWhole = reading !== undefined && values.policies === undefined
  return isWhole ? Splits.comparison(measured, reading.name) : Splits.table(measured)
})

const onGym = (policy: NonNullable<typeof reading>) =>
  Effect.map(
    GymTeams.run({ tiny: { name: policy.name, policy }, seeds, count, recursion: Number(values.recursion), say }),
    ({ markdown, records }) => {
      const rows = records.map(({ bestSingle, lexical, team, tiny }) => ({
        name: team,
        estimates: [tiny.right, lexical.right, bestSingle.right]
      }))
      draw("Right answers on the teams of the gym", [policy.name, "lexical", "best single"], rows)
      if (!values.table) for (const record of records) console.log(JSON.stringify(record))
      return markdown
    }
  )

if ((values.gym || values.checks) && reading === undefined)
  throw new Error("With --gym and --checks a reader is measured: give --reader FILE.")
const table = await Effect.runPromise(values.gym ? onGym(reading!) : onDrawnTeams)
if (values.table) console.log(table)
if (values.write !== undefined) {
  const file = givenFile(values.write)
  fs.writeFileSync(file, Markdown.fill(fs.readFileSync(file, "utf8"), values.name, table))
}
