/**
 * Generates `passages.jsonl.gz`: `node src/retrieve.ts ENCODER`, with the folder of a sentence encoder
 * (all-MiniLM-L6-v2).
 *
 * The corpus consists of this repository's guides and reference pages. A passage is a paragraph, a list item or a table
 * row. Passages are stored, because the pages change but recorded prompts must not.
 */

import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { SentenceEncoder } from "@divisi/gguf"
import { LlamaCppEmbeddings } from "@divisi/policy-llamacpp"
import * as Effect from "effect/Effect"
import { type Found, file, perQuestion } from "./Passages.ts"
import * as Questions from "./Questions.ts"

const folder = process.argv[2]
if (folder === undefined) throw new Error("Name the folder of the sentence encoder: node src/retrieve.ts FOLDER")

const docs = fileURLToPath(new URL("../../../docs", import.meta.url))

/** Longer passages are cut: the encoder reads at most 256 tokens, and prompts must be short. */
const mostLength = 400

const passagesOf = (page: string): ReadonlyArray<string> =>
  page
    .replaceAll(/^```[\s\S]*?^```$/gm, "")
    .replaceAll(/^\s*(?=\||[-*] |\d+\. )/gm, "\n")
    .split(/\n\s*\n/)
    .map((part) => part.replaceAll(/\s+/g, " ").trim().slice(0, mostLength))
    .filter((part) => part.length >= 25 && !part.startsWith("#") && !/^[|\s:-]+$/.test(part))

const corpus = [
  ...new Set(
    fs
      .globSync(["*.md", "reference/*.md"], { cwd: docs })
      .sort()
      .flatMap((page) => passagesOf(fs.readFileSync(path.join(docs, page), "utf8")))
  )
]

const cosine = (left: ReadonlyArray<number>, right: ReadonlyArray<number>): number => {
  const dot = (one: ReadonlyArray<number>, other: ReadonlyArray<number>) =>
    one.reduce((sum, value, at) => sum + value * other[at]!, 0)
  return dot(left, right) / Math.sqrt(dot(left, left) * dot(right, right))
}

const program = Effect.gen(function* () {
  const encoder = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "encoder-")), "encoder.gguf")
  yield* SentenceEncoder.convert(folder, encoder)
  const embed = yield* LlamaCppEmbeddings.load({ source: encoder, gpu: "none", threads: 1, contextTokens: 256 })
  const points = yield* Effect.promise(() => embed(corpus))
  const questions = Questions.read()
  const asked = yield* Effect.promise(() => embed(questions.map(({ text }) => text)))
  return questions.map(({ id }, at): Found => {
    const scored = corpus.map((passage, index) => ({ passage, score: cosine(points[index]!, asked[at]!) }))
    const best = scored.toSorted((a, b) => b.score - a.score).slice(0, perQuestion)
    return { id, score: Number(best[0]!.score.toFixed(4)), passages: best.map(({ passage }) => passage) }
  })
})

const found = await Effect.runPromise(Effect.scoped(program))
const text = found.map((one) => `${JSON.stringify(one)}\n`).join("")
fs.writeFileSync(file, gzipSync(text, { level: 9 }))
process.stdout.write(`${corpus.length} passages\n`)
process.exit(0)
