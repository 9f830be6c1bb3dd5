/** No wrong answer to a question of the gym that was changed: it is understood as a whole, or declined. */
import * as Conductor from "@divisi/core/Conductor"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { type AnyFamilyName, type Difficulty, families, names } from "../src/Family.ts"
import * as GymGrader from "../src/GymGrader.ts"
import * as GymPool from "../src/GymPool.ts"
import * as GymQuestion from "../src/GymQuestion.ts"
import * as Draw from "../src/internal/draw.ts"
import { solvers } from "../src/solvers/index.ts"
import { type Modified, modifiers } from "./modifiers.ts"

interface Changed extends Modified {
  readonly by: string
  readonly family: AnyFamilyName
}

const ways = Object.entries(modifiers).flatMap(([name, [share, modify]]) =>
  Array.from({ length: share }, () => [name, modify] as const)
)

/** Changed questions of all families, as many for each seed. */
const changed = (seed: number, count: number): ReadonlyArray<Changed> => {
  const draw = Draw.make(Draw.derive("modified", seed))
  const found: Array<Changed> = []
  while (found.length < count) {
    const family = draw.pick(names)
    const problem = families[family].generate(draw, draw.pick<Difficulty>([1, 2, 3]))
    const [by, modify] = draw.pick(ways)
    const made = modify(draw, problem, family)
    if (made !== undefined) found.push({ ...made, by, family })
  }
  return found
}

/** Returns the wrong answers to questions, and the share of questions that are answered. */
const judge = async (questions: ReadonlyArray<Changed>, ask: (question: string) => Promise<string | undefined>) => {
  const wrong: Array<string> = []
  let answered = 0
  for (const { by, question, right } of questions) {
    const answer = await ask(question)
    if (answer === undefined) continue
    answered += 1
    if (!right.some((one) => GymGrader.isCorrect(answer, one)))
      wrong.push(`${by}: ${question} → ${answer}, not ${right}`)
  }
  return { wrong, answered: answered / questions.length }
}

const seeds = (process.env.DIVISI_GYM_SEEDS ?? "1,203").split(",").map(Number)
const perSeed = 1_000

const conductor = Conductor.make({
  policy: GymQuestion.declining(LexicalPolicy.make()),
  pool: GymPool.make({ latencyMillis: 0, mistakes: false })
})

describe("a changed question of the gym", () => {
  for (const seed of seeds) {
    it(`is answered rightly or not at all by the solvers, seed ${seed}`, async () => {
      const { answered, wrong } = await judge(changed(seed, perSeed), async (question) => {
        const found = Object.values(solvers).find((solver) => solver.reads(question))
        return found?.solve(question, {})
      })
      assert.deepStrictEqual(wrong, [])
      assert.isAbove(answered, 0.5)
    })

    it(`is answered rightly or not at all by a team, seed ${seed}`, async () => {
      const { answered, wrong } = await judge(changed(seed + 1_000_000, perSeed / 2), async (question) => {
        const { answer, ending } = await Effect.runPromise(conductor.run(question))
        return ending === "answered" ? answer : undefined
      })
      assert.deepStrictEqual(wrong, [])
      assert.isAbove(answered, 0.5)
    })
  }
})
