import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Baselines from "../src/policy/Baselines.ts"
import * as LanguagePolicy from "../src/policy/LanguagePolicy.ts"
import type * as Policy from "../src/policy/Policy.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import * as Task from "../src/task/Task.ts"
import { BudgetExceeded } from "../src/task/Usage.ts"
import { WorkerError, type WorkerRequest } from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const good = 'Easy.\n\nmodel_id = [1]\nsubtasks = ["Explain."]\naccess_list = [[]]'
const model = ScriptedWorker.echo("conductor")

const saying = (text: string) => ({ text, toolCalls: [], reasoning: "", finishReason: "stop" as const })

type Said = string | WorkerError | BudgetExceeded

/** A context whose model says the given things, one after the other, and that keeps the requests. */
const scripted = (said: ReadonlyArray<Said>, changes: Partial<Policy.Context> = {}) => {
  const requests: Array<WorkerRequest> = []
  const attempts: Array<number> = []
  const complete: Policy.Complete = (options) => {
    const { attempt = 0 } = options
    attempts.push(attempt)
    const next = said[requests.push(options.request) - 1]!
    return typeof next === "string"
      ? Effect.succeed({ completion: next, reading: options.read(next, saying(next)), said: saying(next), attempt })
      : Effect.fail(next)
  }
  const context: Policy.Context = {
    task: Task.make("Why?"),
    pool: WorkerPool.makeUnsafe([ScriptedWorker.echo("a"), ScriptedWorker.echo("b")]),
    maxSteps: 5,
    self: false,
    round: 0,
    seed: 77,
    price: () => assert.fail(),
    complete,
    ...changes
  }
  return { context, requests, attempts }
}

describe("LanguagePolicy", () => {
  it.effect("refuses if the model declines the task, without trying the fallback", () =>
    Effect.gen(function* () {
      const { attempts, context } = scripted(["Nobody can."])
      const policy = LanguagePolicy.make({
        model,
        fallback: Baselines.single(0),
        refusal: (completion) => (completion === "Nobody can." ? completion : undefined)
      })
      const error = yield* Effect.flip(policy.propose(context))
      assert.strictEqual(error._tag === "PolicyError" && error.isRefusal, true)
      assert.strictEqual(error.message, "Nobody can.")
      assert.deepStrictEqual(attempts, [0])
    })
  )

  it.effect("reads programs and answers only with their rules, and names them in the format", () =>
    Effect.gen(function* () {
      const program = good.replace("[1]", "[1, 0]").replace('["Explain."]', '["List.", "Explain {item}."]')
      const text = program.replace("access_list = [[]]", 'how = ["list 4; gives", "each 0"]\naccess_list = [[], []]')
      const right = text.replace("; gives", "")
      const more = { shapes: ["finding"], tools: ["search"], checks: ["tests"], maxItems: 50 }
      const { context, requests } = scripted([text, right], more)
      const { workflow } = yield* LanguagePolicy.make({ model, prompt: { how: true } }).propose(context)
      assert.deepStrictEqual(workflow.steps, [
        { worker: 1, subtask: "List.", access: [], gives: { list: 4 } },
        { worker: 0, subtask: "Explain {item}.", access: [], each: 0 }
      ])
      assert.deepStrictEqual(requests[0]!.format, {
        type: "workflow",
        poolSize: 2,
        maxSteps: 5,
        access: "binary",
        allowEmpty: false,
        how: more
      })
      assert.include(requests[1]!.messages.at(-1)!.content, 'expected "gives NAME", found "gives"')

      const plain = scripted([right, good], more)
      const refused = yield* Effect.flip(
        LanguagePolicy.make({ model, mode: "thought-then-strict", resamples: 0 }).propose(plain.context)
      )
      assert.include(refused.message, "expected model_id, subtasks or access_list")

      const answering = scripted(['Easy.\nanswer = "42"'])
      const own = yield* LanguagePolicy.make({ model, prompt: { mayAnswer: true } }).propose(answering.context)
      assert.deepStrictEqual<unknown>(own, {
        notes: ["Ignored the text around the answer."],
        workflow: { steps: [] },
        answer: "42"
      })
      assert.strictEqual(answering.requests[0]!.format!.mayAnswer, true)
    })
  )

  it.effect("reads what the model writes", () =>
    Effect.gen(function* () {
      const { context, requests } = scripted([good])
      const proposal = yield* LanguagePolicy.make({ model }).propose(context)
      assert.deepStrictEqual(proposal.workflow, { steps: [{ worker: 1, subtask: "Explain.", access: [] }] })
      assert.strictEqual(proposal.policy, undefined)
      assert.deepStrictEqual(
        { ...requests[0], messages: requests[0]!.messages.map((message) => message.role) },
        {
          messages: ["system", "user"],
          maxOutputTokens: 1024,
          temperature: undefined,
          reasoning: undefined,
          seed: 77,
          format: { type: "workflow", poolSize: 2, maxSteps: 5, access: "binary", allowEmpty: false }
        }
      )
    })
  )

  it.effect("passes its settings on, and counts itself where it is in the pool", () =>
    Effect.gen(function* () {
      const { context, requests } = scripted([good], { self: true, maxSteps: 2 })
      yield* LanguagePolicy.make({
        model,
        temperature: 1,
        maxOutputTokens: 300,
        reasoning: { type: "off" },
        prompt: { access: "fine-grained" }
      }).propose(context)
      const { messages, ...rest } = requests[0]!
      assert.deepStrictEqual(rest, {
        temperature: 1,
        maxOutputTokens: 300,
        reasoning: { type: "off" },
        seed: 77,
        format: { type: "workflow", poolSize: 3, maxSteps: 2, access: "fine-grained", allowEmpty: false }
      })
      assert.include(messages[0]!.content, "Model 2: a Conductor like you")
    })
  )

  it.effect("shows the model its error and asks again, with another seed", () =>
    Effect.gen(function* () {
      const bad = good.replace("[1]", "[9]")
      const { attempts, context, requests } = scripted(["No idea.", bad, good])
      const proposal = yield* LanguagePolicy.make({ model }).propose(context)
      assert.strictEqual(proposal.workflow.steps[0]!.worker, 1)
      assert.deepStrictEqual(attempts, [0, 1, 2])
      assert.strictEqual(new Set(requests.map((request) => request.seed)).size, 3)
      const [first, second, third] = requests.map((request) => request.messages)
      assert.deepStrictEqual(second!.slice(0, 2), first)
      assert.deepStrictEqual(second![2], { role: "assistant", content: "No idea." })
      assert.strictEqual(third!.length, 4)
      assert.deepStrictEqual(third![2], { role: "assistant", content: bad })
      assert.include(third![3]!.content, "worker 9 does not exist; use 0 or 1")
    })
  )

  it.effect("has the same seeds in the same round", () =>
    Effect.gen(function* () {
      const seeds = Effect.fnUntraced(function* () {
        const { context, requests } = scripted(["?", "?", good])
        yield* LanguagePolicy.make({ model }).propose(context)
        return requests.map((request) => request.seed)
      })
      assert.deepStrictEqual(yield* seeds(), yield* seeds())
    })
  )

  it.effect("gives up with an error that says what was wrong", () =>
    Effect.gen(function* () {
      const { context, requests } = scripted(["?", "?"])
      const error = yield* Effect.flip(LanguagePolicy.make({ model, resamples: 1 }).propose(context))
      assert.strictEqual(requests.length, 2)
      assert.match(
        error.message,
        /^Policy "conductor" produced no valid plan: conductor wrote no readable plan in 2 attempts\. ./
      )
    })
  )

  it.effect("falls back under the fallback's name when the text cannot be read, or the model fails", () =>
    Effect.gen(function* () {
      const failure = new WorkerError({ worker: "conductor", reason: { _tag: "Overloaded" } })
      const policy = LanguagePolicy.make({ model, resamples: 0, fallback: Baselines.bestOf({ n: 8 }) })
      assert.strictEqual(policy.maxSteps, 9)
      for (const said of ["?", failure]) {
        const proposal = yield* policy.propose(scripted([said]).context)
        assert.strictEqual(proposal.policy, "best-of-8")
        assert.strictEqual(proposal.workflow.steps.length, 9)
        const why = said === "?" ? /^Using the fallback policy best-of-8\. .+wrote no readable plan/ : /overloaded/i
        assert.match(proposal.notes?.[0] ?? "", why)
      }
    })
  )

  it.effect("does not hide behind the fallback that the model is set up wrongly", () =>
    Effect.gen(function* () {
      const policy = LanguagePolicy.make({ model, fallback: Baselines.single(0) })
      for (const _tag of ["InvalidRequest", "Authentication"] as const) {
        const failure = new WorkerError({ worker: "conductor", reason: { _tag } })
        assert.strictEqual(yield* Effect.flip(policy.propose(scripted([failure]).context)), failure)
      }
    })
  )

  it.effect("does not fall back when the budget ends", () =>
    Effect.gen(function* () {
      const exceeded = new BudgetExceeded({ limit: "calls", allowed: 1, spent: 1, needed: 1 })
      const policy = LanguagePolicy.make({ model, fallback: Baselines.single(0) })
      assert.strictEqual(yield* Effect.flip(policy.propose(scripted([exceeded]).context)), exceeded)
    })
  )

  it.effect("can confirm the previous answer only in a recursive round", () =>
    Effect.gen(function* () {
      const empty = "model_id = []\nsubtasks = []\naccess_list = []"
      const previous = {
        workflow: { steps: [{ worker: 0, subtask: "", access: [] }] },
        answer: { type: "answered" as const, text: "so" },
        failed: []
      }
      const recursive = scripted([empty], { round: 1, previous })
      const proposal = yield* LanguagePolicy.make({ model }).propose(recursive.context)
      assert.deepStrictEqual(proposal.workflow.steps, [])
      assert.isTrue(recursive.requests[0]!.format?.allowEmpty)
      const once = LanguagePolicy.make({ model, resamples: 0 })
      const failed = { ...previous, answer: { type: "failed" as const, message: "overloaded" } }
      for (const nothing of [{}, { round: 1, previous: failed }]) {
        const { context, requests } = scripted([empty], nothing)
        assert.strictEqual((yield* Effect.flip(once.propose(context)))._tag, "PolicyError")
        assert.isFalse(requests[0]!.format?.allowEmpty)
      }
    })
  )

  it.effect("forgives in the tolerant mode, says what, and does not in the strict one", () =>
    Effect.gen(function* () {
      const fenced = `Sure!\n\`\`\`python\n${good.slice(good.indexOf("model_id")).replace("model_id =", "models:")}\n\`\`\`\nDone.`
      const proposal = yield* LanguagePolicy.make({ model }).propose(scripted([fenced]).context)
      assert.strictEqual(proposal.workflow.steps.length, 1)
      assert.isAbove(proposal.notes!.length, 0)
      const strict = LanguagePolicy.make({ model, mode: "strict", resamples: 0 })
      assert.strictEqual((yield* Effect.flip(strict.propose(scripted([fenced]).context)))._tag, "PolicyError")
    })
  )

  it.effect("drops subtasks in the ablation, whatever the model writes", () =>
    Effect.gen(function* () {
      const policy = LanguagePolicy.make({ model, prompt: { subtasks: false } })
      const proposal = yield* policy.propose(scripted([good]).context)
      assert.strictEqual(proposal.workflow.steps[0]!.subtask, "")
    })
  )
})
