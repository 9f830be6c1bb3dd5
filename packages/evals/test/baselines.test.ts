import { Budget, Baselines as CoreBaselines, Embedder, Grader, type ResponseCache } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import type { Message } from "@divisi/core/Message"
import type * as Policy from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Task from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Baselines from "../src/baselines/Baselines.ts"
import * as RouterDc from "../src/baselines/routerDc.ts"
import * as Smoothie from "../src/baselines/smoothie.ts"
import { clusters, draw } from "../src/baselines/vectors.ts"
import * as Recording from "../src/evaluation/Recording.ts"

/** A world with two kinds of questions: the painter knows colours, the clerk sums, the parrot nothing. */
const colours = ["sky", "grass", "blood", "snow", "coal", "lemon", "sea", "rose", "ink", "leaf"]
const colourTasks = colours.map((thing) =>
  Task.make({
    id: `colour-${thing}`,
    question: `Which colour has the ${thing} in a painting?`,
    reference: `hue ${thing}`
  })
)
const sumTasks = colours.map((_, index) =>
  Task.make({ id: `sum-${index}`, question: `How much is ${index} plus ${index}?`, reference: String(2 * index) })
)
const tasks = [...colourTasks, ...sumTasks]

const colourOf = (text: string) => /has the (\w+)/.exec(text)?.[1]
const sumOf = (text: string) => /much is (\d+)/.exec(text)?.[1]
const questionIn = (messages: ReadonlyArray<Message>) => messages.map(({ content }) => content).join("\n")

const expert = (id: string, answers: (question: string) => string | undefined, price: number) =>
  ScriptedWorker.make({
    id,
    pricing: { inputPerMillion: price, outputPerMillion: price },
    replies: ({ messages }) => answers(questionIn(messages)) ?? "no idea"
  })
const painter = () =>
  expert("painter", (text) => (colourOf(text) === undefined ? undefined : `hue ${colourOf(text)}`), 10)
const clerk = () =>
  expert("clerk", (text) => (sumOf(text) === undefined ? undefined : String(2 * Number(sumOf(text)))), 5)
const parrot = () => expert("parrot", () => "polly wants a cracker", 1)
const world = () => WorkerPool.makeUnsafe([parrot(), painter(), clerk()])

const fit = (list: string, pool = world(), training = tasks) =>
  Baselines.make(Result.getOrThrow(Baselines.read(list)), {
    pool,
    record: Recording.make({ tasks: training, grader: Grader.exact, pool, seed: 1 })
  })

const chosen = (policy: Policy.Policy, question: string, pool = world()) =>
  Effect.gen(function* () {
    const asked: Array<string> = []
    const result = yield* Conductor.make({ policy, pool, seed: 3 }).run(question, {
      listener: (event) => event.type === "step-started" && asked.push(event.worker)
    })
    return { asked, answer: result.answer, error: result.error }
  })

describe("Baselines", () => {
  it("reads lists, and says what is wrong with an entry", () => {
    assert.deepStrictEqual(
      Result.getOrThrow(Baselines.read("moa, single ,moa")).map(({ name }) => name),
      ["moa", "single"]
    )
    const message = (list: string) => Result.getFailure(Baselines.read(list)).pipe((option) => String(option))
    for (const list of ["gpt", "random:3", "self-consistency:0", "random@a", "moa:x"])
      assert.include(message(list), list)
    const worker = Result.getOrThrow(Baselines.read("context:5@openai:gpt-5"))[0]
    assert.strictEqual(worker?.worker, "openai:gpt-5")
  })

  it.effect("makes every entry of the table, each with a name of its own", () =>
    Effect.gen(function* () {
      const list = Baselines.table.map(({ name }) => name).join(",")
      const baselines = yield* fit(list)
      const names = baselines.map(({ policy }) => policy.name)
      assert.strictEqual(new Set(names).size, names.length)
      assert.includeMembers(names, ["single:parrot", "single:clerk", "routerdc-light", "smoothie-dependent", "moa"])
      for (const { policy } of baselines) {
        const { answer } = yield* chosen(policy, "How much is 4 plus 4?")
        assert.isDefined(answer, policy.name)
      }
    })
  )

  it.effect("refuses to learn from nothing, and workers that are not there", () =>
    Effect.gen(function* () {
      const pool = world()
      const named = Result.getOrThrow(Baselines.read("single,routerdc-light"))
      const error = yield* Effect.flip(Baselines.make(named, { pool }))
      assert.include(error.message, "routerdc-light")
      const unknown = yield* Effect.flip(Baselines.make(Result.getOrThrow(Baselines.read("moa@nobody")), { pool }))
      assert.include(unknown.message, "parrot, painter, clerk")
    })
  )

  it.effect("takes the best recorded worker where none is named", () =>
    Effect.gen(function* () {
      const training = [...colourTasks.slice(0, 2), ...sumTasks]
      const [reflection, best, context] = yield* fit("self-reflection:1,best,context:5", world(), training)
      assert.deepStrictEqual((yield* chosen(reflection!.policy, "How much is 2 plus 2?")).asked, ["clerk", "clerk"])
      assert.deepStrictEqual((yield* chosen(best!.policy, "x")).asked, ["clerk"])
      assert.strictEqual(context!.outputTokensFactor, 5)
    })
  )

  it.effect("records single workers once for all baselines that learn", () =>
    Effect.gen(function* () {
      const pool = world()
      const recorded: Array<string> = []
      const record = Recording.make({ tasks: tasks.slice(0, 4), grader: Grader.exact, pool })
      yield* Baselines.make(Result.getOrThrow(Baselines.read("routerdc-light,smoothie-independent,best")), {
        pool,
        record: (policies) => {
          recorded.push(...policies.map(({ name }) => name))
          return record(policies)
        }
      })
      assert.deepStrictEqual(recorded, ["single:parrot", "single:painter", "single:clerk"])
    })
  )

  it.effect("learns the same from stored answers: they cost what they did, and are not paid again", () =>
    Effect.gen(function* () {
      const kept = new Map<string, ResponseCache.Answer>()
      const store: ResponseCache.Store = {
        get: (key) => Effect.sync(() => kept.get(key)),
        set: (key, answer) => Effect.sync(() => void kept.set(key, answer))
      }
      const shared = { grader: Grader.exact, pool: world(), seed: 1, store }
      const policies = world().workers.map(({ id }) => CoreBaselines.single(id))
      const record = (ledger: Budget.Ledger, options: Partial<Recording.Options> = {}) =>
        Effect.map(Recording.make({ ...shared, tasks: tasks.slice(0, 4), ledger, ...options })(policies), (samples) =>
          samples.map(({ durationMillis: _, ...sample }) => sample)
        )
      const [first, again] = [Budget.make({}), Budget.make({})]
      const learned = yield* record(first)
      assert.isTrue(learned.every(({ costUsd, score }) => costUsd > 0 && score !== undefined))
      assert.isAbove(first.spent().costUsd, 0)
      assert.deepStrictEqual(yield* record(again, { isOffline: true }), learned)
      assert.strictEqual(again.spent().costUsd, 0)
      const others = yield* record(again, { isOffline: true, tasks: tasks.slice(4, 6) })
      assert.isTrue(others.every(({ score }) => score === undefined))
    })
  )
})

describe("RouterDC-light", () => {
  it.effect("sends unseen questions to the worker for their kind, the same for the same seed", () =>
    Effect.gen(function* () {
      const route = Effect.fnUntraced(function* () {
        const [router] = yield* fit("routerdc-light")
        const colour = yield* chosen(router!.policy, "Which colour has the brick in a painting?")
        const sum = yield* chosen(router!.policy, "How much is 77 plus 77?")
        return [...colour.asked, ...sum.asked]
      })
      assert.deepStrictEqual(yield* route(), ["painter", "clerk"])
      assert.deepStrictEqual(yield* route(), ["painter", "clerk"])
    })
  )

  it.effect("works with a part of the pool, and reports if it knows none of it", () =>
    Effect.gen(function* () {
      const [router] = yield* fit("routerdc-light")
      const part = Result.getOrThrow(WorkerPool.without(world(), ["painter"]))
      const { asked } = yield* chosen(router!.policy, "How much is 6 plus 6?", part)
      assert.deepStrictEqual(asked, ["clerk"])
      const strangers = WorkerPool.makeUnsafe([ScriptedWorker.echo("stranger")])
      const { error } = yield* chosen(router!.policy, "How much is 6 plus 6?", strangers)
      assert.include(String(error), "no recorded samples from any worker in this pool")
    })
  )

  it("has the gradient of its loss", () => {
    const random = draw(5)
    const vector = (size: number) => Float64Array.from({ length: size }, () => random.normal())
    const settings = { ...RouterDc.defaults, dimensions: 3, others: 1, top: 1, last: 2, temperature: 0.7 }
    const examples = [0, 0, 1, 1].map((cluster, index) => ({
      place: vector(4),
      scores: [index % 2, 0.25, 1 - (index % 2)],
      cluster
    }))
    const parameters = { map: [vector(4), vector(4), vector(4)], workers: [vector(3), vector(3), vector(3)] }
    const value = () => RouterDc.loss(parameters, examples, settings, draw(9)).value
    const { gradient } = RouterDc.loss(parameters, examples, settings, draw(9))
    for (const part of ["map", "workers"] as const) {
      for (const [at, row] of parameters[part].entries()) {
        for (let index = 0; index < row.length; index++) {
          const [before, width] = [row[index]!, 1e-5]
          row[index] = before + width
          const above = value()
          row[index] = before - width
          const slope = (above - value()) / (2 * width)
          row[index] = before
          assert.closeTo(gradient[part][at]![index]!, slope, 1e-6)
        }
      }
    }
  })

  it("never pushes away a worker that is right, nor pulls to one that is wrong", () => {
    assert.deepStrictEqual(RouterDc.sides([1, 0, Number.NaN, 1, 0], 3, 3), { positives: [0, 3], negatives: [1, 4] })
    assert.deepStrictEqual(RouterDc.sides([0, 0], 3, 3), { positives: [], negatives: [0, 1] })
  })
})

describe("Smoothie", () => {
  const noisy = (deviations: ReadonlyArray<number>, seed: number) => {
    const random = draw(seed)
    return Array.from({ length: 400 }, () => {
      const truth = Float64Array.from({ length: 8 }, () => random.normal())
      const answers = deviations.map((deviation, worker) => {
        const answer = truth.map((value) => value + deviation * random.normal())
        return [String(worker), answer] as const
      })
      return { place: truth, answers: new Map(answers) }
    })
  }

  it("recovers qualities from agreement alone, in the proportions of the model", () => {
    const found = Smoothie.qualities(noisy([0.5, 1, 2], 11))
    // The inverse of the expected squared distances, 8 × deviation²: 4, 1 and 1/4, as shares.
    assert.closeTo(found.get("0")!, 4 / 5.25, 0.03)
    assert.closeTo(found.get("1")!, 1 / 5.25, 0.03)
    assert.closeTo(found.get("2")!, 0.25 / 5.25, 0.02)
  })

  it("says nothing of two workers, which agree with each other equally", () => {
    assert.strictEqual(Smoothie.qualities(noisy([1, 2], 3)).size, 0)
  })

  it.effect("needs no labels, and follows the neighbourhood when dependent", () =>
    Effect.gen(function* () {
      const twin = (id: string, of: (text: string) => string | undefined) => expert(id, of, 1)
      const colour = (text: string) => (colourOf(text) === undefined ? undefined : `hue ${colourOf(text)}`)
      const sum = (text: string) =>
        sumOf(text) === undefined ? undefined : `the sum of it is ${2 * Number(sumOf(text))}`
      let draws = 0
      const guess = () => `zzz ${"abcdefghij"[draws++ % 10]} ${draws * 7919}`
      const pool = WorkerPool.makeUnsafe([
        twin("painter", (text) => colour(text) ?? guess()),
        twin("clerk", (text) => sum(text) ?? guess()),
        twin("both", (text) => colour(text) ?? sum(text)),
        twin("noise", guess)
      ])
      const unlabelled: Grader.Grader = { name: "none", grade: () => Effect.succeed(Grader.verdict(false)) }
      const record = Recording.make({ tasks, grader: unlabelled, pool, concurrency: 1 })
      const named = Result.getOrThrow(Baselines.read("smoothie-independent,smoothie-dependent:5"))
      const [global, local] = yield* Baselines.make(named, { pool, record })
      assert.deepStrictEqual((yield* chosen(global!.policy, "How much is 5 plus 5?", pool)).asked, ["both"])
      const near = (yield* chosen(local!.policy, "How much is 12 plus 12?", pool)).asked
      assert.include(["both", "clerk"], near[0])
      const painted = (yield* chosen(local!.policy, "Which colour has the moon in a painting?", pool)).asked
      assert.include(["both", "painter"], painted[0])
    })
  )
})

describe("MASRouter-light", () => {
  it.effect("chooses the worker for the kind, and one call where more would not help", () =>
    Effect.gen(function* () {
      const [router] = yield* fit("masrouter-light")
      const { asked, answer } = yield* chosen(router!.policy, "How much is 21 plus 21?")
      assert.deepStrictEqual([asked, answer], [["clerk"], "42"])
    })
  )

  it.effect("chooses more steps where one is not enough", () =>
    Effect.gen(function* () {
      // Right only when it has seen an answer of its own: reflection is what helps.
      const pool = WorkerPool.makeUnsafe([
        ScriptedWorker.make({
          id: "hasty",
          replies: ({ messages }) =>
            messages.some(({ role }) => role === "assistant")
              ? String(2 * Number(sumOf(questionIn(messages))))
              : "too fast"
        })
      ])
      const [router] = yield* fit("masrouter-light", pool, sumTasks)
      const { asked, answer } = yield* chosen(router!.policy, "How much is 30 plus 30?", pool)
      assert.deepStrictEqual([asked.length, answer], [2, "60"])
    })
  )
})

describe("Embedder", () => {
  it.effect("puts like texts near each other", () =>
    Effect.gen(function* () {
      const [a, b, c] = yield* Embedder.hashed().embed([
        "How many days are there in May?",
        "How many days are there in June?",
        "Name a colour of the sky."
      ])
      const likeness = (left: Float32Array, right: Float32Array) =>
        left.reduce((sum, value, index) => sum + value * right[index]!, 0)
      assert.isAbove(likeness(a!, b!), likeness(a!, c!) + 0.3)
      assert.closeTo(likeness(a!, a!), 1, 1e-5)
    })
  )

  it.effect("reports services that fail or give the wrong number of points", () =>
    Effect.gen(function* () {
      const down = Embedder.fromPromise("down", async () => {
        throw new Error("no route")
      })
      assert.include((yield* Effect.flip(down.embed(["x"]))).message, "no route")
      const short = Embedder.fromPromise("short", async () => [[1, 2]])
      assert.include((yield* Effect.flip(short.embed(["x", "y"]))).message, "1 vectors of 2 numbers for 2 texts")
      const batches: Array<number> = []
      const batched = Embedder.fromPromise("b", async (texts) => texts.map(() => [batches.push(texts.length)]), {
        batch: 2
      })
      assert.strictEqual((yield* batched.embed(["a", "b", "c"])).length, 3)
      assert.deepStrictEqual(batches, [2, 2, 1])
    })
  )

  it("finds clusters that are apart", () => {
    const points = [0, 0.1, 5, 5.1, 9].map((x) => Float64Array.of(x, 0))
    const [a, b, c, d, e] = clusters(points, 3)
    assert.isTrue(a === b && c === d && a !== c && a !== e && c !== e)
  })
})
