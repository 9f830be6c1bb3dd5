/** Sources of supervised training examples: prompts with target completions. */

import type { Message } from "@divisi/core/Message"
import * as Effect from "effect/Effect"
import type { Datum, Tokenizer } from "./Engine.ts"
import type { GroupRecord, RolloutRecord } from "./RolloutRecord.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Range of characters in a completion that has its own loss weight. */
export interface Span {
  /** Offset of the first character. `end` is the offset after the last character. */
  readonly start: number
  readonly end: number
  readonly weight: number
}

/** Target completion for a prompt. */
export interface ExampleCompletion {
  readonly text: string
  /** Weight of all text outside `spans`. Default: 1. */
  readonly weight?: number | undefined
  /**
   * Weights for parts of the text. If spans overlap, the last one applies. A token gets the weight of the span that
   * contains its first character.
   */
  readonly spans?: ReadonlyArray<Span> | undefined
}

/** Prompt with one or more target completions. */
export interface Example {
  readonly messages: ReadonlyArray<Message>
  readonly completions: ReadonlyArray<ExampleCompletion>
}

/** Endless, numbered sequence of examples. */
export interface ExampleSource {
  /** Name of the source, used in the run's records. */
  readonly name: string
  /** Returns the example at a position (from 0). The same seed and index always give the same example. */
  readonly example: (seed: number, index: number) => Effect.Effect<Example>
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * Creates a source from a function of seed and position.
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

/**
 * Creates training examples from recorded rollouts: for each question, the distinct first completions whose answer was
 * correct.
 *
 * **Details**
 *
 * Rollout records contain the question and the pool, but not the prompt. `render` creates the prompt, in the original
 * format or a different one.
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

/**
 * Returns the character offset of each token in the decoded text.
 *
 * @internal
 */
export const offsets = (tokenizer: Pick<Tokenizer, "decode">, tokens: ReadonlyArray<number>): ReadonlyArray<number> => {
  const begins: Array<number> = []
  let length = 0
  for (const token of tokens) {
    begins.push(length)
    length += tokenizer.decode([token]).length
  }
  // Decoding token by token miscounts characters that span several tokens; in that case, decode prefixes instead.
  return length === tokenizer.decode(tokens).length
    ? begins
    : tokens.map((_, token) => tokenizer.decode(tokens.slice(0, token)).length)
}

const weightAt = ({ spans = [], weight = 1 }: ExampleCompletion, offset: number): number =>
  spans.findLast(({ end, start }) => offset >= start && offset < end)?.weight ?? weight

/**
 * Converts the completions of an example to training data. An end token is appended to each completion.
 *
 * @internal
 */
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
