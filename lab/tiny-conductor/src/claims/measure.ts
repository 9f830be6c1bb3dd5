/** Measures the published figures with given seeds. */
import { createHash } from "node:crypto"
import fs from "node:fs"
import path from "node:path"
import type { Policy } from "@divisi/core/Policy"
import * as ReadingPolicy from "@divisi/policy-tiny/ReadingPolicy"
import * as Effect from "effect/Effect"
import * as Kinds from "../reader/Kinds.ts"
import { settings } from "../reader/Settings.ts"
import * as Splits from "../reader/Splits.ts"
import * as GymTeams from "../tiny/Teams.ts"
import type { Row, World } from "./Claims.ts"

/** The file that ships. */
export const shipped = path.resolve(import.meta.dirname, "../../../../packages/policy-tiny/model/divisi-reader.gguf")

/** The SHA-256 of the file that ships. */
export const hashOfModel = (): string => createHash("sha256").update(fs.readFileSync(shipped)).digest("hex")

/** Every row. */
export const rows: ReadonlyArray<Pick<Row, "name" | "world">> = [
  ...GymTeams.teams.map(({ name }) => ({ world: "gym" as const, name })),
  ...settings.map(({ name }) => ({ world: "drawn" as const, name }))
]

/** The options of a measurement. */
export interface Options {
  readonly seeds: ReadonlyArray<number>
  /** Questions of each seed. */
  readonly tasks: Readonly<Record<World, number>>
  readonly isWanted: (row: Pick<Row, "name" | "world">) => boolean
  readonly say: (text: string) => void
  /** Whether these rows suffice, so that no further seed is measured. */
  readonly isEnough?: ((rows: ReadonlyArray<Row>) => boolean) | undefined
}

const onGym = (policy: Policy, seed: number, options: Options) =>
  Effect.map(
    GymTeams.run({
      tiny: { name: "reading", policy },
      seeds: [seed],
      count: options.tasks.gym,
      isWanted: (name) => options.isWanted({ world: "gym", name }),
      say: options.say
    }),
    ({ records }) =>
      records.map(({ bestSingle, lexical, team, tiny }) => ({
        world: "gym" as const,
        name: team,
        seeds: [{ seed, reading: tiny.right.mean, lexical: lexical.right.mean, single: bestSingle.right.mean }]
      }))
  )

const onDrawn = (policy: Policy, guess: Kinds.Guess, seed: number, options: Options) => {
  const wanted = settings.filter(({ name }) => options.isWanted({ world: "drawn", name }))
  if (wanted.length === 0) return Effect.succeed([])
  const measured = Splits.measure({
    settings: wanted,
    split: "test",
    seeds: [seed],
    count: options.tasks.drawn,
    guess,
    models: [policy],
    isWanted: (name) => [policy.name, "lexical", "best single"].includes(name),
    say: options.say
  })
  const rightOf = (all: ReadonlyArray<Splits.Row>, name: string) =>
    Splits.figures(all.find(({ policy }) => policy === name)!).right.mean
  return Effect.map(measured, (found) =>
    found.map((all) => ({
      world: "drawn" as const,
      name: all[0]!.setting,
      seeds: [
        {
          seed,
          reading: rightOf(all, policy.name),
          lexical: rightOf(all, "lexical"),
          single: rightOf(all, "best single")
        }
      ]
    }))
  )
}

/** Measures the wanted rows, seed by seed, until they are enough. */
export const measure = Effect.fnUntraced(function* (options: Options) {
  const policy = ReadingPolicy.make(yield* ReadingPolicy.load(shipped), { name: "reading" })
  const guess = Kinds.learn(1500)
  const found = new Map<string, Row>()
  for (const seed of options.seeds) {
    options.say(`seed ${seed}`)
    const measured: ReadonlyArray<Row> = [
      ...(yield* onGym(policy, seed, options)),
      ...(yield* onDrawn(policy, guess, seed, options))
    ]
    for (const row of measured) {
      const key = `${row.world}/${row.name}`
      found.set(key, { ...row, seeds: [...(found.get(key)?.seeds ?? []), ...row.seeds] })
    }
    if (options.isEnough?.([...found.values()])) break
  }
  return [...found.values()]
})
