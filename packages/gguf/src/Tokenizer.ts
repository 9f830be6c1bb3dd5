/**
 * Byte-level BPE, the tokenizer of GPT-2. A page of text is enough to train it.
 *
 * Any string can be encoded, and decoding restores it exactly. {@link encode} produces the same tokens as llama.cpp for
 * a file with this tokenizer, so programs can count, mask and compare tokens without loading a model.
 */
import { Options as Tables } from "@divisi/core"
import * as Result from "effect/Result"
import type { GgufError } from "./GgufError.ts"
import * as Errors from "./GgufError.ts"
import * as ByteLevel from "./internal/byteLevel.ts"
import { type Merges, mergeWord } from "./internal/mergeWord.ts"
import { trainMerges } from "./internal/trainMerges.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/**
 * A vocabulary with its merges. Ids are assigned in order: the 256 bytes by value, one token for each merge that
 * creates a new string, then the control tokens.
 */
export interface Tokenizer {
  /** All tokens, indexed by id. Bytes are in GPT-2 notation (a space is `Ġ`); control tokens are verbatim. */
  readonly tokens: ReadonlyArray<string>
  /** Merged token pairs in order of priority, such as `"Ġ t"`. */
  readonly merges: ReadonlyArray<string>
  /** Tokens that are not part of ordinary text, such as those that end messages and turns. */
  readonly controlTokens: ReadonlyArray<string>
  /** Id of the end-of-text token, which is the first control token. */
  readonly endOfText: number
  /** Jinja template that renders messages to a prompt. Models without a template receive plain text. */
  readonly chatTemplate?: string | undefined
}

const table = {
  merges: Tables.listOf(Tables.text),
  controlTokens: Tables.listOf(Tables.text),
  chatTemplate: Tables.text
} satisfies Tables.ShapeOf<Options>

const trainTable = Tables.table({ ...table, merges: Tables.whole(0) }, { required: ["merges"] })

/** Options for {@link make}. */
export interface Options {
  /** The merges. Default: none, so that every byte is a token. */
  readonly merges?: ReadonlyArray<string> | undefined
  /** The control tokens. The first one ends a text. Default: `<|endoftext|>`, `<|im_start|>` and `<|im_end|>`. */
  readonly controlTokens?: ReadonlyArray<string> | undefined
  readonly chatTemplate?: string | undefined
}

/**
 * Options for encoding and decoding. `controlTokens` sets whether control tokens are parsed and printed. Default:
 * `false`.
 */
export interface TextOptions {
  readonly controlTokens?: boolean | undefined
}

/** The ChatML template for the default control tokens. */
export const chatMl =
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}" +
  "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

const defaultControlTokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]

const invalid = (detail: string) => Result.fail(Errors.make({ _tag: "InvalidTokenizer", detail }))

/** Creates a tokenizer from merges and control tokens. Fails if a merge uses a token that no earlier merge creates. */
export const make = (options: Options = {}): Result.Result<Tokenizer, GgufError> => {
  Tables.check("Tokenizer.make", options, table)
  const { chatTemplate, controlTokens = defaultControlTokens, merges = [] } = options
  const known = new Set(ByteLevel.characters)
  for (const [rank, merge] of merges.entries()) {
    const [left = "", right = "", ...rest] = merge.split(" ")
    if (rest.length > 0 || !known.has(left) || !known.has(right)) {
      return invalid(`Merge ${rank}, "${merge}", does not join bytes or results of earlier merges.`)
    }
    known.add(left + right)
  }
  if (controlTokens.length === 0) return invalid("There is no control token. One is needed to mark the end of a text.")
  const endOfText = known.size
  for (const token of controlTokens) {
    if (token === "" || known.has(token)) return invalid(`The control token "${token}" is empty or a duplicate.`)
    known.add(token)
  }
  return Result.succeed({ tokens: [...known], merges, controlTokens, endOfText, chatTemplate })
}

/** Like {@link make}, but throws the `GgufError`. For tokenizers defined in code. */
export const makeUnsafe = (options: Options = {}): Tokenizer => Result.getOrThrow(make(options))

/**
 * Learns merges from texts by repeatedly merging the most frequent token pair.
 *
 * **Details**
 *
 * The result is deterministic: among equally frequent pairs, the pair with the smaller ids is merged first. Training
 * stops early once no pair occurs twice.
 *
 * **Example**
 *
 * ```ts
 * import { Tokenizer } from "@divisi/gguf/browser"
 *
 * const tokenizer = Tokenizer.train(["the thin thing"], { merges: 2 })
 * tokenizer.merges // => ["t h", "Ġ th"]
 * Tokenizer.encode(tokenizer, "the the") // => [256, 101, 257, 101]
 * Tokenizer.decode(tokenizer, [257, 105, 110]) // => " thin"
 * ```
 */
export const train = (
  texts: Iterable<string>,
  options: { readonly merges: number } & Omit<Options, "merges">
): Tokenizer => {
  Tables.check("Tokenizer.train", options, trainTable)
  return makeUnsafe({ ...options, merges: trainMerges(texts, options.merges) })
}

// -------------------------------------------------------------------------------------------------------------------
// Tokenising
// -------------------------------------------------------------------------------------------------------------------

/** Lookup tables for encoding words, built once per tokenizer. */
interface Index {
  readonly ids: ReadonlyMap<string, number>
  readonly merges: Merges
  /** Control tokens, longest first, in the order in which llama.cpp matches them. */
  readonly controls: ReadonlyArray<string>
  readonly words: Map<string, ReadonlyArray<number>>
}

const indexes = new WeakMap<Tokenizer, Index>()

const makeIndex = (tokenizer: Tokenizer): Index => {
  const ids = new Map(tokenizer.tokens.map((token, id) => [token, id]))
  const merges = new Map<number, Map<number, { readonly rank: number; readonly id: number }>>()
  for (const [rank, merge] of tokenizer.merges.entries()) {
    const [left = "", right = ""] = merge.split(" ")
    const byRight = merges.get(ids.get(left)!) ?? new Map()
    byRight.set(ids.get(right)!, { rank, id: ids.get(left + right)! })
    merges.set(ids.get(left)!, byRight)
  }
  const controls = tokenizer.controlTokens.toSorted((left, right) => right.length - left.length)
  return { ids, merges, controls, words: new Map() }
}

const indexOf = (tokenizer: Tokenizer): Index => {
  const index = indexes.get(tokenizer) ?? makeIndex(tokenizer)
  indexes.set(tokenizer, index)
  return index
}

/** Maximum number of words whose tokens are cached. */
const rememberedWords = 65_536

const utf8 = new TextEncoder()

const encodeWord = ({ merges, words }: Index, word: string): ReadonlyArray<number> => {
  const known = words.get(word)
  if (known !== undefined) return known
  const tokens = mergeWord(Array.from(utf8.encode(word)), merges)
  if (words.size < rememberedWords) words.set(word, tokens)
  return tokens
}

/** Splits a text at control tokens. Returns the control tokens and the text between them, in order. */
const cut = (text: string, controls: ReadonlyArray<string>) => {
  let pieces = [{ text, isControl: false }]
  for (const control of controls) {
    pieces = pieces.flatMap((piece) =>
      piece.isControl
        ? [piece]
        : piece.text
            .split(control)
            .flatMap((part, place) => [
              ...(place === 0 ? [] : [{ text: control, isControl: true }]),
              ...(part === "" ? [] : [{ text: part, isControl: false }])
            ])
    )
  }
  return pieces
}

/** Encodes a text as token ids. Control tokens are treated as plain text unless `controlTokens` is `true`. */
export const encode = (tokenizer: Tokenizer, text: string, options: TextOptions = {}): Array<number> => {
  const index = indexOf(tokenizer)
  const pieces = options.controlTokens === true ? cut(text, index.controls) : [{ text, isControl: false }]
  const tokens: Array<number> = []
  for (const piece of pieces) {
    if (piece.isControl) tokens.push(index.ids.get(piece.text)!)
    else for (const word of ByteLevel.split(piece.text)) for (const token of encodeWord(index, word)) tokens.push(token)
  }
  return tokens
}

/** Returns the bytes of a token. Control tokens return the bytes of their name; unknown ids return `undefined`. */
export const bytesOf = (tokenizer: Tokenizer, id: number): Uint8Array | undefined => {
  const token = tokenizer.tokens[id]
  if (token === undefined) return undefined
  return id >= tokenizer.endOfText ? utf8.encode(token) : ByteLevel.read(token)
}

/**
 * Decodes token ids to text. Unknown ids are skipped, as are control tokens unless `controlTokens` is `true`.
 *
 * **Gotchas**
 *
 * Tokens are bytes, so an incomplete character decodes to U+FFFD.
 */
export const decode = (tokenizer: Tokenizer, tokens: Iterable<number>, options: TextOptions = {}): string => {
  const bytes: Array<number> = []
  for (const id of tokens) {
    if (id >= tokenizer.endOfText && options.controlTokens !== true) continue
    for (const byte of bytesOf(tokenizer, id) ?? []) bytes.push(byte)
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes))
}
