import type { Message } from "@divisi/core/Message"
import { WorkerStream } from "@divisi/core/streams"
import * as Task from "@divisi/core/Task"
import type { Worker, WorkerPart, WorkerRequest } from "@divisi/core/Worker"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { type FamilyName, names } from "../src/Family.ts"
import * as Gym from "../src/Gym.ts"
import * as GymGrader from "../src/GymGrader.ts"
import * as GymPool from "../src/GymPool.ts"
import * as GymWorker from "../src/GymWorker.ts"

type Turn = readonly [subtask: string, answer: string]

const messagesOf = (question: string, subtask = "", turns: ReadonlyArray<Turn> = []): ReadonlyArray<Message> => [
  ...turns.flatMap(
    ([asked, said]): ReadonlyArray<Message> => [
      { role: "user", content: asked },
      { role: "assistant", content: said }
    ]
  ),
  { role: "user", content: subtask === "" ? question : `Question:\n${question}\n\nSubtask:\n${subtask}` }
]

const pool = GymPool.make({ latencyMillis: 0 })
const worker = (id: string): Worker => pool.workers.find((worker) => worker.id === id)!

const partsOf = (worker: Worker, request: WorkerRequest) => Stream.runCollect(WorkerStream.generate(worker, request))

const textOf = (parts: ReadonlyArray<WorkerPart>) =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("")

const ask = (id: string, question: string, subtask = "", turns: ReadonlyArray<Turn> = [], seed = 0) =>
  Effect.map(
    Effect.retry(partsOf(worker(id), { messages: messagesOf(question, subtask, turns), seed }), { times: 1 }),
    textOf
  )

/** The share of test questions of a family that a worker answers right. */
const accuracy = Effect.fnUntraced(function* (id: string, family: FamilyName, difficulty?: 1 | 2 | 3) {
  const tasks = Gym.tasks({
    split: "test",
    count: 150,
    families: [family],
    difficulty: difficulty ? difficulty : undefined
  })
  const verdicts = yield* Effect.forEach(tasks, (task) =>
    Effect.map(ask(id, Task.question(task)), (answer) => GymGrader.isCorrect(answer, task.reference!))
  )
  return verdicts.filter((correct) => correct).length / verdicts.length
})

const journey =
  "First, how many days are there from 3 March 2027 to 19 June 2027? " +
  "Then, convert that many hours to minutes. Finally, multiply that number by 3 and add 7. What is the total?"

const specialists: ReadonlyArray<readonly [string, FamilyName]> = [
  ["abacus", "arithmetic"],
  ["converter", "units"],
  ["almanac", "calendar"],
  ["typesetter", "text"],
  ["statistician", "statistics"],
  ["interpreter", "program"],
  ["courier", "units"],
  ["courier", "text"]
]

describe("GymWorker", () => {
  for (const [id, family] of specialists) {
    it.effect(`${id} is exact in ${family}`, () =>
      Effect.gen(function* () {
        const tasks = Gym.tasks({ split: "train", count: 300, families: [family] })
        for (const task of tasks) {
          const answer = yield* ask(id, Task.question(task))
          assert.isTrue(GymGrader.isCorrect(answer, task.reference!), `${Task.question(task)} ${answer}`)
        }
      })
    )
  }

  it.effect("a specialist declines a question that is not its own, and never guesses", () =>
    Effect.gen(function* () {
      for (const [id] of specialists) {
        const { skills } = GymPool.profiles.find((profile) => profile.id === id)!
        for (const family of names.filter((name) => skills[name] === undefined)) {
          for (const task of Gym.tasks({ split: "train", count: 10, families: [family] })) {
            const answer = yield* ask(id, Task.question(task))
            assert.match(answer, /^I cannot do this: this is \w+, and I only do /)
          }
        }
      }
    })
  )

  it.effect("the limits of generalists show in their own families, and more in hard questions", () =>
    Effect.gen(function* () {
      assert.isBelow(yield* accuracy("professor", "calendar"), 0.7)
      assert.isAbove(yield* accuracy("professor", "statistics"), 0.85)
      assert.isBelow(yield* accuracy("editor", "algebra"), 0.75)
      assert.isAbove(yield* accuracy("editor", "calendar"), 0.85)
      assert.isBelow(yield* accuracy("engineer", "calendar"), 0.4)
      assert.isAbove(yield* accuracy("engineer", "units"), 0.85)
      assert.isAbove(
        yield* accuracy("professor", "arithmetic", 1),
        (yield* accuracy("professor", "arithmetic", 3)) + 0.2
      )
      assert.isAbove(yield* accuracy("professor", "program", 1), (yield* accuracy("professor", "program", 3)) + 0.05)
    })
  )

  const limits: ReadonlyArray<readonly [string, GymWorker.Skill["habits"], FamilyName, string, string]> = [
    [
      "ignores leap years",
      { ignoresLeapYears: true },
      "calendar",
      "How many days are there from 1 February 2024 to 1 March 2024?",
      "28"
    ],
    [
      "believes in months of 30 days",
      { thirtyDayMonths: true },
      "calendar",
      "How many days are there from 1 January 2023 to 1 March 2023?",
      "60"
    ],
    [
      "rounds too early",
      { roundsFactors: true },
      "units",
      "Convert 100 miles to kilometres. Round to two decimal places.",
      "160"
    ],
    ["loses digits", { significantDigits: 4 }, "arithmetic", "What is 123,456 × 10 + 1?", "1234000"],
    ["works from left to right", { leftToRight: true }, "arithmetic", "What is 2 + 3 × 4?", "20"],
    ["drops signs", { dropsSigns: true }, "algebra", "Solve 2x − 4 = 10 for x.", "3"],
    ["overlooks squares", { linearOnly: true }, "algebra", "What is the larger root of x² − 5x + 10 = 0?", "2"],
    [
      "overlooks capitals",
      { overlooksCapitals: true },
      "text",
      'How many letters are there in "Ana Ben", not counting spaces?',
      "4"
    ],
    [
      "takes or for either",
      { exclusiveOr: true },
      "logic",
      'Suppose P is true and Q is true. Is "P or Q" true or false?',
      "false"
    ],
    ["forgets to sort", { forgetsToSort: true }, "statistics", "Find the median of these numbers: 9, 1, 5.", "1"],
    [
      "stops loops early",
      { stopsLoopsEarly: true },
      "program",
      "What does this print?\n```js\nlet s = 0\nfor (let i = 1; i <= 3; i++) s += i\nconsole.log(s)\n```",
      "3"
    ]
  ]
  for (const [name, habits, family, question, answer] of limits) {
    it.effect(`a worker that ${name} is wrong in that way`, () =>
      Effect.gen(function* () {
        const one = GymWorker.make({
          id: "one",
          description: name,
          pricing: { inputPerMillion: 0, outputPerMillion: 0 },
          skills: { [family]: { habits } }
        })
        assert.strictEqual(textOf(yield* partsOf(one, { messages: messagesOf(question) })), answer)
      })
    )
  }

  const subtasks: ReadonlyArray<readonly [string, string, ReadonlyArray<Turn>, string]> = [
    ["almanac", "Do the calendar part.", [], "108"],
    ["almanac", "Solve part 1.", [], "108"],
    ["almanac", "Only the first part, please.", [], "108"],
    [
      "almanac",
      "Answer only this part of the question: How many days are there from 3 March 2027 to 19 June 2027?",
      [],
      "108"
    ],
    ["almanac", "How many days are there from 1 May 2027 to 3 May 2027?", [], "2"],
    ["converter", "Do the unit conversion, with the number of days above.", [["Do the calendar part.", "108"]], "6480"],
    ["converter", "Convert the result to minutes.", [["Do the calendar part.", "10"]], "600"],
    ["converter", "Use the answer to part 1 to do part 2.", [["Solve part 1.", "Answer: 10 days"]], "600"],
    ["converter", "Convert 2 hours to seconds.", [], "7200"],
    [
      "abacus",
      "Do the last part.",
      [
        ["Solve part 1.", "108"],
        ["Now do part 2.", "100"]
      ],
      "307"
    ],
    [
      "professor",
      "Combine the answers above into the final answer.",
      [
        ["Part 1.", "108"],
        ["Part 2.", "6480"],
        ["Part 3.", "19447"]
      ],
      "19447"
    ]
  ]
  for (const [id, subtask, turns, answer] of subtasks) {
    it.effect(`${id} obeys: ${subtask}`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* ask(id, journey, subtask, turns), answer)
      })
    )
  }

  it.effect("a specialist reports that it lacks an answer that its part needs", () =>
    Effect.gen(function* () {
      assert.match(yield* ask("converter", journey, "Do part 2."), /^I cannot do this: it needs the answer to part 1/)
      const failed: Turn = ["Do part 1.", "I cannot do this: I am tired."]
      assert.match(yield* ask("converter", journey, "Do part 2.", [failed]), /^I cannot do this: it needs the answer/)
    })
  )

  it.effect("a worker that reads only so many parts stops there, unless it is given another", () =>
    Effect.gen(function* () {
      const question = "What is 6 × 7? Call the answer M. Convert M hours to minutes."
      const reader = (partsRead?: number) =>
        GymWorker.make({
          id: "reader",
          description: "Reads.",
          pricing: { inputPerMillion: 0, outputPerMillion: 0 },
          skills: { arithmetic: {}, units: {} },
          partsRead
        })
      const say = (worker: Worker, subtask?: string, turns?: ReadonlyArray<Turn>) =>
        Effect.map(partsOf(worker, { messages: messagesOf(question, subtask, turns) }), textOf)
      assert.strictEqual(yield* say(reader(1)), "42")
      assert.strictEqual(yield* say(reader()), "2520")
      assert.strictEqual(yield* say(reader(1), "Do part 2.", [["Do part 1.", "42"]]), "2520")
    })
  )

  it.effect("a worker that rounds what it carries loses digits between parts, not within one it is shown", () =>
    Effect.gen(function* () {
      const question = "What is 111 × 111? Call the answer M. Add 1 to M and multiply the sum by 2. What do you get?"
      const rough = GymWorker.make({
        id: "rough",
        description: "Rounds.",
        pricing: { inputPerMillion: 0, outputPerMillion: 0 },
        skills: { arithmetic: {} },
        carriedDigits: 2
      })
      const say = (turns: ReadonlyArray<Turn>, subtask = "") =>
        Effect.map(partsOf(rough, { messages: messagesOf(question, subtask, turns) }), textOf)
      assert.strictEqual(yield* say([]), "24002")
      assert.strictEqual(yield* say([["Do part 1.", "12321"]], "Do part 2."), "24644")
    })
  )

  it.effect(
    "an error-prone worker misreads a part that its own wrong answer does not fit, an exact one declines it",
    () =>
      Effect.gen(function* () {
        const question = "What is 7 ÷ 2? What date is that many days after 1 May 2027? Give the date as YYYY-MM-DD."
        const reader = (slips: number) =>
          GymWorker.make({
            id: "reader",
            description: "Reads.",
            pricing: { inputPerMillion: 0, outputPerMillion: 0 },
            skills: { arithmetic: {}, calendar: {}, text: { slips } }
          })
        const say = (worker: Worker) => Effect.map(partsOf(worker, { messages: messagesOf(question) }), textOf)
        assert.strictEqual(yield* say(reader(0.5)), "2027-05-06")
        assert.match(yield* say(reader(0)), /^I cannot do this/)
      })
  )

  it.effect("a plan lists the parts of the question", () =>
    Effect.gen(function* () {
      const plan = yield* ask("professor", journey, "Make a plan: break the question down into steps.")
      assert.deepStrictEqual(
        plan.split("\n").map((line) => /\((\w+)\)/.exec(line)?.[1]),
        ["calendar", "units", "arithmetic"]
      )
    })
  )

  const judge = "Above are independent answers to the question. Check each of them and give the right final answer."

  it.effect("a judge goes with most of the answers, its own among them, and does not count refusals", () =>
    Effect.gen(function* () {
      const question = "What day of the week is 20 July 2025?"
      const turns = (...answers: ReadonlyArray<string>) => answers.map((answer): Turn => [question, answer])
      // It ignores leap years, so its own answer is wrong; two others outvote it.
      assert.notStrictEqual(yield* ask("professor", question), "Sunday")
      assert.strictEqual(yield* ask("professor", question, judge, turns("Sunday", "Sunday", "Friday")), "Sunday")
      const refusals = turns("I cannot do this: a.", "I cannot do this: a.", "I cannot do this: a.", "Sunday", "Sunday")
      assert.strictEqual(yield* ask("professor", question, judge, refusals), "Sunday")
    })
  )

  it.effect("the proofreader lets right answers through, and answers nothing itself", () =>
    Effect.gen(function* () {
      const question = "What is the larger root of x² − 9x + 20 = 0?"
      const check = (answers: ReadonlyArray<string>) =>
        ask(
          "proofreader",
          question,
          "Check the answers above.",
          answers.map((answer): Turn => [question, answer])
        )
      assert.strictEqual(yield* check(["4", "5", "6"]), "5")
      assert.match(yield* check(["4", "6"]), /^I cannot do this: none of the answers above is right/)
      assert.match(yield* check([]), /^I cannot do this: I only check/)
    })
  )

  it.effect("the same seed and messages give the same answer; another seed, or other words, may slip elsewhere", () =>
    Effect.gen(function* () {
      const tasks = Gym.tasks({ split: "train", count: 200, families: ["algebra"] })
      const answers = (seed: number, subtask = "") =>
        Effect.forEach(tasks, (task) => ask("gambler", Task.question(task), subtask, [], seed))
      const [first, again, other, reworded] = yield* Effect.all([
        answers(1),
        answers(1),
        answers(2),
        answers(1, "Think.")
      ])
      assert.deepStrictEqual(again, first)
      const wrong = (given: ReadonlyArray<string>) => tasks.map((task, index) => task.reference !== given[index])
      const share = (flags: ReadonlyArray<boolean>) => flags.filter((flag) => flag).length / flags.length
      assert.isTrue(share(wrong(first)) > 0.15 && share(wrong(first)) < 0.36)
      for (const elsewhere of [other, reworded]) {
        const both = wrong(first).map((flag, index) => flag && wrong(elsewhere)[index]!)
        assert.isBelow(share(both), 0.12)
      }
    })
  )

  it.effect("the courier fails one call in four as overloaded, and the same call tried again goes through", () =>
    Effect.gen(function* () {
      const courier = worker("courier")
      let failures = 0
      for (const task of Gym.tasks({ split: "train", count: 200, families: ["units"] })) {
        const request = { messages: messagesOf(Task.question(task)), seed: 5 }
        const first = yield* Effect.result(partsOf(courier, request))
        if (first._tag === "Success") continue
        failures += 1
        assert.strictEqual(first.failure.reason._tag, "Overloaded")
        assert.isTrue(GymGrader.isCorrect(textOf(yield* partsOf(courier, request)), task.reference!))
      }
      assert.isTrue(failures > 25 && failures < 75, `${failures}`)
    })
  )

  it.effect(
    "one that is out of reach for a question stays so, while others are not and it is there for other questions",
    () =>
      Effect.gen(function* () {
        const workersOut = GymPool.make({ latencyMillis: 0, outages: 0.25 }).workers.filter(({ id }) =>
          ["professor", "editor"].includes(id)
        )
        const isOut = (worker: Worker, question: string, seed: number) =>
          Effect.map(
            Effect.result(partsOf(worker, { messages: messagesOf(question), seed })),
            ({ _tag }) => _tag === "Failure"
          )
        const counts = new Map<string, number>()
        for (const task of Gym.tasks({ split: "train", count: 200, families: ["units"] })) {
          const question = Task.question(task)
          const out = yield* Effect.forEach(workersOut, (worker) => isOut(worker, question, 1))
          const asSubtask = `Question:\n${question}\n\nSubtask:\nConvert it.`
          assert.deepStrictEqual(yield* Effect.forEach(workersOut, (worker) => isOut(worker, asSubtask, 2)), out)
          counts.set(`${out}`, (counts.get(`${out}`) ?? 0) + 1)
        }
        // 1/16, 3/16, 3/16 and 9/16 of the questions.
        for (const [out, least, most] of [
          ["true,true", 4, 24],
          ["true,false", 22, 55],
          ["false,true", 22, 55],
          ["false,false", 90, 135]
        ] as const) {
          assert.isTrue(counts.get(out)! >= least && counts.get(out)! <= most, `${out}: ${counts.get(out)}`)
        }
      })
  )

  it.effect("whatever it is asked, it answers or declines; what is longer than its context it refuses", () =>
    Effect.gen(function* () {
      const odd = [
        "",
        " ",
        "Question:\n\n\nSubtask:\n",
        "What is 1 / 0?",
        "Solve x = for x.",
        "```js\n",
        '"',
        "Then, that number."
      ]
      for (const question of odd) {
        for (const { id } of pool.workers) assert.isString(yield* ask(id, question))
      }
      const long = { messages: messagesOf("a".repeat(40_000)) }
      const error = yield* Effect.flip(partsOf(worker("professor"), long))
      assert.strictEqual(error.reason._tag, "ContextTooLong")
    })
  )

  it.effect("ends with one finish that counts its tokens, and keeps to the most it may write", () =>
    Effect.gen(function* () {
      const messages = messagesOf("What is 123456789 × 987654321?")
      const abacus = worker("abacus")
      const parts = yield* partsOf(abacus, { messages })
      const finish = parts.filter((part) => part.type === "finish")
      assert.deepStrictEqual(finish, [
        {
          type: "finish",
          reason: "stop",
          usage: { inputTokens: abacus.countInputTokens!({ messages })!, outputTokens: 5 }
        }
      ])
      assert.strictEqual(parts.at(-1), finish[0])
      assert.strictEqual(textOf(parts), "121932631112635269")
      const short = yield* partsOf(abacus, { messages, maxOutputTokens: 2 })
      assert.strictEqual(textOf(short), "12193263")
      assert.deepInclude(short.at(-1), { reason: "length" })
    })
  )

  it.effect("thinks aloud only where it is thorough and may, and never beyond the limit", () =>
    Effect.gen(function* () {
      const messages = messagesOf("What is 6 × 7?")
      const reasoning = (parts: ReadonlyArray<WorkerPart>) => parts.filter((part) => part.type === "reasoning").length
      assert.isAbove(reasoning(yield* partsOf(worker("professor"), { messages })), 0)
      assert.strictEqual(reasoning(yield* partsOf(worker("professor"), { messages, reasoning: { type: "off" } })), 0)
      assert.strictEqual(reasoning(yield* partsOf(worker("abacus"), { messages })), 0)
      const cut = yield* partsOf(worker("professor"), { messages, maxOutputTokens: 4 })
      const last = cut.at(-1)!
      assert.isAtMost(last.type === "finish" ? last.usage.outputTokens : 99, 4)
    })
  )

  it.effect("takes as long as configured", () =>
    Effect.gen(function* () {
      const slow = GymPool.make({ latencyMillis: 100 }).workers[0]!
      const fiber = yield* Effect.forkChild(partsOf(slow, { messages: messagesOf("What is 6 × 7?") }))
      // The solvers are loaded by real input and output, which the test clock knows nothing of.
      yield* Effect.promise(() => import("../src/internal/solve.ts"))
      for (let turn = 0; turn < 20; turn++) yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      yield* TestClock.adjust(249)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.strictEqual(textOf(yield* Fiber.join(fiber)), "42")
    })
  )
})
