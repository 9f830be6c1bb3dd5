import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  type ConductOptions,
  conduct,
  decodeTranscript,
  encodeTranscript,
  languagePolicy,
  memoryJournal,
  policy,
  resume,
  single,
  worker
} from "../src/promise.ts"

const asked: Array<string> = []
const solver = worker({
  id: "solver",
  answer: ({ messages }) => {
    asked.push(String(messages.at(-1)?.content))
    return "4"
  }
})
const planner = worker({
  id: "planner",
  capabilities: { tools: true },
  pricing: { inputPerMillion: 1, outputPerMillion: 1 },
  answer: ({ messages }) =>
    messages.length === 1
      ? { toolCalls: [{ name: "ask", arguments: { who: "solver" } }], text: "I ask." }
      : `Said: ${messages.length}`
})
const pool = [solver, planner]
const question = "What is 2 + 2?"

describe("a policy that answers itself", () => {
  it("calls no worker, and its answer is that of the run", async () => {
    const { answer, rounds, spend, transcript } = await conduct({
      question,
      pool,
      policy: policy("own", () => ({ answer: "Four.", notes: ["It is easy."] }))
    })
    assert.strictEqual(answer, "Four.")
    assert.strictEqual(spend.calls, 0)
    assert.deepStrictEqual(rounds, [
      { workflow: { steps: [] }, failed: [], answer: "Four.", confirmed: false, isOwn: true }
    ])
    const again = await decodeTranscript(encodeTranscript(transcript))
    assert.strictEqual(again.rounds[0]?.isOwn, true)
    assert.deepStrictEqual(again.rounds[0]?.notes, ["It is easy."])
  })

  it("is refused with steps, without a text, and without the shape of the output", async () => {
    const output = { type: "json-schema", name: "sum", schema: { type: "object", required: ["sum"] } } as const
    const cases = [
      [{ answer: "", steps: undefined }, undefined, /is empty/],
      [{ answer: "Four." }, output, /does not match the output schema/],
      [{ steps: [], answer: "Four." }, undefined, /its answer is string; omit it, or use "majority"/],
      [{ answer: "Four.", isLast: "yes" }, undefined, /its isLast is string/]
    ] as const
    for (const [proposal, shape, message] of cases) {
      const { answer, detail, ending } = await conduct({
        question,
        pool,
        policy: policy("own", () => proposal as never),
        ...(shape === undefined ? {} : { output: shape })
      })
      assert.strictEqual(ending, "failed")
      assert.strictEqual(answer, undefined)
      assert.match(detail!, message)
    }
  })

  it("is judged by a critic, and sees its answer in the next round", async () => {
    const seen: Array<unknown> = []
    const { answer } = await conduct({
      question,
      pool,
      policy: policy("own", ({ previous, round }) => {
        seen.push(previous?.answer)
        return { answer: `Draft ${round}` }
      }),
      recursion: 2,
      critic: {
        name: "second",
        score: ({ answer }) => Effect.succeed({ correct: answer === "Draft 1", score: answer === "Draft 1" ? 1 : 0 })
      }
    })
    assert.strictEqual(answer, "Draft 1")
    assert.deepStrictEqual(seen, [undefined, { type: "answered", text: "Draft 0" }])
  })

  it("ends the run with the last round, whatever rounds are left", async () => {
    let rounds = 0
    const { answer, ending } = await conduct({
      question,
      pool,
      recursion: 9,
      policy: policy("own", ({ round }) => {
        rounds++
        return round === 2
          ? { answer: "Done.", isLast: true }
          : { steps: [{ worker: 0, subtask: `${round}`, access: [] }] }
      })
    })
    assert.deepStrictEqual([answer, ending, rounds], ["Done.", "answered", 3])
  })

  it("has a draft as partial text, and not as the answer, if a limit ends the run", async () => {
    const drafting = (isLast: false | undefined) =>
      conduct({
        question,
        pool,
        recursion: 3,
        budget: { calls: 1 },
        policy: policy("own", ({ round }) =>
          round === 0
            ? { answer: "A draft.", ...(isLast === undefined ? {} : { isLast }) }
            : { steps: [{ worker: 0, subtask: `${round}`, access: [] }], isLast: false }
        )
      })
    const draft = await drafting(false)
    assert.deepStrictEqual([draft.ending, draft.answer], ["budget", undefined])
    assert.strictEqual(draft.partial?.text, "4")
    const answer = await drafting(undefined)
    assert.deepStrictEqual([answer.ending, answer.answer, answer.partial], ["answered", "A draft.", undefined])
  })

  it("has the text of the longest chain of answered steps where a limit ended the run", async () => {
    const chain = policy("chain", () => ({
      steps: [
        { worker: 0, subtask: "First", access: [] },
        { worker: 0, subtask: "Second", access: [0] },
        { worker: 0, subtask: "Third", access: [1] }
      ]
    }))
    const cut = await conduct({ question, pool, policy: chain, budget: { calls: 2 } })
    assert.deepStrictEqual([cut.ending, cut.answer], ["budget", undefined])
    assert.deepStrictEqual(cut.partial, { round: 0, step: 1, worker: "solver", subtask: "Second", text: "4" })
    const read = await decodeTranscript(encodeTranscript(cut.transcript))
    assert.deepStrictEqual(read.partial, cut.partial)
    const whole = await conduct({ question, pool, policy: chain })
    assert.strictEqual(whole.partial, undefined)
  })
})

describe("complete of a policy in code", () => {
  const conversing = () => {
    const said: Array<unknown> = []
    const talking = policy(
      "talks",
      async ({ complete, previous, round }) => {
        const past = previous?.rounds?.flatMap(({ said = [] }) => said) ?? []
        const { text, toolCalls } = await complete({
          model: planner,
          messages: [
            { role: "user", content: question },
            ...past.map(({ text }) => ({ role: "assistant" as const, content: text }))
          ],
          tools: [{ name: "ask", inputSchema: { type: "object" } }]
        } as never)
        said.push({ round, text, toolCalls: toolCalls.map(({ name }) => name), past: past.length })
        return toolCalls.length > 0
          ? { steps: [{ worker: "solver", subtask: "Add.", access: [] }] }
          : { answer: text, isLast: true }
      },
      { recursion: Number.POSITIVE_INFINITY }
    )
    return { said, talking }
  }

  it("is budgeted and recorded, and shows the tool calls of the model in every later round", async () => {
    const { said, talking } = conversing()
    const result = await conduct({ question, pool, policy: talking })
    assert.strictEqual(result.answer, "Said: 2")
    assert.strictEqual(result.spend.calls, 3)
    assert.deepStrictEqual(said, [
      { round: 0, text: "I ask.", toolCalls: ["ask"], past: 0 },
      { round: 1, text: "Said: 2", toolCalls: [], past: 1 }
    ])
    const read = await decodeTranscript(encodeTranscript(result.transcript))
    assert.deepStrictEqual(
      read.rounds[0]?.completions[0]?.toolCalls?.map(({ name }) => name),
      ["ask"]
    )
    const again = conversing()
    const resumed = await resume({ pool, policy: again.talking, transcript: read })
    assert.strictEqual(resumed.answer, "Said: 2")
    assert.deepStrictEqual(again.said, said)
  })

  it("resumes from a journal without asking the model again", async () => {
    const journal = memoryJournal()
    const { said, talking } = conversing()
    const first = await conduct({ question, pool, policy: talking, journal, runId: "one", budget: { calls: 2 } })
    assert.strictEqual(first.ending, "budget")
    assert.strictEqual(said.length, 1)
  })

  it("ends the run by the error of a call that the policy does not catch", async () => {
    const { ending, error } = await conduct({
      question,
      pool,
      policy: policy("two", async ({ complete }) => {
        await complete({ model: planner, messages: [{ role: "user", content: "1" }] })
        await complete({ model: planner, messages: [{ role: "user", content: "2" }] })
        return { answer: "never" }
      }),
      budget: { calls: 1 }
    })
    assert.strictEqual(ending, "budget")
    assert.strictEqual(error?._tag, "BudgetExceeded")
  })

  it("charges the calls that are in flight if the policy does not wait for them", async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    let stopped = 0
    const slow = worker({
      id: "slow",
      answer: (_, { signal }) => {
        begin()
        return new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            stopped++
            reject(new Error("stopped"))
          })
        })
      }
    })
    const result = await conduct({
      question,
      pool: [solver],
      policy: policy("careless", async ({ complete }) => {
        complete({ model: slow, messages: [{ role: "user", content: "1" }] }).catch(() => {})
        await begun
        return { answer: "At once." }
      })
    })
    assert.strictEqual(result.answer, "At once.")
    assert.strictEqual(stopped, 1)
    assert.strictEqual(result.spend.calls, 1)
    const { lost } = result.transcript.rounds[0]!
    assert.strictEqual(lost.length, 1)
  })

  it("leaves policies alone that call no model", async () => {
    const { answer } = await conduct({ question, pool, policy: single(0) })
    assert.strictEqual(answer, "4")
  })
})

describe("a prompted Conductor that may answer", () => {
  const model = (...texts: ReadonlyArray<string>) => {
    const requests: Array<string> = []
    const said = worker({
      id: "model",
      isLanguageModel: true,
      answer: ({ messages }) => {
        requests.push(messages.map(({ content }) => String(content)).join("\n"))
        return texts[Math.min(requests.length, texts.length) - 1]!
      }
    })
    return { requests, said }
  }
  const mayAnswer = { descriptions: true, mayAnswer: true }

  it("answers with one call, or plans", async () => {
    const { requests, said } = model('answer = "Paris."')
    const own = await conduct({
      question: "The capital of France?",
      pool: [solver],
      policy: languagePolicy({ model: said, prompt: mayAnswer })
    })
    assert.deepStrictEqual([own.answer, own.spend.calls, own.rounds[0]?.isOwn], ["Paris.", 1, true])
    assert.include(requests[0], "answer = ")
    const plan = model('model_id = [0]\nsubtasks = ["Add."]\naccess_list = [[]]')
    const planned = await conduct({
      question,
      pool: [solver],
      policy: languagePolicy({ model: plan.said, prompt: mayAnswer })
    })
    assert.deepStrictEqual([planned.answer, planned.spend.calls], ["4", 2])
  })

  it("is neither offered nor read in the paper's setting", async () => {
    const { requests, said } = model('answer = "Paris."')
    const { ending } = await conduct({
      question,
      pool: [solver],
      policy: languagePolicy({ model: said, resamples: 0 })
    })
    assert.strictEqual(ending, "failed")
    assert.notInclude(requests[0], "answer =")
    assert.include(requests[0], "You never answer a question yourself")
  })

  it("is asked again if its answer does not have the shape of the output", async () => {
    const { requests, said } = model('answer = "four"', `answer = '{"sum": 4}'`)
    const output = {
      type: "json-schema",
      name: "sum",
      schema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] }
    } as const
    const { value, spend } = await conduct({
      question,
      pool: [solver],
      policy: languagePolicy({ model: said, prompt: mayAnswer }),
      output
    })
    assert.deepStrictEqual([value, spend.calls], [{ sum: 4 }, 2])
    assert.include(requests[1], "does not match the output schema")
  })

  it("is not read for a picture or a run with checks", async () => {
    const plan = 'model_id = [0]\nsubtasks = [""]\naccess_list = [[]]'
    const image = { type: "image", url: "https://example.com/cat.png" } as const
    const brief = (text: string) => text.length < 9 || "Too long."
    const tried: ReadonlyArray<Pick<ConductOptions, "question" | "checks">> = [
      { question: [{ type: "text", text: "What is this?" }, image] },
      { question, checks: { brief } }
    ]
    for (const options of tried) {
      const { requests, said } = model('answer = "A cat."', plan)
      const { answer, spend } = await conduct({
        ...options,
        pool: [{ ...solver, capabilities: { images: true } }],
        policy: languagePolicy({ model: said, prompt: mayAnswer })
      })
      assert.deepStrictEqual([answer, spend.calls], ["4", 3])
      assert.notInclude(requests[0], "answer =")
    }
  })

  it("is the default for a language model among other workers", async () => {
    const { said } = model('answer = "Paris."')
    const { answer, spend } = await conduct({ question: "The capital of France?", pool: [said, solver] })
    assert.deepStrictEqual([answer, spend.calls], ["Paris.", 1])
  })
})
