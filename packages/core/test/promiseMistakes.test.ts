import { assert, describe, it } from "vitest"
import * as Policy from "../src/policy/Policy.ts"
import * as promise from "../src/promise.ts"
import { messageOf } from "./messageOf.ts"

const calculator = promise.worker({ id: "calculator", answer: () => "42" })
const ask = { question: "What is 6 times 7?", pool: [calculator], policy: promise.single("calculator") }

describe("mistakes of plain JavaScript", () => {
  // Types would not let these pass.
  const { bestOf, conduct, languagePolicy, ledger, memoryCache, policy, streamAnswer, streamRun, worker } =
    promise as unknown as Record<string, (...given: ReadonlyArray<unknown>) => never>
  const missing = "conduct: expected a single options object, conduct({ question, pool }), not"
  const read = async (events: AsyncIterable<unknown>) => {
    for await (const _ of events);
  }

  it.each([
    ["no options", () => conduct!(), `${missing} undefined.`],
    ["a question alone", () => conduct!("What?"), `${missing} "What?".`],
    ["no question", () => conduct!({ pool: ask.pool, policy: ask.policy }), 'conduct: "question" is missing'],
    ["an empty question", () => conduct!({ ...ask, question: " " }), 'conduct: "question" must be a non-empty string'],
    ["no pool", () => conduct!({ ...ask, pool: undefined }), 'conduct: "pool" is missing: expected a list of workers.'],
    [
      "one worker for a pool",
      () => conduct!({ ...ask, pool: calculator }),
      '"pool" must be a list of workers, not an object with the keys id,'
    ],
    [
      "a name for a worker",
      () => conduct!({ ...ask, pool: ["openai:gpt-5"] }),
      '"pool[0]" must be a worker, not "openai:gpt-5"; create'
    ],
    [
      "a function for a worker",
      () => conduct!({ ...ask, pool: [calculator, () => "x"] }),
      '"pool[1]" must be a worker, not a function; create a worker from it with worker({ id, answer }).'
    ],
    ["a promise of a worker", () => conduct!({ ...ask, pool: [Promise.resolve(calculator)] }), "a promise (await it)"],
    ["nothing for a worker", () => conduct!({ ...ask, pool: [null] }), '"pool[0]" must be a worker, not null.'],
    ["a policy that was not called", () => conduct!({ ...ask, policy: promise.single }), '"policy" must be a policy'],
    [
      "a misspelt limit",
      () => conduct!({ ...ask, budget: { costUSD: 1 } }),
      'option "budget.costUSD" does not exist. Did you mean "budget.costUsd"?'
    ],
    [
      "a misspelt option",
      () => conduct!({ ...ask, budgt: {} }),
      'conduct: option "budgt" does not exist. Did you mean "budget"?'
    ],
    [
      "a limit as text",
      () => conduct!({ ...ask, budget: { costUsd: "1" } }),
      '"budget.costUsd" must be a number of at least 0, not "1".'
    ],
    ["a limit that is no number", () => conduct!({ ...ask, budget: { costUsd: Number.NaN } }), "not NaN."],
    ["a number of retries", () => conduct!({ ...ask, retry: 3 }), '"retry" must be an object, not 3.'],
    [
      "a controller for a signal",
      () => conduct!({ ...ask, signal: new AbortController() }),
      '"signal" must be an AbortSignal'
    ],
    [
      "a worker of nothing",
      () => worker!(),
      "worker: expected a single options object, worker({ id, answer }), not undefined."
    ],
    ["a misspelt answer", () => worker!({ id: "x", anwser: () => "" }), 'Did you mean "answer"?'],
    ["a worker without an id", () => worker!({ answer: () => "" }), 'worker: "id" is missing'],
    [
      "a misspelt price",
      () => worker!({ id: "x", answer: () => "", pricing: { inputPerMilion: 1 } }),
      '"pricing.inputPerMillion"?'
    ],
    ["a policy without a name", () => policy!(() => ({ steps: [] })), "policy: expected a name and a function"],
    [
      "an async policy that gives nothing",
      () => conduct!({ ...ask, policy: policy!("mine", async () => {}) }),
      "it did not return a workflow. Return { steps: [...] }"
    ],
    [
      "a policy written by hand",
      () => conduct!({ ...ask, policy: { name: "x", propose: async () => ({}) } }),
      "its propose function did not return { workflow }. Use policy(name, plan)"
    ],
    [
      "a worker written by hand",
      () => conduct!({ ...ask, pool: [{ id: "x", generate: async () => "42" }], policy: promise.single(0) }),
      "its generate function returned neither a Stream nor an Effect. Use worker({ id, answer })"
    ],
    ["a language policy of nothing", () => languagePolicy!(), "languagePolicy: expected a single options object"],
    ["a function for a model", () => languagePolicy!({ model: () => "" }), '"model" must be a worker'],
    ["a number for options", () => bestOf!(3), "bestOf: expected a single options object"],
    ["a misspelt option of a policy", () => bestOf!({ N: 3 }), 'option "N" does not exist. Did you mean "n"?'],
    ["a misspelt limit of an account", () => ledger!({ costUSD: 3 }), 'Did you mean "costUsd"?'],
    ["a cache without a bound", () => memoryCache!({}), '"maxEntries" is missing'],
    ["a stream without a pool", () => read(streamRun!({ question: "q" })), 'streamRun: "pool" is missing'],
    ["an answer without a pool", () => read(streamAnswer!({ question: "q" })), 'streamAnswer: "pool" is missing']
  ])("%s is told in words of who wrote it", async (_, mistake, message) => {
    assert.include(await messageOf(mistake), message)
  })

  it("are an OptionsError; an undefined option counts as absent", async () => {
    const error = await promise.conduct({ ...ask, budget: { costUSD: 1 } } as never).catch((error: unknown) => error)
    assert.instanceOf(error, promise.OptionsError)
    const options = { ...ask, budgt: undefined, retry: undefined }
    assert.strictEqual((await promise.conduct(options)).answer, "42")
  })
})

describe("names that people know from other libraries", () => {
  const { conduct, tool, worker } = promise as unknown as Record<string, (options: unknown) => unknown>
  const told = async (make: () => unknown): Promise<string> => {
    try {
      await make()
      return "nothing"
    } catch (error) {
      return (error as Error).message
    }
  }

  it.each([
    ["prompt", "question", "instructions", "description"],
    ["messages", "question: { messages }", "answer: ({ messages }) => …", "execute: (input) => …"],
    ["timeout", "budget: { durationMillis }", "worker: { timeoutMillis } of conduct", "timeoutMillis"],
    ["maxTokens", "worker: { maxOutputTokens }", "maxOutputTokens", "maxResultCharacters"],
    ["max_tokens", "worker: { maxOutputTokens }", "maxOutputTokens", "maxResultCharacters"],
    ["parameters", "pool", "settings", "input"],
    ["system", "question: { question, system }", "instructions", "description"]
  ])("%s is refused with ours", async (name, ofConduct, ofWorker, ofTool) => {
    const given = { [name]: "x" }
    const input = { type: "object" }
    if (name !== "parameters") assert.include(await told(() => conduct!({ ...ask, ...given })), `Use "${ofConduct}".`)
    assert.include(await told(() => worker!({ id: "a", answer: () => "", ...given })), `Use "${ofWorker}".`)
    assert.include(await told(() => tool!({ name: "a", input, ...given })), `Use "${ofTool}".`)
  })

  it.each([
    ["temperature", "worker: { temperature }"],
    ["max_completion_tokens", "worker: { maxOutputTokens }"],
    ["reasoning_effort", "worker: { reasoning }"],
    ["maxRetries", "retry: { maxAttempts }"],
    ["stopWhen", "maxToolRounds"],
    ["maxTurns", "maxToolRounds"],
    ["stream", "streamAnswer instead of conduct"],
    ["onChunk", "onEvent"],
    ["onFinish", "onEvent"],
    ["callbacks", "onEvent"],
    ["abortSignal", "signal"],
    ["apiKey", "openai(model, { apiKey, … }) in pool"],
    ["base_url", "openai(model, { apiKey, … }) in pool"],
    ["functions", "tools"],
    ["response_format", "output"],
    ["systemPrompt", "question: { question, system }"],
    ["chat_history", "question: { messages }"],
    ["llm", "pool"],
    ["experimental_telemetry", "telemetry"],
    ["checkpointer", "journal"]
  ])("%s of conduct is refused with ours", async (name, ours) => {
    assert.include(await told(() => conduct!({ ...ask, [name]: "x" })), `Use "${ours}".`)
  })

  it("tools as an object are refused with the form of a list", async () => {
    const tools = { weather: { description: "", execute: () => "" } }
    assert.include(
      await told(() => conduct!({ ...ask, tools })),
      "not an object with the key weather. Each element must be a tool, such as tool("
    )
  })

  it("the name of a tool is checked when it is made", async () => {
    for (const name of ["get weather", "wetter.ulm", "", "a".repeat(65), 3]) {
      assert.include(await told(() => tool!({ name, input: { type: "object" } })), '"name" must be a name')
    }
    assert.include(await told(() => tool!({ name: "a", input: "city" })), '"input" must be a schema')
  })
})

describe("a worker in a plan", () => {
  const pool = [promise.worker({ id: "a", answer: () => "first" }), promise.worker({ id: "b", answer: () => "second" })]
  const by = (worker: string | number) =>
    promise.policy("by id", () => ({ steps: [{ worker, subtask: "", access: [] }] }))

  it("may be named by its id", async () => {
    const { answer, transcript } = await promise.conduct({ question: "Why?", pool, policy: by("b") })
    assert.strictEqual(answer, "second")
    assert.strictEqual(transcript.rounds[0]!.workflow!.steps[0]!.worker, 1)
    const fixed = Policy.fixed("fixed", () => ({ steps: [{ worker: "b", subtask: "", access: [] }] }))
    assert.strictEqual((await promise.conduct({ question: "Why?", pool, policy: fixed })).answer, "second")
  })

  it("may be named by its id when a policy re-plans", async () => {
    const revising = promise.policy(
      "anew",
      () => ({ steps: [{ worker: "a", subtask: "", access: [], check: { by: "never", onFailure: "revise" } }] }),
      {
        checks: { never: () => false },
        revise: () => ({ type: "re-plan", workflow: { steps: [{ worker: "b", subtask: "", access: [] }] } })
      }
    )
    assert.strictEqual((await promise.conduct({ question: "Why?", pool, policy: revising })).answer, "second")
  })

  it("that is not in the pool ends the run with the nearest id", async () => {
    const long = pool.map((worker) => ({ ...worker, id: `worker-${worker.id}` }))
    const { detail, error } = await promise.conduct({ question: "Why?", pool: long, policy: by("worker-") })
    assert.strictEqual(error?._tag, "PolicyError")
    assert.include(detail, 'Step 0: worker "worker-" is not in the pool; did you mean "worker-a"?')
  })
})
