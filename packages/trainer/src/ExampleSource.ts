/**
 * Sources of examples for supervised learning: prompts with target completions.
 */

import { Seed } from "@divisi/core"
import type { Message } from "@divisi/core/Message"
import * as Effect from "effect/Effect"
import type { Datum, Tokenizer } from "./Engine.ts"
import type { GroupRecord, RolloutRecord } from "./RolloutRecord.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A part of a text with a separate weight. */
export interface Span {
  /** The offset of its first character. `end` is exclusive. */
  readonly start: number
  readonly end: number
  readonly weight: number
}

/** A target text. */
export interface ExampleCompletion {
  readonly text: string
  /** The weight of the text outside all spans. Default: 1. */
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
  /** The name of the source, for the records of a run. */
  readonly name: string
  /** Returns the example at a position, from 0. Equal seeds give equal examples. */
  readonly example: (seed: number, index: number) => Effect.Effect<Example>
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * Makes a source from a function of the seed and the position.
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

/** Makes a source from a list, e.g. of recorded workflows. It repeats the whole list in random order. */
export const fromExamples = (name: string, examples: ReadonlyArray<Example>): ExampleSource => {
  if (examples.length === 0) throw new RangeError(`Source ${name} has no examples. Add at least one.`)
  return make(name, (seed, index) => {
    const pass = Math.floor(index / examples.length)
    return Seed.shuffled(Seed.draw(Seed.spread(seed, "pass", pass)), examples)[index % examples.length]!
  })
}

/**
 * Makes examples from the rollouts of a run: for each question, the distinct first completions that were correct.
 *
 * **Details**
 *
 * Rollouts store the question and the pool, not the prompt. `render` creates the prompt again, in the same or another
 * form.
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

/** Returns the offset of each token in the decoded text. */
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

/** Converts the completions of an example to training data. Each ends with the end token. */
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
