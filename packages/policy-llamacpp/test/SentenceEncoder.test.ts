import fs from "node:fs"
import path from "node:path"
import { SentenceEncoder } from "@divisi/gguf"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as LlamaCppEmbeddings from "../src/LlamaCppEmbeddings.ts"
import { folder } from "./model.ts"
import { states, tokensOf, weights, writeModel } from "./sentenceEncoder.ts"

const texts = ["How much is the violin?", "a", "Ä violin, the the the.", "zebra quartz"]

const unit = (point: ReadonlyArray<number>) => {
  const length = Math.hypot(...point)
  return point.map((value) => value / length)
}

const modelIn = (name: string, changes: Parameters<typeof writeModel>[1] = {}) =>
  Effect.promise(async () => {
    const place = path.join(folder, name)
    fs.mkdirSync(place)
    await writeModel(place, changes)
    return place
  })

const embedded = (name: string, changes: Parameters<typeof writeModel>[1] = {}, contextTokens?: number) =>
  Effect.gen(function* () {
    const file = path.join(folder, `${name}.gguf`)
    yield* SentenceEncoder.convert(yield* modelIn(name, changes), file, { type: "F32" })
    const embed = yield* LlamaCppEmbeddings.load({ source: file, gpu: "none", threads: 1, contextTokens })
    return yield* Effect.promise(() => embed(texts))
  })

/** Returns the result of plain arithmetic with the same weights. */
const expected = (pooled: (rows: ReadonlyArray<ReadonlyArray<number>>) => ReadonlyArray<number>) =>
  texts.map((text) => unit(pooled(states(weights(), tokensOf(text.normalize("NFD").replace(/\p{M}/gu, ""))))))

const assertAlike = (found: ReadonlyArray<ReadonlyArray<number>>, points: ReadonlyArray<ReadonlyArray<number>>) => {
  for (const [index, point] of points.entries()) {
    for (const [place, value] of unit(found[index]!).entries()) assert.closeTo(value, point[place]!, 2e-3)
  }
}

describe("A sentence encoder that was converted", () => {
  it.effect("embeds as plain arithmetic does with its weights, the mean over all tokens", () =>
    Effect.gen(function* () {
      const mean = (rows: ReadonlyArray<ReadonlyArray<number>>) =>
        rows[0]!.map((_, index) => rows.reduce((sum, row) => sum + row[index]!, 0) / rows.length)
      assertAlike(yield* embedded("mean"), expected(mean))
      // If texts are cut this early, attention is computed in another way.
      assertAlike(yield* embedded("short", {}, 48), expected(mean))
    }).pipe(Effect.scoped)
  )

  it.effect("or the first token's state, with tensors named as of a model with a head", () =>
    Effect.gen(function* () {
      const pooling = { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false }
      assertAlike(
        yield* embedded("cls", { pooling, tensors: weights("bert.") }),
        expected((rows) => rows[0]!)
      )
    }).pipe(Effect.scoped)
  )

  it.effect("with 8 bits a number by default, and with the whole numbers in older files", () =>
    Effect.gen(function* () {
      const ids = { shape: [16], data: new Float32Array(16) }
      const place = yield* modelIn("eight", { tensors: { ...weights(), "embeddings.position_ids": ids } })
      const stored = path.join(place, "model.safetensors")
      const bytes = fs.readFileSync(stored)
      bytes.write("I32", bytes.indexOf("F32", bytes.indexOf("position_ids")))
      fs.writeFileSync(stored, bytes)
      const [file, whole] = [path.join(folder, "eight.gguf"), path.join(folder, "whole.gguf")]
      yield* SentenceEncoder.convert(place, file)
      yield* SentenceEncoder.convert(place, whole, { type: "F32" })
      assert.isBelow(fs.statSync(file).size, fs.statSync(whole).size)
      const embed = (source: string) =>
        Effect.flatMap(LlamaCppEmbeddings.load({ source, gpu: "none", threads: 1 }), (of) =>
          Effect.promise(() => of(texts))
        )
      const [found, exact] = [yield* embed(file), yield* embed(whole)]
      for (const [at, point] of found.entries()) {
        const likeness = unit(point).reduce((sum, value, place) => sum + value * unit(exact[at]!)[place]!, 0)
        assert.isAbove(likeness, 0.999)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("fails if the files are of another kind, and the error names the cause", () =>
    Effect.gen(function* () {
      const refused: ReadonlyArray<readonly [string, Parameters<typeof writeModel>[1], RegExp]> = [
        ["roberta", { config: { model_type: "roberta" } }, /config\.json.*model_type/s],
        ["relu", { config: { hidden_act: "relu" } }, /hidden_act/],
        ["cased", { tokenizer: { normalizer: { type: "BertNormalizer", lowercase: false } } }, /lowercase/],
        ["wider", { config: { hidden_size: 48 } }, /word_embeddings.*\[\d+,32\].*\[\d+,48\]/s],
        ["longer", { config: { num_hidden_layers: 1_000_000 } }, /num_hidden_layers/],
        ["smaller", { config: { vocab_size: 20 } }, /The id \d+/],
        ["max", { pooling: { pooling_mode_max_tokens: true } }, /pooling_mode_max_tokens/],
        ["both", { pooling: { pooling_mode_cls_token: true, pooling_mode_mean_tokens: true } }, /1_Pooling/]
      ]
      for (const [name, changes, problem] of refused) {
        const file = path.join(folder, `${name}.gguf`)
        const error = yield* Effect.flip(SentenceEncoder.convert(yield* modelIn(name, changes), file))
        assert.match(error.message, problem)
        assert.isFalse(fs.existsSync(file))
      }
      const missing = yield* Effect.flip(SentenceEncoder.convert(path.join(folder, "nowhere"), "none.gguf"))
      assert.match(missing.message, /config\.json: There is no such file/)
    })
  )
})
