import { assert, describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Prompt from "../src/policy/Prompt.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import * as Task from "../src/task/Task.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"
import type * as Workflow from "../src/workflow/Workflow.ts"
import * as WorkflowText from "../src/workflow/WorkflowText.ts"

const answered = (text: string): Prompt.StepAnswer => ({ type: "answered", text })

const pool = (size: number) =>
  WorkerPool.makeUnsafe(
    Array.from({ length: size }, (_, index) =>
      ScriptedWorker.make({ id: `secret-${index}`, description: `Good at subject ${index}.\nQuick.`, replies: ["ok"] })
    )
  )

const context = (changes: Partial<Prompt.ConductorContext> = {}): Prompt.ConductorContext => ({
  task: Task.make("How many bees live in a hive?"),
  pool: pool(7),
  maxSteps: 5,
  self: false,
  ...changes
})

const text = (context: Prompt.ConductorContext, options?: Prompt.ConductorOptions) =>
  Prompt.conductorMessages(context, options)
    .map((message) => `--- ${message.role}\n${message.content}`)
    .join("\n")

const system = (...args: Parameters<typeof Prompt.conductorMessages>) => Prompt.conductorMessages(...args)[0]!.content
const question = (...args: Parameters<typeof Prompt.conductorMessages>) => Prompt.conductorMessages(...args)[1]!.content

describe("workerMessages", () => {
  const workflow: Workflow.Workflow = {
    steps: [
      { worker: 0, subtask: "Plan.", access: [] },
      { worker: 1, subtask: "Try.", access: [] },
      { worker: 2, subtask: "Check.", access: [1] },
      { worker: 0, subtask: "Finish.", access: "all" }
    ]
  }
  const task = Task.make({ question: "Why?", system: "Be brief." })
  const answers = [answered("a plan"), answered("a try"), answered("fine")]

  it("shows the question and the subtask to a step that sees nothing", () => {
    assert.deepStrictEqual(Prompt.workerMessages({ task, workflow, step: 1, answers: [answered("a plan")] }), [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Question:\nWhy?\n\nSubtask:\nTry." }
    ])
  })

  it("shows the steps that the access list names, and no other", () => {
    assert.deepStrictEqual(Prompt.workerMessages({ task, workflow, step: 2, answers }), [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Try." },
      { role: "assistant", content: "a try" },
      { role: "user", content: "Question:\nWhy?\n\nSubtask:\nCheck." }
    ])
  })

  it("shows every earlier step in order, and the previous answer first, where access is all", () => {
    const view = { task, workflow, answers, previous: { answer: answered("because") } }
    const messages = Prompt.workerMessages({ ...view, step: 3 })
    assert.deepStrictEqual(
      messages.slice(1, -1).map((message) => message.content),
      ["Previous answer:", "because", "Plan.", "a plan", "Try.", "a try", "Check.", "fine"]
    )
    const narrow = Prompt.workerMessages({ ...view, step: 2 })
    assert.isFalse(narrow.some((message) => message.content === "because"))
  })

  it("shows a failed step as one that failed, and why", () => {
    const failed: ReadonlyArray<Prompt.StepAnswer> = [answered(""), { type: "failed", message: "b is overloaded." }]
    const messages = Prompt.workerMessages({ task, workflow, step: 2, answers: failed })
    assert.deepStrictEqual(messages[2], {
      role: "assistant",
      content: "This step failed, so it has no answer: b is overloaded."
    })
  })

  it("takes an empty subtask for the question itself", () => {
    const bare: Workflow.Workflow = {
      steps: [
        { worker: 0, subtask: "", access: [] },
        { worker: 0, subtask: "", access: [0] }
      ]
    }
    const messages = Prompt.workerMessages({
      task: Task.make("Why?"),
      workflow: bare,
      step: 1,
      answers: [answered("")]
    })
    assert.deepStrictEqual(
      messages.map((message) => message.content),
      ["Why?", "The answer to this step was empty.", "Why?"]
    )
  })

  it("keeps the conversation before the question", () => {
    const conversation: Task.Task = {
      id: "t",
      messages: [
        { role: "user", content: "Hello" },
        { role: "assistant", content: "Hi" },
        { role: "user", content: "Why?" }
      ]
    }
    const messages = Prompt.workerMessages({ task: conversation, workflow, step: 0, answers: [] })
    assert.deepStrictEqual(
      messages.map((message) => message.content),
      ["Hello", "Hi", "Question:\nWhy?\n\nSubtask:\nPlan."]
    )
  })
})

describe("conductorMessages", () => {
  it("has the paper's setting by default", () => {
    expect(text(context())).toMatchSnapshot()
  })

  it("can describe the pool, grant fine-grained access, offer itself and recurse", () => {
    const workflow = { steps: [{ worker: 2, subtask: 'Say "why".', access: [] }] }
    const answer = { type: "answered" as const, text: "Forty." }
    const previous = { workflow, answer, failed: [], feedback: "Too few." }
    expect(
      text(context({ self: true, previous, pool: pool(2) }), {
        descriptions: true,
        access: "fine-grained",
        examples: []
      })
    ).toMatchSnapshot()
  })

  it("can do without subtasks", () => {
    expect(text(context({ pool: pool(3) }), { subtasks: false })).toMatchSnapshot()
  })

  it("never names a worker", () => {
    assert.notInclude(text(context({ self: true }), { descriptions: true }), "secret")
    assert.notInclude(text(context()), "Good at")
  })

  it("says that a round had no answer, and does not name who failed", () => {
    const previous = {
      workflow: { steps: [{ worker: 1, subtask: "", access: [] }] },
      answer: { type: "failed" as const, message: "secret is overloaded" },
      failed: [1]
    }
    const shown = text(context({ previous }), { descriptions: true })
    assert.include(shown, "Its last step failed, so there is no answer yet.")
    assert.notInclude(shown, "If this answer stands")
    assert.match(shown, /^Model 0: Good at/m)
    assert.match(shown, /^Model 1: it gave no answer in an earlier round/m)
    assert.notInclude(shown, "secret")
  })

  it("keeps everything that questions share in the system message", () => {
    const workflow = { steps: [{ worker: 0, subtask: "", access: [] }] }
    const other = context({ task: Task.make({ question: "Another?", system: "Be kind." }) })
    assert.strictEqual(system(other), system(context()))
    assert.strictEqual(
      system({ ...other, previous: { workflow, answer: { type: "answered" as const, text: "x" }, failed: [] } }),
      system(context())
    )
    assert.include(question(other), "[system] Be kind.")
  })

  it("shows the list how in every example if it may be written, and a map", () => {
    const shown = String(system(context(), { how: true }))
    const examples = shown.split(/^Example \d/m).slice(1)
    assert.lengthOf(examples, 5)
    for (const example of examples) assert.match(example, /^how = \[/m)
    assert.include(examples[4], '\nhow = ["list 16", "each 0", ""]\n')
    const mapped = WorkflowText.read(examples[4]!, { poolSize: 7, maxSteps: 5, how: true })
    assert.isTrue(Result.isSuccess(mapped))
    assert.notInclude(String(system(context())), "how = ")
  })

  it("shows examples that obey the rules shown with them", () => {
    const sets = [Prompt.outOfDistributionExamples, Prompt.mixedExamples, Prompt.inDistributionExamples]
    for (const examples of sets) {
      assert.strictEqual(examples.length, 4)
      for (const access of ["binary", "fine-grained"] as const) {
        for (const size of [1, 2, 3, 7, 12]) {
          for (const maxSteps of [1, 3, 5]) {
            const shown = system(context({ pool: pool(size), maxSteps }), { examples, access }).split(/^Example \d/m)
            assert.isAtLeast(shown.length, 2)
            for (const example of shown.slice(1)) {
              const lists = example.split("Response:")[1]!
              const read = WorkflowText.read(lists, { poolSize: size, maxSteps })
              assert.isTrue(Result.isSuccess(read), Result.isFailure(read) ? read.failure.message : "")
            }
          }
        }
      }
    }
  })

  it("writes access lists in the binary form unless asked otherwise", () => {
    const lists = /access_list = .*/g
    const binary = system(context()).match(lists)!.join("\n")
    assert.notMatch(binary, /\[\d/)
    assert.match(system(context(), { access: "fine-grained" }).match(lists)!.join("\n"), /\[0, 1, 2\]/)
  })

  it("fills in the user's text unchanged", () => {
    const asked = "What does {answer} mean in $& templates, and {question}?"
    assert.include(question(context({ task: Task.make(asked) })), `Question:\n${asked}\n`)
  })

  it("shows the list how, and its own answer, only with their rules", () => {
    const more = { checks: ["tests"], shapes: ["finding"], tools: ["search"] }
    const plain = system(context(more))
    for (const words of ["how = [", "answer =", "{item}", "finding"]) assert.notInclude(plain, words)
    assert.strictEqual(system(context(more), { how: false, mayAnswer: false }), plain)

    const whole = system(context(more), { how: true, mayAnswer: true })
    for (const words of ["how = [", 'answer = "', "{item}", "known by its name: finding.", "these tools: search."])
      assert.include(whole, words)
    assert.include(whole, '"name: again 3"')
    assert.notInclude(whole, "You never answer a question yourself")
    assert.notMatch(system(context(), { how: true }), /known by its name|these tools|again 3|answer = /u)
    const { how: _, ...template } = Prompt.defaultTemplate
    assert.notInclude(system(context(), { how: true, template }), "how = [")
  })

  it("asks for the lists that the reader takes, and for no others", () => {
    const lists = { model_id: "[1]", subtasks: '["Do it."]', how: '["effort low"]', access_list: "[[]]" }
    for (const checks of [[], ["tests"]]) {
      for (const how of [false, true]) {
        for (const mayAnswer of [false, true]) {
          const options = { how, mayAnswer }
          const shown = String(system(context({ checks }), options))
          const [, exactly, number] = /Then write (exactly )?these (three|four) Python lists/.exec(shown)!
          const block = shown.slice(shown.indexOf("Python lists"), shown.indexOf("access_list = ["))
          const names = [...Array.from(block.matchAll(/^(\w+) = \[/gm), ([, name]) => name!), "access_list"]
          assert.strictEqual(number, ["three", "four"][names.length - 3])
          assert.strictEqual(names.includes("how"), how)
          assert.strictEqual(exactly, checks.length === 0 ? "exactly " : undefined)
          assert.strictEqual(shown.includes("checks = ["), checks.length > 0)

          const written = names.map((name) => `${name} = ${lists[name as keyof typeof lists]}`)
          const rules = { poolSize: 2, checks, judges: 2, mode: "strict", ...options } as const
          const texts = [
            written,
            ...(checks.length === 0
              ? []
              : [[...written.filter((line) => !how || !line.startsWith("how")), 'checks = ["tests"]']]),
            ...(mayAnswer ? [['answer = "It."']] : [])
          ]
          for (const text of texts) {
            const reading = WorkflowText.read(text.join("\n"), rules)
            assert.isTrue(Result.isSuccess(reading), Result.isFailure(reading) ? reading.failure.message : "")
          }

          const named = `the ${checks.length > 0 ? "" : `${number} `}lists${mayAnswer ? ", or the answer" : ""}`
          assert.match(question(context({ checks }), options), new RegExp(`, then ${named}\\.$`))
          const [, correction] = Prompt.correctionMessages("x", "It is wrong.", options, { checks })
          assert.include(correction?.content, `Write ${named} again`)
        }
      }
    }
  })

  it("lets the wording be replaced", () => {
    const template = { ...Prompt.defaultTemplate, role: "Du bist ein Dirigent.", closing: "Los." }
    assert.match(system(context(), { template }), /^Du bist ein Dirigent\./)
    assert.match(question(context(), { template }), /Los\.$/)
  })
})

describe("correctionMessages", () => {
  it("shows the text and what was wrong with it, and never an empty turn", () => {
    const [said, told] = Prompt.correctionMessages("", "Line 1, column 1: expected a list.")
    assert.deepStrictEqual(said, { role: "assistant", content: "(nothing)" })
    assert.include(told?.content, "Line 1, column 1: expected a list.")
  })
})
