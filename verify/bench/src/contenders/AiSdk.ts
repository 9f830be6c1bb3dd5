/**
 * AI SDK. It has no workflow engine, so `generateText` calls are composed with `await` and `Promise.all`, as in its
 * documentation ("Workflow Patterns"). The model implements the SDK's provider interface, because the mock in `ai/test`
 * retains every call.
 */
import { generateText, type LanguageModel } from "ai"
import type { Contender } from "../Contender.ts"
import { compose, type Workload } from "../Workload.ts"

type Model = Extract<LanguageModel, { readonly specificationVersion: "v4" }>

const noTokens = {
  inputTokens: { total: 0, noCache: 0, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 0, text: 0, reasoning: undefined }
}

/** Returns the model that answers a step. */
const model = (worker: Workload["worker"], step: number): Model => ({
  specificationVersion: "v4",
  provider: "bench",
  modelId: `worker-${step}`,
  supportedUrls: {},
  doGenerate: async ({ prompt }) => {
    const messages = prompt.map(({ content }) => ({
      content:
        typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("")
    }))
    return {
      content: [{ type: "text", text: await worker(step)(messages) }],
      finishReason: { unified: "stop", raw: undefined },
      usage: noTokens,
      warnings: []
    }
  },
  doStream: () => Promise.reject(new Error("The bench does not stream."))
})

const run = ({ plan }: Workload, models: ReadonlyArray<Model>): Promise<string> => {
  const answers: Array<Promise<string>> = []
  const step = async (index: number): Promise<string> => {
    const { access } = plan.steps[index]!
    const seen = await Promise.all(access.map((earlier) => answers[earlier]!))
    const messages = compose(plan, index, (earlier) => seen[access.indexOf(earlier)]!)
    const { text } = await generateText({ model: models[index]!, messages })
    return text
  }
  for (let index = 0; index < plan.steps.length; index++) answers.push(step(index))
  return answers.at(-1)!
}

export const contender: Contender = {
  name: "aiSdk",
  prepare: async (workload) => {
    const models = workload.plan.steps.map((_, step) => model(workload.worker, step))
    return { run: () => run(workload, models) }
  }
}
