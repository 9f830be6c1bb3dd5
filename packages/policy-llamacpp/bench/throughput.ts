/**
 * Many concurrent plans, compared with node-llama-cpp called directly with the same batch, alternately in one process.
 *
 *     node --conditions=@divisi/source bench/throughput.ts [--plans 200] [--sequences 16] [--rounds 7]
 */

import { WorkflowText } from "@divisi/core"
import { WorkerStream } from "@divisi/core/streams"
import { WorkflowGrammar } from "@divisi/gguf/browser"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { LlamaGrammarEvaluationState } from "node-llama-cpp"
import * as LlamaCppModel from "../src/LlamaCppModel.ts"
import { median, option, print, tinyModel } from "./tinyModel.ts"

const plans = option("plans", 200)
const sequences = option("sequences", 16)
const rounds = option("rounds", 7)
const limit = option("tokens", 96)
/** Then the lists have to come, here and there. */
const reasoningTokens = 16
const rules = { poolSize: 7, maxSteps: 5, access: "binary", allowEmpty: false } as const
const format = { type: "workflow", ...rules } as const
const sampling = { temperature: 1, topK: 0, topP: 1, minP: 0 }

const question = (index: number) => [
  { role: "system" as const, content: "You plan work for seven models. ".repeat(8) },
  { role: "user" as const, content: `Question ${index}: what is ${index} times 7?` }
]

const program = Effect.gen(function* () {
  const source = yield* Effect.promise(() => tinyModel())
  const options = { source, gpu: "none", contextTokens: 1024, sequences } as const
  const ours = yield* LlamaCppModel.load(options)
  // Without shared prefixes, a context that is used directly behaves the same.
  const bare = yield* LlamaCppModel.load({ ...options, queueLimit: 0 })
  const worker = LlamaCppModel.worker(ours, { ...sampling, reasoningTokens })

  const runOurs = (index: number) =>
    Effect.map(
      Stream.runCollect(
        WorkerStream.generate(worker, { messages: question(index), maxOutputTokens: limit, seed: index, format })
      ),
      (parts) => {
        const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
        const finish = parts.at(-1)
        const isValid = Result.isSuccess(
          WorkflowText.read(text.slice(WorkflowGrammar.span(text)?.start), { ...rules, mode: "strict" })
        )
        return { tokens: finish?.type === "finish" ? finish.usage.outputTokens : 0, isValid }
      }
    )

  const compile = (grammar: string) => Effect.promise(() => bare.llama.llama.createGrammar({ grammar }))
  const grammar = yield* compile(WorkflowGrammar.make(rules))
  const lists = WorkflowGrammar.make({ ...rules, reasoning: false }).replace("root ::= ", 'root ::= "\\n" ')
  const listsOnly = yield* compile(lists)
  const prompts = Array.from({ length: plans }, (_, index) => {
    const text = question(index).map(({ content, role }) => `<|im_start|>${role}\n${content}<|im_end|>\n`)
    return bare.llama.tokenize(`${text.join("")}<|im_start|>assistant\n`, true)
  })
  const slots = bare.runtime.scheduler.slots.map(({ sequence }) => sequence)
  /** The best direct use of node-llama-cpp: each sequence retains its prefix, and takes the next prompt. */
  const runBare = async () => {
    let next = 0
    let tokens = 0
    await Promise.all(
      slots.map(async (sequence) => {
        while (next < plans) {
          const index = next++
          const prompt = prompts[index]!
          await sequence.adaptStateToTokens(prompt.slice(0, -1), false)
          let state = new LlamaGrammarEvaluationState({ model: bare.llama, grammar })
          const grammarEvaluationState = () => state
          const rest = prompt.slice(sequence.nextTokenIndex)
          const sampled = sequence.evaluate(rest, {
            ...sampling,
            seed: index,
            grammarEvaluationState,
            yieldEogToken: true
          })
          const own = []
          for await (const token of sampled) {
            own.push(token)
            if (own.length >= limit || bare.llama.isEogToken(token)) break
            if (own.length === reasoningTokens)
              state = new LlamaGrammarEvaluationState({ model: bare.llama, grammar: listsOnly })
          }
          bare.llama.detokenize(own)
          tokens += own.length
        }
      })
    )
    return tokens
  }

  const rates: { ours: Array<number>; bare: Array<number> } = { ours: [], bare: [] }
  let valid = 0
  for (let round = 0; round <= rounds; round++) {
    const before = performance.now()
    const results = yield* Effect.forEach(
      Array.from({ length: plans }, (_, index) => index),
      runOurs,
      {
        concurrency: "unbounded"
      }
    )
    const between = performance.now()
    const bareTokens = yield* Effect.promise(runBare)
    const after = performance.now()
    valid += results.filter(({ isValid }) => isValid).length
    // The first round warms up.
    if (round === 0) continue
    rates.ours.push((1000 * results.reduce((sum, { tokens }) => sum + tokens, 0)) / (between - before))
    rates.bare.push((1000 * bareTokens) / (after - between))
  }
  print({
    plans,
    sequences,
    rounds,
    valid: `${valid} of ${plans * (rounds + 1)}`,
    tokensPerSecond: { ours: Math.round(median(rates.ours)), bare: Math.round(median(rates.bare)) },
    ratio: Number(median(rates.ours.map((rate, index) => rate / rates.bare[index]!)).toFixed(3))
  })
})

await Effect.runPromise(Effect.scoped(program))
