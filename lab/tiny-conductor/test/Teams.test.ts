import * as Conductor from "@divisi/core/Conductor"
import * as Task from "@divisi/core/Task"
import { Family, GymGrader } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HandWritten from "../src/world/HandWritten.ts"
import * as Teams from "../src/world/Teams.ts"
import * as TeamsOracle from "../src/world/TeamsOracle.ts"

const describedIn = (teams: ReadonlyArray<Teams.Team>) =>
  teams.flatMap(({ pool }) => pool.workers.map(({ description = "" }) => description))

/** The words for kinds of question in the given pieces. */
const wordsIn = (teams: ReadonlyArray<Teams.Team>) =>
  new Set(
    teams.flatMap(({ members }) =>
      members.flatMap(({ pieces }) =>
        pieces.flatMap(({ kinds, text }) => (kinds === undefined ? [] : [text.toLowerCase()]))
      )
    )
  )

describe("Teams", () => {
  it("the same options draw the same teams, and other seeds others", () => {
    const facts = (seed: number) =>
      Teams.draw({ split: "train", count: 5, seed }).map(({ pool, task }) => [
        Task.question(task),
        ...pool.workers.map(({ description, id }) => [id, description])
      ])
    assert.deepStrictEqual(facts(1), facts(1))
    assert.notDeepEqual(facts(1), facts(2))
  })

  it("teams have as many workers as asked for", () => {
    for (const size of [2, 24]) {
      const teams = Teams.draw({ split: "test", count: 5, workers: [size, size] })
      for (const { pool } of teams) assert.strictEqual(pool.workers.length, size)
    }
  })

  it("held-out words, sentences and sets of skills stand in no training description", () => {
    const train = Teams.draw({ split: "train", count: 300 })
    const known = wordsIn(train)
    for (const words of ["related", "unrelated"] as const) {
      for (const word of wordsIn(Teams.draw({ split: "test", count: 40, words }))) {
        // Words for several kinds at once have no held-out forms.
        assert.isFalse(known.has(word), word)
      }
    }
    const cues = ["safe pair of hands", "has no head for", "second pair of eyes"]
    const [told, heldOut] = [
      describedIn(train),
      describedIn(Teams.draw({ split: "test", count: 100, heldOutShapes: true }))
    ]
    for (const cue of cues) {
      assert.isFalse(told.some((text) => text.toLowerCase().includes(cue)))
      assert.isTrue(heldOut.some((text) => text.toLowerCase().includes(cue)))
    }
    const goodAt = ({ profile }: Teams.Member) => Family.names.filter((kind) => Teams.expected(profile, kind) > 0.7)
    for (const { members } of train) {
      for (const member of members) assert.isFalse(Teams.isHeldOutSet(goodAt(member)))
    }
  })

  it.live("a worker understands a question however it is asked, and its answer is graded by the gym", () =>
    Effect.gen(function* () {
      for (const options of [{}, { heldOutQuestions: true }, { handWrittenQuestions: true, composites: 0 }]) {
        const teams = Teams.draw({ split: "test", count: 60, unanswerable: 0, workers: [8, 12], ...options })
        let right = 0
        for (const { pool, task } of teams) {
          const conductor = Conductor.make({ policy: TeamsOracle.make(teams), pool, maxSteps: 9, seed: 0 })
          const { answer } = yield* conductor.run(task)
          if (GymGrader.isCorrect(answer ?? "", task.reference!)) right += 1
        }
        assert.isAtLeast(right / teams.length, 0.88, JSON.stringify(options))
      }
    })
  )

  it.live("where nobody does a kind of question, the oracle refuses and pays nothing", () =>
    Effect.gen(function* () {
      const teams = Teams.draw({ split: "test", count: 10, unanswerable: 1 })
      for (const { isAnswerable, pool, task } of teams) {
        assert.isFalse(isAnswerable)
        const { ending, spend } = yield* Conductor.make({ policy: TeamsOracle.make(teams), pool }).run(task)
        assert.strictEqual(ending, "refused")
        assert.strictEqual(spend.costUsd, 0)
      }
    })
  )

  it("a record tells what doubtful descriptions do not: who was right is mostly good at it", () => {
    const teams = Teams.draw({ split: "test", count: 60, truth: "doubtful", record: 20 })
    let [high, good] = [0, 0]
    for (const { members, pool } of teams) {
      for (const [ordinal, { profile }] of members.entries()) {
        const text = pool.workers[ordinal]!.description ?? ""
        for (const kind of Family.names) {
          if (!new RegExp(`Record:.* ${Teams.recordName[kind]} [3-9]/\\d+ high`).test(text)) continue
          high += 1
          if (Teams.expected(profile, kind) >= 0.7) good += 1
        }
      }
    }
    assert.isAbove(high, 100)
    // Of all pairs of a worker and a kind, it is three in ten.
    assert.isAbove(good / high, 0.7)
  })

  it("at least 200 descriptions and 200 questions are written by hand, none of them twice", () => {
    const texts = HandWritten.descriptions.map(({ text }) => text)
    const questions = Object.values(HandWritten.questions).flat()
    assert.isAtLeast(new Set(texts).size, 200)
    assert.isAtLeast(new Set(questions).size, 200)
    assert.strictEqual(new Set(texts).size, texts.length)
  })

  it("whoever is careless is checked where somebody checks that kind", () => {
    const teams = Teams.draw({ split: "test", count: 80, careless: true })
    const choices = teams.flatMap((team) =>
      Gym.metadata(team.task)!.parts.map(({ family }) => ({ team, choice: TeamsOracle.choose(team, family) }))
    )
    const checked = choices.filter(({ choice }) => choice.checkers.length > 0)
    assert.isAbove(checked.length, 20)
    for (const { choice, team } of checked) {
      for (const checker of choice.checkers) assert.isTrue(team.members[checker]!.profile.checksOnly)
    }
  })
})
