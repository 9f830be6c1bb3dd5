import { Embedder, Escalation, Outcome, Seed, Transcript } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Outcomes from "../src/Outcomes.ts"
import * as Router from "../src/Router.ts"
import * as Table from "../src/Table.ts"

const words = {
  sums: ["add", "subtract", "total", "number", "plus", "minus", "count"],
  poems: ["rhyme", "verse", "stanza", "rose", "moon", "sonnet", "lyric"],
  law: ["court", "judge", "statute", "appeal", "contract", "clause", "tort"]
} as const

type Kind = keyof typeof words

const textOf = (kind: Kind, draw: Seed.Draw): string =>
  Array.from({ length: 12 }, () => Seed.pick(draw, words[kind])).join(" ")

/** How often each worker is right, by kind. */
type Rates = Readonly<Record<string, Partial<Readonly<Record<Kind, number>>>>>

const questions = (
  rates: Rates,
  count: number,
  kinds: ReadonlyArray<Kind> = ["sums", "poems", "law"],
  isNamed = true
): ReadonlyArray<Outcomes.GradedQuestion> => {
  const draw = Seed.draw(7)
  return kinds.flatMap((kind) =>
    Array.from({ length: count }, (_, index) => ({
      id: `${kind}-${index}`,
      kind: isNamed ? kind : undefined,
      text: textOf(kind, draw),
      scores: new Map(Object.entries(rates).map(([worker, rate]) => [worker, Seed.chance(draw, rate[kind]!) ? 1 : 0])),
      costUsd: new Map(Object.keys(rates).map((worker) => [worker, worker === "cheap" ? 0.001 : 0.01])),
      answers: new Map(),
      at: 0
    }))
  )
}

const fitted = (graded: ReadonlyArray<Outcomes.GradedQuestion>) =>
  Effect.map(Outcomes.examples(graded), (examples) => Result.getOrThrow(Table.fit(examples)))

const decided = (table: Table.Table, text: string, options: Parameters<typeof Router.decider>[1] = {}) =>
  Effect.map(Embedder.hashed().embed([text]), ([point]) => Router.decider(table, options)(point!))

const specialist: Rates = {
  strong: { sums: 0.9, poems: 0.9, law: 0.3 },
  lawyer: { sums: 0.5, poems: 0.5, law: 0.95 }
}

const novel = "Welche Temperatur hat fluessiger Stickstoff im Labor?"

describe("A router", () => {
  it.effect("asks a specialist for its kind, and the best of all for the others", () =>
    Effect.gen(function* () {
      const table = yield* fitted(questions(specialist, 60))
      const draw = Seed.draw(99)
      assert.strictEqual(table.best, "strong")
      const law = yield* decided(table, textOf("law", draw))
      assert.strictEqual(law.worker, "lawyer")
      assert.strictEqual(law.kind, "law")
      assert.match(law.why, /lawyer scores \+\d+\.\d ± \d+\.\d points relative to strong, on \d+ of 60 questions/)
      assert.strictEqual((yield* decided(table, textOf("sums", draw))).worker, "strong")
    })
  )

  it.effect("calls the best overall worker if a question is unlike all graded ones, and reports that", () =>
    Effect.gen(function* () {
      const table = yield* fitted(questions(specialist, 60))
      const decision = yield* decided(table, novel)
      assert.strictEqual(decision.worker, "strong")
      assert.isFalse(decision.isNear)
      assert.include(decision.why, "the kind is unknown")
    })
  )

  it.effect("does not call a worker for a lead that chance explains", () =>
    Effect.gen(function* () {
      const alike: Rates = { a: { sums: 0.8, poems: 0.8, law: 0.8 }, b: { sums: 0.7, poems: 0.7, law: 0.81 } }
      const table = yield* fitted(questions(alike, 12))
      assert.isTrue(table.kinds.every(({ choices }) => choices.best === table.best))
    })
  )

  it.effect("does not trust a kind at which unrelated questions land that do worse", () =>
    Effect.gen(function* () {
      const graded = questions(specialist, 60)
      // Questions in the words of the law, of another kind, at which the lawyer is always wrong.
      const draw = Seed.draw(3)
      const strangers = Array.from({ length: 60 }, (_, index) => ({
        ...graded[0]!,
        id: `contracts-${index}`,
        kind: "contracts",
        text: textOf("law", draw),
        scores: new Map([
          ["strong", 1],
          ["lawyer", 0]
        ])
      }))
      const table = yield* fitted([...graded, ...strangers])
      assert.strictEqual((yield* decided(table, textOf("law", draw))).worker, "strong")
    })
  )

  it.effect("finds kinds by itself if none are named", () =>
    Effect.gen(function* () {
      const table = yield* fitted(questions(specialist, 60, undefined, false))
      assert.isAtLeast(table.kinds.length, 2)
      const draw = Seed.draw(5)
      assert.strictEqual((yield* decided(table, textOf("law", draw))).worker, "lawyer")
      assert.strictEqual((yield* decided(table, textOf("poems", draw))).worker, "strong")
    })
  )

  it.effect("learns from one answer for each question as well", () =>
    Effect.gen(function* () {
      const graded = questions(specialist, 160).map((question, index) => {
        const worker = index % 2 === 0 ? "strong" : "lawyer"
        return { ...question, scores: new Map([[worker, question.scores.get(worker)!]]) }
      })
      const table = yield* fitted(graded)
      const draw = Seed.draw(5)
      assert.strictEqual((yield* decided(table, textOf("law", draw))).worker, "lawyer")
      assert.strictEqual((yield* decided(table, textOf("sums", draw))).worker, "strong")
    })
  )

  it.effect("asks a cheaper worker that is as good where the dial asks for it", () =>
    Effect.gen(function* () {
      const rates: Rates = {
        dear: { sums: 1, poems: 0.9, law: 0.9 },
        cheap: { sums: 1, poems: 0.3, law: 0.3 }
      }
      const table = yield* fitted(questions(rates, 200))
      const draw = Seed.draw(5)
      const [sum, poem] = [textOf("sums", draw), textOf("poems", draw)]
      assert.strictEqual((yield* decided(table, sum)).worker, "dear")
      assert.strictEqual((yield* decided(table, sum, { dial: "within-2" })).worker, "cheap")
      assert.strictEqual((yield* decided(table, poem, { dial: "within-2" })).worker, "dear")
      assert.strictEqual((yield* decided(table, sum, { dial: "half" })).worker, "cheap")
      assert.strictEqual((yield* decided(table, novel, { dial: "half" })).worker, "cheap")
    })
  )

  it.effect("does not choose a worker outside the pool", () =>
    Effect.gen(function* () {
      const table = yield* fitted(questions(specialist, 60))
      const law = textOf("law", Seed.draw(5))
      assert.strictEqual((yield* decided(table, law, { among: ["strong"] })).worker, "strong")
      assert.strictEqual((yield* decided(table, novel, { among: ["lawyer"] })).worker, "lawyer")
    })
  )
})

describe("A table", () => {
  it.effect("is the same after it was written and read", () =>
    Effect.gen(function* () {
      const table = yield* fitted(questions(specialist, 30))
      assert.deepStrictEqual(Result.getOrThrow(Table.read(JSON.parse(JSON.stringify(table)))), table)
      assert.isTrue(Result.isFailure(Table.read({ version: 1 })))
    })
  )

  it.effect("is learned from any handful of answers, and always names a worker", () =>
    Effect.gen(function* () {
      for (let seed = 0; seed < 300; seed++) {
        const draw = Seed.draw(seed)
        const mixed = ["sums", "poems", "law"] as const
        const graded = Array.from({ length: 1 + Seed.below(draw, 14) }, (_, index): Outcomes.GradedQuestion => {
          const kind = Seed.pick(draw, mixed)
          const present = ["a", "b", "c"].filter(() => Seed.chance(draw, 0.6))
          return {
            id: String(index),
            kind: Seed.chance(draw, 0.8) ? kind : undefined,
            text: Seed.chance(draw, 0.2) ? "" : Seed.pick(draw, [textOf(kind, draw), novel]),
            scores: new Map(present.map((worker) => [worker, draw()])),
            costUsd: new Map(present.filter(() => Seed.chance(draw, 0.5)).map((worker) => [worker, draw()])),
            answers: new Map(),
            at: 0
          }
        })
        if (graded.every(({ scores }) => scores.size === 0)) continue
        const table = yield* fitted(graded)
        for (const dial of Table.dials) {
          const { worker } = yield* decided(table, textOf("law", draw), { dial })
          assert.include(["a", "b", "c"], worker, `seed ${seed}`)
        }
      }
    })
  )

  it("cannot be learned from nothing", () => {
    assert.isTrue(Result.isFailure(Table.fit([])))
  })
})

describe("The policy", () => {
  const poolOf = (...ids: ReadonlyArray<string>) =>
    WorkerPool.makeUnsafe(ids.map((id) => ScriptedWorker.make({ id, replies: [id] })))

  const ran = (table: Table.Table, pool: WorkerPool.WorkerPool, question: string) =>
    Effect.gen(function* () {
      const recorder = Transcript.recorder()
      const conductor = Conductor.make({ policy: Router.make(table), pool })
      const result = yield* conductor.run(question, { listener: recorder.listener })
      return { result, transcript: recorder.transcript()! }
    })

  it.effect("asks one worker, and its notes say why", () =>
    Effect.gen(function* () {
      const table = yield* fitted(questions(specialist, 60))
      const { result, transcript } = yield* ran(table, poolOf("new", "lawyer", "strong"), textOf("law", Seed.draw(5)))
      assert.strictEqual(result.answer, "lawyer")
      assert.include(transcript.rounds[0]!.notes[0], "lawyer scores +")
    })
  )

  it.effect("refuses a pool of unknown workers, so that a fallback plans", () =>
    Effect.gen(function* () {
      const table = yield* fitted(questions(specialist, 30))
      const { result } = yield* ran(table, poolOf("new", "other"), "What is 2 + 2?")
      assert.include(result.detail, "contains no worker in this pool")
    })
  )

  it.effect("asks another worker when the first has failed", () =>
    Effect.gen(function* () {
      const table = yield* fitted(questions(specialist, 60))
      const pool = WorkerPool.makeUnsafe([
        ScriptedWorker.make({ id: "strong", replies: [{ fail: { _tag: "ContentFiltered" } }] }),
        ScriptedWorker.make({ id: "lawyer", replies: ["instead"] })
      ])
      const conductor = Conductor.make({ policy: Router.make(table), pool, recursion: 1 })
      const result = yield* conductor.run(textOf("sums", Seed.draw(5)))
      assert.strictEqual(result.answer, "instead")
    })
  )

  it.effect("calls the next best if an answer fails the run's check, and keeps its first choice if all do", () =>
    Effect.gen(function* () {
      const table = yield* fitted(questions(specialist, 60))
      const asked = (passes: string) =>
        Effect.gen(function* () {
          const recorder = Transcript.recorder()
          const policy = Router.make(table)
          const pool = poolOf("strong", "new", "lawyer")
          const conductor = Conductor.make({ policy, pool, checks: { passes: (answer) => answer === passes } })
          const { answer } = yield* conductor.run(textOf("law", Seed.draw(5)), { listener: recorder.listener })
          const { rounds } = recorder.transcript()!
          return [answer, ...rounds.flatMap(({ steps }) => steps.map(({ worker }) => worker))]
        })
      assert.deepStrictEqual(yield* asked("lawyer"), ["lawyer", "lawyer"])
      assert.deepStrictEqual(yield* asked("strong"), ["strong", "lawyer", "strong"])
      // Of the third one nothing is known.
      assert.deepStrictEqual(yield* asked("new"), ["lawyer", "lawyer", "strong"])
    })
  )

  it.effect(
    "tries others that are as good at no higher price for a share of the questions, and says how likely that was",
    () =>
      Effect.gen(function* () {
        // One in a hundred answers of the cheap one is worse.
        const alike = questions({ strong: specialist.strong!, cheap: specialist.strong! }, 100).map((one, index) => {
          const right = index % 20 === 0 ? 0 : 1
          const scores = new Map([
            ["strong", right],
            ["cheap", index % 100 === 1 ? 0 : right]
          ])
          return { ...one, scores }
        })
        const table = yield* fitted(alike)
        const choice = table.best
        const policy = Router.make(table, { explore: 0.5 })
        const draw = Seed.draw(9)
        const runs = yield* Effect.forEach(Array.from({ length: 60 }), () =>
          Effect.gen(function* () {
            const recorder = Transcript.recorder()
            const conductor = Conductor.make({ policy, pool: poolOf("cheap", "strong") })
            const { answer } = yield* conductor.run(textOf("law", draw), { listener: recorder.listener })
            const transcript = recorder.transcript()!
            const outcome = Outcome.fromTranscript(transcript, { score: 1, source: "user", at: 1 })!
            return { answer, transcript, probability: outcome.probability }
          })
        )
        const drawn = runs.filter(({ probability }) => probability !== 1)
        assert.isAbove(drawn.length, 30)
        assert.isTrue(drawn.every(({ probability }) => probability === 0.5))
        const tried = drawn.filter(({ answer }) => answer !== choice)
        // Only a cheaper one is tried: from the cheap one nothing is.
        assert.strictEqual(choice, "strong")
        assert.isTrue(tried.length > 5 && tried.length < drawn.length - 5)
        assert.include(tried[0]!.transcript.rounds[0]!.notes[0], "cheap is tried")
        assert.strictEqual(tried[0]!.transcript.rounds[0]!.probability, 0.5)
      })
  )

  it.effect("never tries a worse or more expensive worker, and tries an unknown one that costs no more", () =>
    Effect.gen(function* () {
      const table = yield* fitted(questions({ ...specialist, cheap: { sums: 0.1, poems: 0.1, law: 0.1 } }, 60))
      const priced = (id: string, outputPerMillion: number) => ({
        ...ScriptedWorker.make({ id, replies: [id] }),
        pricing: { inputPerMillion: 0, outputPerMillion }
      })
      const draw = Seed.draw(9)
      const asked = (...others: ReadonlyArray<ReturnType<typeof priced>>) =>
        Effect.gen(function* () {
          const pool = WorkerPool.makeUnsafe([priced("strong", 10), priced("cheap", 1), ...others])
          const conductor = Conductor.make({ policy: Router.make(table, { explore: 0.5 }), pool })
          const answers = yield* Effect.forEach(Array.from({ length: 30 }), () =>
            Effect.map(conductor.run(textOf("sums", draw)), ({ answer }) => answer)
          )
          return [...new Set(answers)].sort()
        })
      assert.deepStrictEqual(yield* asked(), ["strong"])
      assert.deepStrictEqual(yield* asked(priced("new", 5), priced("dear", 50)), ["new", "strong"])
    })
  )

  it.effect("hands over to a team where a team was better, and the team is credited", () =>
    Effect.gen(function* () {
      const id = "policy:checked:a+b"
      const table = yield* fitted(
        questions({ strong: specialist.strong!, [id]: { sums: 0.2, poems: 0.2, law: 0.95 } }, 60)
      )
      assert.strictEqual(table.best, "strong")
      const pool = poolOf("strong", "other")
      const team = { ...Escalation.checked("other", "strong", () => false), name: "checked:a+b" }
      const recorder = Transcript.recorder()
      const policy = Router.make(table, { teams: new Map([[id, team]]) })
      const law = textOf("law", Seed.draw(5))
      const { spend } = yield* Conductor.make({ policy, pool }).run(law, { listener: recorder.listener })
      assert.strictEqual(spend.calls, 2)
      const transcript = recorder.transcript()!
      assert.deepStrictEqual([transcript.policy, transcript.rounds[0]!.policy], ["router", "checked:a+b"])
      assert.strictEqual(Outcome.fromTranscript(transcript, { score: 1, source: "user", at: 1 })!.worker, id)
      const sums = yield* Conductor.make({ policy, pool }).run(textOf("sums", Seed.draw(5)))
      assert.strictEqual(sums.answer, "strong")
      const without = yield* Conductor.make({ policy: Router.make(table), pool }).run(law)
      assert.strictEqual(without.spend.calls, 1)
    })
  )
})
