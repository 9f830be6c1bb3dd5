/**
 * Sources of examples for supervised learning: prompts with completions that are to be learned.
 */

import { Seed } from "@divisi/core"
import type { Message } from "@divisi/core/Message"
import * as Effect from "effect/Effect"
import type { Datum, Tokenizer } from "./Engine.ts"
import type { GroupRecord, RolloutRecord } from "./RolloutRecord.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A part of a text with its own weight. */
export interface Span {
  /** The offset of its first character, and the one behind its last. */
  readonly start: number
  readonly end: number
  readonly weight: number
}

/** A text that is to be learned. */
export interface ExampleCompletion {
  readonly text: string
  /** The weight of everything that no span covers; 1 by default. */
  readonly weight?: number | undefined
  /**
   * Later spans take precedence if they overlap. A token has the weight of the span that contains its first character.
   */
  readonly spans?: ReadonlyArray<Span> | undefined
}

/** A prompt with one or more good completions. */
export interface Example {
  readonly messages: ReadonlyArray<Message>
  readonly completions: ReadonlyArray<ExampleCompletion>
}

/** An endless sequence of examples. */
export interface ExampleSource {
  /** For the record. */
  readonly name: string
  /** The example at a place (from 0), the same for the same seed. */
  readonly example: (seed: number, index: number) => Effect.Effect<Example>
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * A source from a function of the seed and the place.
 *
 * **Example**
 *
 * ```ts
 * import { ExampleSource } from "@divisi/trainer"
 *
 * const source = ExampleSource.make("counting", (_, index) => ({
 *   messages: [{ role: "user", content: `After ${index}?` }],
 *   completions: [{ text: String(index + 1) }]
 * }))
 * source.name // => "counting"
 * ```
 */
export const make = (
  name: string,
  example: (seed: number, index: number) => Example | Effect.Effect<Example>
): ExampleSource => ({
  name,
  example: (seed, index) =>
    Effect.suspend(() => {
      const made = example(seed, index)
      return Effect.isEffect(made) ? made : Effect.succeed(made)
    })
})

/** A source from a list, e.g. of recorded workflows: the whole list in a random order, again and again. */
export const fromExamples = (name: string, examples: ReadonlyArray<Example>): ExampleSource => {
  if (examples.length === 0) throw new RangeError(`Source ${name} has no examples. Add at least one.`)
  return make(name, (seed, index) => {
    const pass = Math.floor(index / examples.length)
    return Seed.shuffled(Seed.draw(Seed.spread(seed, "pass", pass)), examples)[index % examples.length]!
  })
}

/**
 * Examples from the rollouts of a run: for each question, the different first completions that were right.
 *
 * **Details**
 *
 * Rollouts store the question and the pool, not the prompt: `render` writes the prompt again, in this run's form or
 * another.
 *
 * **Example**
 *
 * ```ts
 * import { ExampleSource } from "@divisi/trainer"
 *
 * const examples = ExampleSource.ofRollouts([], ({ messages }) => messages)
 * examples // => []
 * ```
 */
export const ofRollouts = (
  records: Iterable<RolloutRecord>,
  render: (group: GroupRecord) => ReadonlyArray<Message>
): ReadonlyArray<Example> => {
  const found: Array<{ readonly group: GroupRecord; readonly texts: Set<string> }> = []
  for (const record of records) {
    if (record.type === "group") found.push({ group: record, texts: new Set() })
    else if (record.round === 0 && record.result === "correct") found.at(-1)?.texts.add(record.completion)
  }
  return found.flatMap(({ group, texts }) =>
    texts.size === 0 ? [] : [{ messages: render(group), completions: Array.from(texts, (text) => ({ text })) }]
  )
}

// -------------------------------------------------------------------------------------------------------------------
// Tokens
// -------------------------------------------------------------------------------------------------------------------

/** The offset in the decoded text at which each token begins. */
export const offsets = (tokenizer: Pick<Tokenizer, "decode">, tokens: ReadonlyArray<number>): ReadonlyArray<number> => {
  const begins: Array<number> = []
  let length = 0
  for (const token of tokens) {
    begins.push(length)
    length += tokenizer.decode([token]).length
  }
  // Characters that several tokens share are counted wrong one by one; then it is the prefixes that count.
  return length === tokenizer.decode(tokens).length
    ? begins
    : tokens.map((_, token) => tokenizer.decode(tokens.slice(0, token)).length)
}

const weightAt = ({ spans = [], weight = 1 }: ExampleCompletion, offset: number): number =>
  spans.findLast(({ end, start }) => offset >= start && offset < end)?.weight ?? weight

/** The completions of an example as data: each ends with the token that ends a turn. */
export const toData = (example: Example, tokenizer: Tokenizer): ReadonlyArray<Datum> => {
  const prompt = tokenizer.render(example.messages)
  return example.completions.map((completion) => {
    const tokens = tokenizer.encode(completion.text)
    return {
      prompt,
      completion: [...tokens, tokenizer.endToken],
      weights: [
        ...offsets(tokenizer, tokens).map((offset) => weightAt(completion, offset)),
        weightAt(completion, completion.text.length)
      ]
    }
  })
}
