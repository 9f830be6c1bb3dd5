/** Separates reasoning between tags from the text of a model, piece by piece, as a pure fold. */

/** The state after the text processed up to this point. */
export interface Thinking {
  /** Number of open tags. */
  readonly depth: number
  /** Withheld text that may be the start of a tag. */
  readonly held: string
  /** Whitespace at the start of the answer. It is dropped if a tag follows. */
  readonly blank: string
  /** Whether text outside of tags has been emitted; whitespace before it is dropped. */
  readonly hasText: boolean
  /** Whether an opening or closing tag has been read. */
  readonly hasTags: boolean
}

/** A chunk of text or reasoning. */
export interface Piece {
  readonly type: "text" | "reasoning"
  readonly text: string
}

/** The next state and the pieces to emit. */
export interface Taken {
  readonly thinking: Thinking
  readonly pieces: ReadonlyArray<Piece>
  /** Whether all previous text was reasoning, because its tag was closed without having been opened. */
  readonly wasThought: boolean
}

/** The initial state. */
export const start: Thinking = { depth: 0, held: "", blank: "", hasText: false, hasTags: false }

/**
 * The tags of known models: the most common ones, then those of ByteDance Seed and MiniMax, Mistral Magistral, Kimi-VL,
 * Cohere, OpenThinker, Gemma and gpt-oss. The model writes them in its text, so a server without a parser forwards them.
 */
const pairs: ReadonlyArray<readonly [open: string, close: string]> = [
  ...["think", "thinking", "thought", "reasoning", "seed:think", "mm:think"].map(
    (name) => [`<${name}>`, `</${name}>`] as const
  ),
  ["[think]", "[/think]"],
  ["◁think▷", "◁/think▷"],
  ["<|start_thinking|>", "<|end_thinking|>"],
  ["<|begin_of_thought|>", "<|end_of_thought|>"],
  ["<|channel>thought", "<channel|>"],
  ["<|channel>", "<channel|>"],
  ["<|channel|>analysis", "<|end|>"]
]

const closing: ReadonlySet<string> = new Set(pairs.map(([, close]) => close))

/** Tokens of gpt-oss that are no text. They count only after a tag; the channel `final` ends all reasoning. */
const marks: ReadonlySet<string> = new Set([
  "<|start|>assistant",
  "<|channel|>final",
  "<|message|>",
  "<|end|>",
  "<|return|>"
])

const known: ReadonlyArray<string> = [...new Set([...pairs.flat(), ...marks])]

const escape = (text: string): string => text.replaceAll(/[|[\]/]/g, "\\$&").replace(">", "\\s{0,8}>")

const tags = new RegExp(known.map(escape).join("|"), "gi")

const plain = (tag: string): string => tag.toLowerCase().replaceAll(/\s/g, "")

/** Upper bound for the length of a tag. */
const longest = 32

/** Returns the position at which an incomplete tag may start, or the length of the text if there is none. */
const heldFrom = (text: string): number => {
  const at = Math.max(text.lastIndexOf("<"), text.lastIndexOf("["), text.lastIndexOf("◁"))
  return at === -1 || text.length - at > longest || !isBeginning(text.slice(at)) ? text.length : at
}

const isBeginning = (text: string): boolean => {
  const beginning = plain(text)
  // Whitespace is allowed only before the last character of a tag.
  return known.some(
    (tag) => tag.startsWith(beginning) && (plain(text) === text.toLowerCase() || tag === `${beginning}>`)
  )
}

const push = (pieces: Array<Piece>, thinking: Thinking, text: string): Thinking => {
  const type = thinking.depth > 0 ? "reasoning" : "text"
  const isFirst = type === "text" && !thinking.hasText
  if (isFirst && !thinking.hasTags && text.trim() === "") return { ...thinking, blank: thinking.blank + text }
  // Models write line breaks between their reasoning and their answer.
  const own = !isFirst ? text : thinking.hasTags ? text.trimStart() : thinking.blank + text
  if (own === "") return thinking
  const last = pieces.at(-1)
  if (last?.type === type) pieces[pieces.length - 1] = { type, text: last.text + own }
  else pieces.push({ type, text: own })
  return type === "text" ? { ...thinking, hasText: true } : thinking
}

const depthAfter = (depth: number, name: string, isMark: boolean): number => {
  if (isMark) return name === "<|channel|>final" ? 0 : depth
  return closing.has(name) ? Math.max(0, depth - 1) : depth + 1
}

/** Processes a chunk of text. */
export const take = (before: Thinking, piece: string): Taken => {
  const text = before.held + piece
  const end = heldFrom(text)
  const pieces: Array<Piece> = []
  let thinking: Thinking = { ...before, held: text.slice(end) }
  let wasThought = false
  let from = 0
  for (const { 0: tag, index } of text.slice(0, end).matchAll(tags)) {
    const name = plain(tag)
    const isMark = marks.has(name) && (name !== "<|end|>" || thinking.depth === 0)
    if (isMark && !thinking.hasTags && name !== "<|channel|>final") continue
    const isClosing = closing.has(name)
    const isOrphan = isClosing && !isMark && thinking.depth === 0
    thinking = push(pieces, thinking, text.slice(from, index))
    if (isOrphan && !thinking.hasTags) {
      wasThought = true
      for (const [at, { text }] of pieces.entries()) pieces[at] = { type: "reasoning", text }
      thinking = { ...thinking, hasText: false }
    }
    thinking = { ...thinking, depth: depthAfter(thinking.depth, name, isMark), hasTags: true }
    from = index + tag.length
  }
  return { thinking: push(pieces, thinking, text.slice(from, end)), pieces, wasThought }
}

/** Returns the text withheld at the end of the answer: the start of a tag that was never completed. */
export const rest = (thinking: Thinking): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = []
  const { blank } = push(pieces, thinking, thinking.held)
  return pieces.length === 0 && blank !== "" && !thinking.hasTags ? [{ type: "text", text: blank }] : pieces
}
