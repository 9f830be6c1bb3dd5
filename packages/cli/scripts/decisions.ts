/**
 * How long a router takes to decide: from the text of a question to the worker that is asked.
 *
 * `node --conditions=@divisi/source packages/cli/scripts/decisions.ts FILE`
 *
 * FILE holds graded answers, as for `divisi bench routing`. A table is learned from 2,000 of its questions, and each of 1,000
 * others (with the encoder from 300, and 300) is decided on, one after the other, on one thread: with hashed words, and with a sentence encoder of the size of
 * all-MiniLM-L6-v2 in llama.cpp. The encoder's weights are random, which changes what it decides and not how long that
 * takes; its words are those of the file. Prints JSON.
 */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import * as Embedder from "@divisi/core/Embedder"
import * as Seed from "@divisi/core/Seed"
import * as Safetensors from "@divisi/gguf/Safetensors"
import * as SentenceEncoder from "@divisi/gguf/SentenceEncoder"
import type * as Tensor from "@divisi/gguf/Tensor"
import { LlamaCppEmbeddings } from "@divisi/policy-llamacpp"
import { Outcomes, Router, Table } from "@divisi/policy-router"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

const sizes = { hidden: 384, heads: 12, inner: 1536, layers: 6, positions: 512, words: 30_522 }
const letters = "abcdefghijklmnopqrstuvwxyz0123456789.,;:!?'\"()[]{}+-*/=<>#$%&_|~^@\\`".split("")

/** Special tokens, letters, and the most frequent words. */
const vocabularyOf = (texts: ReadonlyArray<string>): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  for (const word of texts
    .join(" ")
    .toLowerCase()
    .match(/[a-z]{2,}/g) ?? []) {
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  const words = [...counts].toSorted((left, right) => right[1] - left[1]).map(([word]) => word)
  const all = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ...letters, ...letters.map((one) => `##${one}`), ...words]
  return all.slice(0, sizes.words)
}

const weightsOf = (): Readonly<Record<string, Tensor.DenseTensor>> => {
  const { hidden, inner, layers, positions, words } = sizes
  const draw = Seed.draw(1)
  const tensors: Record<string, Tensor.DenseTensor> = {}
  const add = (name: string, ...shape: ReadonlyArray<number>) => {
    const isNorm = name.endsWith("LayerNorm.weight")
    const data = Float32Array.from({ length: shape.reduce((a, b) => a * b) }, () => +isNorm + 0.1 * (draw() - 0.5))
    tensors[name] = { shape, data }
  }
  const linear = (name: string, ...shape: ReadonlyArray<number>) => {
    add(`${name}.weight`, ...shape)
    add(`${name}.bias`, shape[0]!)
  }
  add("embeddings.word_embeddings.weight", words, hidden)
  add("embeddings.position_embeddings.weight", positions, hidden)
  add("embeddings.token_type_embeddings.weight", 2, hidden)
  linear("embeddings.LayerNorm", hidden)
  for (let layer = 0; layer < layers; layer++) {
    const name = `encoder.layer.${layer}`
    for (const part of ["query", "key", "value"]) linear(`${name}.attention.self.${part}`, hidden, hidden)
    linear(`${name}.attention.output.dense`, hidden, hidden)
    linear(`${name}.attention.output.LayerNorm`, hidden)
    linear(`${name}.intermediate.dense`, inner, hidden)
    linear(`${name}.output.dense`, hidden, inner)
    linear(`${name}.output.LayerNorm`, hidden)
  }
  return tensors
}

/** The encoder as a GGUF file in a folder. */
const encoderIn = (folder: string, texts: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const vocabulary = vocabularyOf(texts)
    const write = (name: string, value: object) => fs.writeFileSync(path.join(folder, name), JSON.stringify(value))
    write("config.json", {
      model_type: "bert",
      hidden_act: "gelu",
      hidden_size: sizes.hidden,
      num_hidden_layers: sizes.layers,
      num_attention_heads: sizes.heads,
      intermediate_size: sizes.inner,
      max_position_embeddings: sizes.positions,
      type_vocab_size: 2,
      vocab_size: sizes.words,
      layer_norm_eps: 1e-12
    })
    const vocab = Object.fromEntries(vocabulary.map((token, id) => [token, id]))
    write("tokenizer.json", {
      normalizer: { type: "BertNormalizer", lowercase: true },
      model: { type: "WordPiece", continuing_subword_prefix: "##", vocab }
    })
    yield* Safetensors.write(path.join(folder, "model.safetensors"), { tensors: weightsOf() })
    const file = path.join(folder, "encoder.gguf")
    yield* SentenceEncoder.convert(folder, file)
    return file
  })

/** Decides on questions, and says how long each took. */
const timed = (
  embedder: Embedder.Embedder,
  questions: ReadonlyArray<Outcomes.GradedQuestion>,
  { count, learned }: { readonly learned: number; readonly count: number }
) =>
  Effect.gen(function* () {
    const examples = yield* Outcomes.examples(questions.slice(0, learned), embedder)
    const decide = Router.decider(Result.getOrThrow(Table.fit(examples, { embedder: embedder.name })))
    const taken: Array<{ readonly wall: number; readonly cpu: number }> = []
    for (const { text } of questions.slice(learned, learned + count)) {
      const [from, before] = [performance.now(), process.cpuUsage()]
      const [point] = yield* embedder.embed([text!])
      decide(point!)
      const { system, user } = process.cpuUsage(before)
      taken.push({ wall: performance.now() - from, cpu: (system + user) / 1000 })
    }
    // The first ones are compiled.
    const measured = taken.slice(count / 10)
    const figures = (field: "wall" | "cpu") => {
      const sorted = measured.map((one) => one[field]).sort((left, right) => left - right)
      const at = (share: number) => Number(sorted[Math.floor(share * (sorted.length - 1))]!.toFixed(3))
      return { p50: at(0.5), p95: at(0.95), p99: at(0.99), most: at(1) }
    }
    // On a machine that has more to do than processors, wall times tell of the others; CPU times do not.
    return {
      embedder: embedder.name,
      decisions: measured.length,
      wallMillis: figures("wall"),
      cpuMillis: figures("cpu")
    }
  })

const program = Effect.gen(function* () {
  const read = yield* Outcomes.read(process.argv[2]!, { onUnusable: () => {} })
  const questions = Seed.shuffled(
    Seed.draw(0),
    read.filter(({ text }) => text !== undefined)
  )
  const characters = questions.map(({ text }) => text!.length).sort((left, right) => left - right)
  const hashed = yield* timed(Embedder.hashed(), questions, { learned: 2_000, count: 1_000 })
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "divisi-decisions-"))),
    (place) => Effect.sync(() => fs.rmSync(place, { recursive: true, force: true }))
  )
  const source = yield* encoderIn(
    folder,
    questions.map(({ text }) => text!)
  )
  const embed = yield* LlamaCppEmbeddings.load({ source, gpu: "none", threads: 1, contextTokens: 256 })
  const own = Embedder.fromPromise("encoder", embed, { batch: 1 })
  const encoder = yield* timed(own, questions, { learned: 300, count: 300 })
  const median = characters[Math.floor(characters.length / 2)]
  return { file: path.basename(process.argv[2]!), medianCharacters: median, measured: [hashed, encoder] }
}).pipe(Effect.scoped)

process.stdout.write(`${JSON.stringify(await Effect.runPromise(program), undefined, 2)}\n`)
