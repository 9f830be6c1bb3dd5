/**
 * Plans with maps that a local model writes through the grammar of plans.
 *
 *     node --conditions=@divisi/source bench/maps.ts --model model.gguf [--threads 1] [--questions 10] [--plain]
 *
 * Each question names parts whose number is not known, so that a sensible plan lists them, works on each, and joins the
 * results; two questions are simple. `--plain` shows the model only examples without a map. Scripted workers carry the plans out. Prints a JSON line for each question and one
 * with the counts.
 */
import { parseArgs } from "node:util"
import { Prompt, type Workflow } from "@divisi/core"
import { conduct, languagePolicy, worker } from "@divisi/core/promise"
import { llamacpp, release } from "@divisi/policy-llamacpp"

const { values } = parseArgs({
  options: {
    model: { type: "string" },
    threads: { type: "string", default: "1" },
    questions: { type: "string", default: "10" },
    from: { type: "string", default: "0" },
    temperature: { type: "string", default: "0" },
    tokens: { type: "string", default: "400" },
    plain: { type: "boolean", default: false }
  }
})
if (values.model === undefined) throw new Error("--model <file.gguf> is missing")

const questions: ReadonlyArray<readonly [question: string, isMap: boolean]> = [
  ["Review each source file of this folder for security faults and write one report.", true],
  ["Translate every chapter of this book into German and join the chapters.", true],
  ["Find all countries that border Germany and give the population of each.", true],
  ["Summarise each of the customer complaints in the attached file, then name the three most common causes.", true],
  ["For each planet of the solar system, write one sentence about its moons. Make a table of the sentences.", true],
  ["Check every claim in the attached article against what you know, and list the wrong ones.", true],
  ["Write a test for each function of the attached module, then review all of the tests together.", true],
  ["Collect the open questions of the minutes, answer each of them, and write a letter with all answers.", true],
  ["What is the capital of France?", false],
  ["What is 17 times 23?", false]
]

const model = llamacpp(values.model, { threads: Number(values.threads), contextTokens: 4096, sequences: 1 })
const answers: Array<string> = []
/** A list of three items, or as many as the step may give. */
const listOf = (schema: object): string => {
  const { maxItems } = (schema as { properties: { items: { maxItems: number } } }).properties.items
  return JSON.stringify(["one", "two", "three"].slice(0, maxItems))
}

/** A worker that gives a list if its step asks for one. */
const scripted = (id: string, description: string) =>
  worker({
    id,
    description,
    isLanguageModel: true,
    capabilities: { jsonSchema: true },
    answer: ({ output }) => {
      const answer = output?.type === "json-schema" ? listOf(output.schema) : `${id} ${answers.length}`
      answers.push(answer)
      return answer
    }
  })
const pool = [
  scripted("reader", "reads files and long texts, and splits them into parts"),
  scripted("expert", "answers hard questions about one thing"),
  scripted("writer", "writes reports from many answers")
]
const policy = languagePolicy({
  model,
  prompt: {
    descriptions: true,
    how: true,
    access: "fine-grained",
    examples: values.plain ? Prompt.outOfDistributionExamples : undefined
  },
  resamples: 0,
  maxOutputTokens: Number(values.tokens),
  temperature: Number(values.temperature)
})

const counts = { questions: 0, parsed: 0, ran: 0, maps: 0, sensible: 0 }
const first = Number(values.from)
for (const [question, isMap] of questions.slice(first, first + Number(values.questions))) {
  const since = performance.now()
  let completion = ""
  let steps: Workflow.Workflow["steps"] | undefined
  const result = await conduct({
    question,
    pool,
    policy,
    seed: 1,
    maxItems: 8,
    maxSteps: 5,
    budget: { calls: 60 },
    onEvent: (event) => {
      if (event.type === "completion-finished") completion = event.completion
      if (event.type === "workflow-proposed") steps = event.workflow.steps
    }
  })
  const hasMap = steps?.some(({ each }) => each !== undefined) === true
  const last = steps?.at(-1)
  /** A map is sensible if its list is worked on, and the last step, which has no items, sees the results. */
  const isJoined =
    hasMap &&
    last?.each === undefined &&
    (last?.access === "all" || last?.access.some((step) => steps![step]?.each !== undefined) === true)
  const isSensible = isMap ? isJoined : steps !== undefined && !hasMap && steps.length <= 2
  counts.questions += 1
  if (steps !== undefined) counts.parsed += 1
  if (result.ending === "answered") counts.ran += 1
  if (hasMap) counts.maps += 1
  if (isSensible) counts.sensible += 1
  const { calls } = result.spend
  const seconds = Math.round((performance.now() - since) / 1000)
  console.log(JSON.stringify({ question, ending: result.ending, hasMap, isSensible, calls, seconds, completion }))
}
console.log(JSON.stringify(counts))
await release()
