import { describe, expect, it } from "vitest"
import * as Choosers from "../src/Choosers.ts"
import * as Combined from "../src/Combined.ts"
import * as Options from "../src/Options.ts"
import * as Passages from "../src/Passages.ts"
import * as Plan from "../src/Plan.ts"
import * as Policies from "../src/Policies.ts"
import * as Questions from "../src/Questions.ts"
import * as Records from "../src/Records.ts"
import * as Replay from "../src/Replay.ts"
import { models, ways } from "../src/Ways.ts"

const record = (question: string, model: number, way: number, correct: boolean): Records.Recorded => ({
  question,
  model: models[model]!.id,
  way: ways[way]!,
  sample: 0,
  answer: correct ? "1" : "2",
  extracted: correct ? "1" : "2",
  correct,
  inputTokens: 10,
  outputTokens: 10,
  millis: 1
})

/** Replays the policies that learn nothing, and the named choosers: the training of all of them takes a while. */
const linesOf = async (records: ReadonlyArray<Records.Recorded>, ...names: ReadonlyArray<string>) => {
  const choosers = await Choosers.all(Questions.read(), Replay.answersOf(records))
  return Replay.linesWith(
    records,
    choosers.filter(({ name }) => names.includes(name)),
    new Map()
  )
}

describe("the replay", () => {
  it("has committed records of known questions, each once", () => {
    const records = Records.read()
    const ids = new Set(Questions.read().map(({ id }) => id))
    expect(records.filter(({ question }) => !ids.has(question))).toEqual([])
    expect(new Set(records.map(Records.keyOf)).size).toBe(records.length)
  })

  it("leaves out questions without the records that a policy needs", () => {
    const ids = Array.from({ length: 10 }, (_, index) => `gsm8k/${index}`)
    const records = ids.flatMap((id, at) => [
      record(id, 0, 0, false),
      record(id, 1, 0, at < 5),
      ...(at < 4 ? [record(id, 2, 0, true)] : [])
    ])
    const lines = Replay.linesWith(records, [], new Map()).filter(({ kind }) => kind === "gsm8k")
    const line = (policy: string) => lines.find((one) => one.policy === policy)!
    expect(line("majority of three models, direct")).toMatchObject({
      questions: 4,
      accuracy: 1,
      tokens: 30,
      atEqualTokens: { votesPaid: 3 }
    })
    expect(line(`${models[1].id}/direct`)).toMatchObject({
      questions: 10,
      accuracy: 0.5,
      atEqualTokens: { difference: 0 }
    })
    expect(line("oracle")).toMatchObject({ questions: 0, accuracy: null, atEqualTokens: null })
  })

  /** Records for 50 questions of a kind, where the question determines which of two workers is correct. */
  const recordsOf = (kind: string) =>
    Array.from({ length: 50 }, (_, at) => `${kind}/${at}`).flatMap((id, at) =>
      models.flatMap((_, model) => ways.map((_, way) => record(id, model, way, model === at % 2 && way === 2)))
    )

  it("judges a router only on questions that it has not learned from", { timeout: 600_000 }, async () => {
    const [head, conductor] = ["router: head", "reading Conductor's last worker, records"] as const
    const lines = await linesOf([...recordsOf("gsm8k"), ...recordsOf("mmlu")], head, conductor)
    const of = (policy: string, kind: string) => lines.find((one) => one.policy === policy && one.kind === kind)!
    // The right worker alternates: a router that had learned from a question would find it.
    for (const kind of ["gsm8k", "mmlu"]) {
      expect(of(head, kind)).toMatchObject({ questions: 50 })
      expect(of(head, kind).accuracy).toBeLessThan(0.8)
      expect(of("oracle", kind).accuracy).toBe(1)
      expect(of(conductor, kind).questions).toBe(50)
    }
  })

  it("trains a router by GRPO that asks the worker that is right for a kind of question", {
    timeout: 600_000
  }, async () => {
    const rightOf = (kind: string, way: number) =>
      Array.from({ length: 15 }, (_, at) => `${kind}/${at}`).flatMap((id) =>
        models.flatMap((_, model) => ways.map((_, at) => record(id, model, at, model === 1 && at === way)))
      )
    const trained = "router: GRPO over recorded outcomes"
    const lines = await linesOf([...rightOf("programs", 0), ...rightOf("arithmetic", 2)], trained)
    const accuracies = lines.flatMap(({ accuracy, policy }) =>
      policy === trained && accuracy !== null ? [accuracy] : []
    )
    expect(accuracies).toEqual([1, 1])
  })

  it("compares with the votes that the tokens pay for, also if they are not whole", () => {
    const kinds = ["gsm8k", "math500", "programs", "arithmetic"]
    const seen = kinds.flatMap((kind) =>
      recordsOf(kind).map((one) => {
        const isBest = one.model === models[2].id && one.way === "steps"
        return { ...one, correct: isBest, outputTokens: isBest ? 20 : 10 }
      })
    )
    const draws = seen
      .filter(({ model, way }) => model === models[2].id && way === "steps")
      .flatMap((one, at) =>
        [1, 2, 3, 4, 5].map((sample) => ({
          ...one,
          sample,
          correct: sample !== at % 5,
          extracted: `${sample !== at % 5}`
        }))
      )
    const lines = Replay.linesWith([...seen, ...draws], [], new Map())
    const line = lines.find(({ kind, policy }) => kind === "gsm8k" && policy === "majority of three ways, 1.5B")!
    // 40 tokens of three ways pay for two answers of 20 tokens.
    expect(line).toMatchObject({ best: `${models[2].id}/steps`, atEqualTokens: { votesPaid: 2, votes: 2 } })
    // The prompts of three calls cost three times as much as that of one: 60 + 10 tokens compared with 30.
    expect(line.atEqualMoney!.votesPaid).toBeCloseTo(70 / 30)
    expect(line.atEqualTokens).toMatchObject({ opponent: "greedy" })
    const sampled = lines.find(
      ({ kind, policy }) => kind === "gsm8k" && policy === `self-consistency of 3, ${models[2].id}/steps`
    )!
    expect(sampled).toMatchObject({ questions: 50, accuracy: 1 })
  })

  it("reads the decisions of a prompted Conductor", () => {
    expect(Combined.decisionOf('{"worker": 4}')).toEqual({ chosen: Policies.workers[4], answer: "" })
    expect(Combined.decisionOf('{"worker": 9, "answer": "42"}')).toEqual({ answer: "42" })
    expect(Combined.decisionOf('{"worker": 9, "ans')).toEqual({ answer: "" })
  })

  it("moves the options of a question, and finds the original letter", () => {
    const [question] = Questions.read().filter(Options.isLettered)
    const optionOf = ({ text }: Questions.Question, letter: string) =>
      text
        .split("\n")
        .find((line) => line.startsWith(`${letter}) `))!
        .slice(3)
    for (const shift of [1, 2, 3]) {
      const moved = Options.shifted(question!, shift)
      expect(moved.reference).not.toBe(question!.reference)
      expect(optionOf(moved, moved.reference)).toBe(optionOf(question!, question!.reference))
      expect(Options.original(moved.reference, shift)).toBe(question!.reference)
    }
    expect(Options.shifted(question!, 4)).toEqual(question)
  })

  it("plans each call once, and the kinds in turns", () => {
    const calls = Plan.all().flat()
    expect(new Set(calls.map(Plan.keyOf)).size).toBe(calls.length)
    const greedy = calls.filter(({ sample, way }) => sample === 0 && ways.some((one) => one === way))
    expect(greedy).toHaveLength(Questions.read().length * Policies.workers.length)
    // Until the first calls to unseen questions beyond the first 40, both kinds have equally many questions.
    const unseen = [...new Set(calls.map(({ question }) => question).filter(({ kind }) => !Questions.isSeen(kind)))]
    expect(unseen.slice(0, 80).map(({ kind }) => kind)).toEqual(
      Array.from({ length: 80 }, (_, at) => Questions.unseen[at % 2])
    )
  })

  it("asks for passages only if one is more similar than any to a seen question", () => {
    const about = Questions.read().filter(Passages.isAbout)
    expect(about.filter(({ kind }) => Questions.isSeen(kind))).toEqual([])
    const of = (kind: string) => about.filter((one) => one.kind === kind).length
    expect(of("docs")).toBeGreaterThan(of("mmlu"))
  })

  it("lets the policy by rule read, ask in four orders, or run a program", () => {
    const questions = Questions.read()
    const run = (question: Questions.Question, way: Records.Recorded["way"], answer: string) =>
      ({ ...record(question.id, 2, 0, answer === question.reference), way, extracted: answer }) as Records.Recorded
    const answersOf = (records: ReadonlyArray<Records.Recorded>) =>
      new Map(records.map((one) => [Policies.nameOf(one), one]))
    const docs = questions.find((one) => one.kind === "docs" && Passages.isAbout(one))!
    expect(Policies.primary.run(answersOf([run(docs, "read", docs.reference)]), docs)).toMatchObject({ correct: true })
    const mmlu = questions.find((one) => one.kind === "mmlu" && !Passages.isAbout(one))!
    const wrong = mmlu.reference === "A" ? "B" : "A"
    const orders = (["direct", "order-2", "order-3", "order-4"] as const).map((way, at) =>
      run(mmlu, way, at === 0 ? wrong : mmlu.reference)
    )
    expect(Policies.primary.run(answersOf(orders), mmlu)).toMatchObject({ correct: true, tokens: 40 })
    const [number] = questions
    const program = run(number!, "program", number!.reference)
    expect(Policies.primary.run(answersOf([program]), number!)).toMatchObject({ correct: true, tokens: 10 })
  })

  it("drops a record that a kill cut off", () => {
    const line = JSON.stringify(record("gsm8k/0", 0, 0, true))
    expect(Records.readLines(`${line}\n${line.slice(0, 20)}`)).toHaveLength(1)
  })
})
