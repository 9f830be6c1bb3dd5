import { Workflow } from "@divisi/core"
import type * as Policy from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Task from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as LexicalPolicy from "../src/LexicalPolicy.ts"

const pool = (descriptions: Readonly<Record<string, string>>) =>
  WorkerPool.makeUnsafe(
    Object.entries(descriptions).map(([id, description]) =>
      ScriptedWorker.make({ id, description: description === "" ? undefined : description, replies: ["ok"] })
    )
  )

const team = pool({
  reckoner: "Exact arithmetic on numbers of any size.",
  historian: "Knows dates of history: wars, kings and treaties.",
  allround: "A generalist that handles most kinds of question.",
  almanac: "Calendar arithmetic: weekdays, leap years and the days between two dates.",
  translator: "Translation between European languages.",
  interpreter: "Runs programs in JavaScript and Python and says what they print."
})

type Options = Partial<Pick<Policy.Context, "pool" | "maxSteps" | "previous">> & LexicalPolicy.Options

/** A workflow by the rules. */
const propose = Effect.fnUntraced(function* (question: string, { pool, maxSteps, previous, ...options }: Options = {}) {
  const context: Policy.Context = {
    task: Task.make(question),
    pool: pool ?? team,
    maxSteps: maxSteps ?? 5,
    self: false,
    round: previous === undefined ? 0 : 1,
    previous,
    seed: 0,
    price: () => assert.fail(),
    complete: () => Effect.die("the lexical policy asks no model")
  }
  const { workflow } = yield* LexicalPolicy.make(options).propose(context)
  const checked = Workflow.check(workflow, { poolSize: context.pool.workers.length, maxSteps: context.maxSteps })
  assert.isTrue(Result.isSuccess(checked), Result.isFailure(checked) ? checked.failure.message : "")
  return workflow
})

const plan = (question: string, options: Options = {}) =>
  Effect.map(propose(question, options), ({ steps }) => ({
    ids: steps.map(({ worker }) => (options.pool ?? team).workers[worker]!.id),
    subtasks: steps.map((step) => step.subtask),
    access: steps.map((step) => step.access)
  }))

describe("an ordinal", () => {
  it.effect("is not a unit of time", () =>
    Effect.gen(function* () {
      const options = { pool: pool({ converter: "Converts units of time and length.", speller: "Letters and words." }) }
      assert.deepStrictEqual((yield* plan('What is the second word of "the red fox"?', options)).ids, ["speller"])
      assert.deepStrictEqual((yield* plan("How many milliseconds are in a second?", options)).ids, ["converter"])
    })
  )
})

describe("a long question", () => {
  it.effect("is one step, for the worker that its beginning asks for", () =>
    Effect.gen(function* () {
      const question = `What is 48,213 × 977?${" ".repeat(1_000_000)}Then translate it into French.`
      assert.deepStrictEqual(yield* plan(question), { ids: ["reckoner"], subtasks: [""], access: [[]] })
    })
  )
})

describe("routing", () => {
  it("reports how well each description matches, and omits those that share no word", () => {
    const found = LexicalPolicy.matches(team)("On which weekday does 3 May 2027 fall?")
    assert.strictEqual(found.indexOf(Math.max(...found)), 3)
    assert.strictEqual(found[4], 0)
  })

  const routes: ReadonlyArray<readonly [string, string]> = [
    ["What is 48,213 × 977?", "reckoner"],
    ["On which weekday did 3 May 1987 fall?", "almanac"],
    ["How many days lie between 2023-01-05 and 2024-03-01?", "almanac"],
    ["Which king signed the treaty that ended the Thirty Years War?", "historian"],
    ["Translate 'good evening' into Portuguese.", "translator"],
    ["What does this print?\n\n```js\nconsole.log([1, 2, 3].map(String))\n```", "interpreter"],
    ["Suggest a name for a cat.", "allround"],
    ["Hm?", "allround"]
  ]
  for (const [question, id] of routes) {
    it.effect(`${JSON.stringify(question)} is one step for the ${id}`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* plan(question), { ids: [id], subtasks: [""], access: [[]] })
      })
    )
  }

  it.effect("does not take what a worker is weak at for what it is good at", () =>
    Effect.gen(function* () {
      const two = pool({ a: "Essays and letters. Not good at arithmetic with numbers.", b: "Some arithmetic." })
      assert.deepStrictEqual((yield* plan("What is 17 plus 25?", { pool: two })).ids, ["b"])
    })
  )

  it.effect("picks the more general of equals, and not one that calls itself error-prone", () =>
    Effect.gen(function* () {
      const three = pool({ narrow: "Chess", hasty: "General, careless, cheap, for any question", wide: "Broad" })
      assert.deepStrictEqual((yield* plan("Name a cat.", { pool: three })).ids, ["wide"])
    })
  )

  it.effect("goes to the first worker where nothing is described", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* plan("What is 1 + 1?", { pool: pool({ x: "", y: "" }) })).ids, ["x"])
    })
  )

  it.effect("does not take quoted words for the subject", () =>
    Effect.gen(function* () {
      const two = pool({ letters: "Letters and words of a text.", dates: "Dates, weekdays and months." })
      const { ids } = yield* plan('How many letters has the phrase "Monday, 3 March, Friday, June"?', { pool: two })
      assert.deepStrictEqual(ids, ["letters"])
    })
  )
})

describe("splitting", () => {
  it.effect("keeps the words that join what stays in one part", () =>
    Effect.gen(function* () {
      const { subtasks } = yield* plan(
        "1. Translate the word for house into French.\n2. Count its letters, add 3 and multiply the sum by 7."
      )
      assert.match(subtasks[1]!, /Count its letters, add 3 and multiply the sum by 7\.$/)
    })
  )

  it("reads the question after a greeting, and before a trailing smiley", () => {
    const second = "Subtract 4 from that number. :)"
    const textsOf = (question: string) => LexicalPolicy.split(question).map(({ text }) => text)
    assert.deepStrictEqual(textsOf(`Hi team, First, solve 2k + 9 = 27 for k. ${second}`), [
      "Solve 2k + 9 = 27 for k.",
      second
    ])
    assert.deepStrictEqual(textsOf(`Ok so Count the vowels in "amber". ${second}`), [
      'Count the vowels in "amber".',
      second
    ])
    assert.lengthOf(textsOf("What is 7 × 8? Call the answer M. True or false: (not (M is even))? :)"), 2)
  })

  it.effect("finds numbered parts on one line", () =>
    Effect.gen(function* () {
      const { access, ids } = yield* plan(
        "1. Translate 12 words into French. 2. On which weekday did the year 2020 begin? 3. Multiply 12 by 12."
      )
      assert.deepStrictEqual(ids.slice(0, 3), ["translator", "almanac", "reckoner"])
      assert.deepStrictEqual(access.slice(0, 3), [[], [], []])
    })
  )

  it.effect("gives weekdays and dates to who is good with them, and not to who is less sure", () =>
    Effect.gen(function* () {
      const four = pool({
        professor: "Strong generalist: good at mathematics, logic and programs, less sure with the calendar.",
        engineer: "Technical generalist: good at units, programs and data, careless with words and dates.",
        converter: "Converter: exact conversion between units of measurement. Declines everything else.",
        chronologist: "Exact with dates, weekdays, leap years and logic puzzles."
      })
      const questions = [
        "What day of the week is it 9101 days after 2049-11-07?",
        "How many Fridays are there in February 2030?",
        "How many days are there between 3 March 2021 and 9 July 2022?"
      ]
      for (const question of questions) {
        const { ids } = yield* plan(question, { pool: four })
        assert.deepStrictEqual(ids, ["chronologist"])
      }
    })
  )

  it.effect("makes a chain of parts that build on each other", () =>
    Effect.gen(function* () {
      const { access, ids, subtasks } = yield* plan(
        "First multiply 314 by 271. Then say on which weekday the date that many days after 1 March 2020 falls. Finally, translate that weekday into German."
      )
      assert.deepStrictEqual(ids, ["reckoner", "almanac", "translator"])
      assert.deepStrictEqual(access, [[], "all", "all"])
      assert.strictEqual(subtasks[0], "Answer only this part of the question: Multiply 314 by 271.")
      assert.match(subtasks[2]!, /using the earlier answers: Translate that weekday into German\.$/)
    })
  )

  it.effect("lets independent parts run at once and joins them where they meet", () =>
    Effect.gen(function* () {
      const { access, ids } = yield* plan(
        "Let A be the number of days between 2 May 2021 and 9 July 2022. Let B be the number that `console.log(6 ** 3)` prints in JavaScript. What is A × B + 7?"
      )
      assert.deepStrictEqual(ids, ["almanac", "interpreter", "reckoner"])
      assert.deepStrictEqual(access, [[], [], "all"])
    })
  )

  it.effect("shows a numbered part only the parts it names", () =>
    Effect.gen(function* () {
      const { access, ids } = yield* plan(
        "1. How many days has the calendar of a leap year?\n2. In which year did the war of the kings end, in history?\n3. Multiply the first answer by 12 plus 9.\n4. Translate both results into French."
      )
      assert.deepStrictEqual(ids, ["almanac", "historian", "reckoner", "translator"])
      assert.deepStrictEqual(access, [[], [], [0], "all"])
    })
  )

  it.effect("has a generalist put independent answers together", () =>
    Effect.gen(function* () {
      const { access, ids, subtasks } = yield* plan("What is 12 × 12, and how do you say 'dog' in Italian?")
      assert.deepStrictEqual(ids, ["reckoner", "translator", "allround"])
      assert.deepStrictEqual(access, [[], [], "all"])
      assert.match(subtasks[2]!, /Put them together/)
    })
  )

  it.effect("keeps together what goes to the same worker anyway", () =>
    Effect.gen(function* () {
      const chain = yield* plan("Multiply 12345 by 678. Then subtract 91011 from that number. What do you get?")
      assert.deepStrictEqual(chain, { ids: ["reckoner"], subtasks: [""], access: [[]] })
      const apart = yield* plan("What is 12 × 12? What is 13 × 13?")
      assert.deepStrictEqual(apart.ids, ["reckoner"])
    })
  )

  it.effect("leaves context and the form of the answer with their question", () =>
    Effect.gen(function* () {
      const one = yield* plan(
        "A library has 120 shelves with 48 books each, and then 35 books arrive. How many books are there now? Answer with the number alone."
      )
      assert.strictEqual(one.ids.length, 1)
      assert.strictEqual((yield* plan("If it rains, then the match is off. It rains. Is it on?")).ids.length, 1)
      assert.strictEqual(
        (yield* plan("What is 7.5 times 4 (e.g. by hand)? Round the result to 1 digit.")).ids.length,
        1
      )
    })
  )

  it.effect("takes a list of statements for what is given, not for parts", () =>
    Effect.gen(function* () {
      const { ids } = yield* plan(
        "Here is what we know:\n- Anna is older than Bob.\n- Bob is older than Carl.\n1. Carl is five.\nWho is the oldest?"
      )
      assert.strictEqual(ids.length, 1)
    })
  )

  it.effect("reads past what leads into a request, and what names it", () =>
    Effect.gen(function* () {
      const { access, ids } = yield* plan(
        "Work in two steps. Step 1: Multiply 17 by 23 plus 4. Using the answer, say on which weekday the date that many days after 4 July 1999 falls."
      )
      assert.deepStrictEqual(ids, ["reckoner", "almanac"])
      assert.deepStrictEqual(access, [[], "all"])
    })
  )

  it.effect("never cuts quotations and code", () =>
    Effect.gen(function* () {
      const code = "let x = 1;\nfor (let i = 0; i < 3; i++) x *= 2;\nconsole.log(x);"
      const { ids, subtasks } = yield* plan(
        `What does this program print?\n\n${code}\n\nTranslate that number into Latin.`
      )
      assert.deepStrictEqual(ids, ["interpreter", "translator"])
      assert.include(subtasks[0], code)
      assert.strictEqual((yield* plan('Translate "Add it up. Then count it. What is left?" into Dutch.')).ids.length, 1)
    })
  )

  it.effect("keeps to the most steps, whatever they are", () =>
    Effect.gen(function* () {
      const question =
        "First multiply 3 by 4. Then find the weekday that many days after 1 May 2020. Then translate it into French. Then say which king was born on that date in history. Then multiply it by 45 plus 3."
      for (const maxSteps of [1, 2, 3, 4, 5]) {
        const { ids } = yield* plan(question, { maxSteps })
        assert.isAtMost(ids.length, maxSteps)
        assert.isAtLeast(ids.length, Math.min(maxSteps, 2))
      }
      assert.strictEqual((yield* plan(question, { split: false })).ids.length, 1)
    })
  )

  it.effect("plans for any pool", () =>
    Effect.gen(function* () {
      const question = "What is 12 × 12, and how do you say 'dog' in Italian? Then add 5 to the first answer."
      for (let size = 1; size <= 12; size++) {
        const some = pool(
          Object.fromEntries(Array.from({ length: size }, (_, i) => [`w${i}`, i % 2 ? "Sums" : "Italian"]))
        )
        assert.isAtLeast((yield* plan(question, { pool: some })).ids.length, 1)
      }
    })
  )

  it.effect("does not take a document for a question with parts", () =>
    Effect.gen(function* () {
      const { ids } = yield* plan("Add one to it. ".repeat(5000))
      assert.strictEqual(ids.length, 1)
    })
  )
})

describe("recursion", () => {
  const question = "What is 1 + 1?"

  it.effect("answers a critic with one step that sees the previous answer", () =>
    Effect.gen(function* () {
      const answer = { type: "answered" as const, text: "3" }
      const previous = { workflow: { steps: [] }, answer, failed: [], feedback: "Too much." }
      const workflow = yield* propose(question, { previous })
      assert.strictEqual(workflow.steps.length, 1)
      assert.strictEqual(workflow.steps[0]!.access, "all")
      assert.include(workflow.steps[0]!.subtask, "Too much.")
    })
  )

  it.effect("asks others than the workers that failed, where there are any", () =>
    Effect.gen(function* () {
      const answer = { type: "failed" as const, message: "overloaded" }
      const asked: Array<number> = []
      for (const _ of team.workers) {
        const workflow = { steps: asked.slice(-1).map((worker) => ({ worker, subtask: "", access: [] })) }
        const previous = { workflow, answer, failed: asked.slice() }
        asked.push((yield* propose(question, asked.length === 0 ? {} : { previous })).steps[0]!.worker)
      }
      assert.strictEqual(new Set(asked).size, team.workers.length)
      const alone = WorkerPool.makeUnsafe([team.workers[0]])
      const only = yield* propose(question, { pool: alone })
      const still = yield* propose(question, { pool: alone, previous: { workflow: only, answer, failed: [0] } })
      assert.deepStrictEqual(still, only)
    })
  )
})
