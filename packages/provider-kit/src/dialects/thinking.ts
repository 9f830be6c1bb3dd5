/** Takes reasoning that a model writes between tags out of its text, piece by piece: a pure fold. */

/** How far a text has been read. */
export interface Thinking {
  /** How many tags are open. */
  readonly depth: number
  /** The beginning of what may become a tag. */
  readonly held: string
  /** Whether text has come outside of tags; spaces before it are left out. */
  readonly hasText: boolean
  /** Whether a tag has been opened or closed. */
  readonly hasTags: boolean
}

/** A piece of text or of reasoning. */
export interface Piece {
  readonly type: "text" | "reasoning"
  readonly text: string
}

/** The output for a piece. */
export interface Taken {
  readonly thinking: Thinking
  readonly pieces: ReadonlyArray<Piece>
  /** Whether all text before was reasoning: its tag was closed, and never opened in what the model wrote. */
  readonly wasThought: boolean
}

/** A text before its first piece. */
export const start: Thinking = { depth: 0, held: "", hasText: false, hasTags: false }

/**
 * The tags of models: of most; ByteDance's Seed and MiniMax; Mistral's Magistral; Kimi-VL; Cohere; and OpenThinker. Each is
 * written in the model's own text, so a server without a parser for it passes it on.
 */
const pairs: ReadonlyArray<readonly [open: string, close: string]> = [
  ...["think", "thinking", "thought", "reasoning", "seed:think", "mm:think"].map(
    (name) => [`<${name}>`, `</${name}>`] as const
  ),
  ["[think]", "[/think]"],
  ["◁think▷", "◁/think▷"],
  ["<|start_thinking|>", "<|end_thinking|>"],
  ["<|begin_of_thought|>", "<|end_of_thought|>"]
]

const closing: ReadonlySet<string> = new Set(pairs.map(([, close]) => close))

const escape = (text: string): string => text.replaceAll(/[|[\]/]/g, "\\$&").replace(">", "\\s{0,8}>")

const tags = new RegExp(pairs.flat().map(escape).join("|"), "gi")

const plain = (tag: string): string => tag.toLowerCase().replaceAll(/\s/g, "")

/** Longer than any tag. */
const longest = 32

/** Returns the position of a possible incomplete tag; the length of the text without a tag. */
const heldFrom = (text: string): number => {
  const at = Math.max(text.lastIndexOf("<"), text.lastIndexOf("["), text.lastIndexOf("◁"))
  return at === -1 || text.length - at > longest || !isBeginning(text.slice(at)) ? text.length : at
}

const isBeginning = (text: string): boolean => {
  const beginning = plain(text)
  // Spaces may be before the last sign of a tag alone.
  return pairs
    .flat()
    .some((tag) => tag.startsWith(beginning) && (plain(text) === text.toLowerCase() || tag === `${beginning}>`))
}

const push = (pieces: Array<Piece>, thinking: Thinking, text: string): Thinking => {
  const type = thinking.depth > 0 ? "reasoning" : "text"
  // A model writes lines between its reasoning and its answer.
  const own = type === "text" && !thinking.hasText && thinking.hasTags ? text.trimStart() : text
  if (own === "") return thinking
  const last = pieces.at(-1)
  if (last?.type === type) pieces[pieces.length - 1] = { type, text: last.text + own }
  else pieces.push({ type, text: own })
  return type === "text" ? { ...thinking, hasText: true } : thinking
}

/** Takes a piece of text. */
export const take = (before: Thinking, piece: string): Taken => {
  const text = before.held + piece
  const end = heldFrom(text)
  const pieces: Array<Piece> = []
  let thinking: Thinking = { ...before, held: text.slice(end) }
  let wasThought = false
  let from = 0
  for (const { 0: tag, index } of text.slice(0, end).matchAll(tags)) {
    const isClosing = closing.has(plain(tag))
    const isOrphan = isClosing && thinking.depth === 0
    thinking = push(pieces, thinking, text.slice(from, index))
    if (isOrphan && !thinking.hasTags) {
      wasThought = true
      for (const [at, { text }] of pieces.entries()) pieces[at] = { type: "reasoning", text }
      thinking = { ...thinking, hasText: false }
    }
    const depth = isClosing ? Math.max(0, thinking.depth - 1) : thinking.depth + 1
    thinking = { ...thinking, depth, hasTags: true }
    from = index + tag.length
  }
  return { thinking: push(pieces, thinking, text.slice(from, end)), pieces, wasThought }
}

/** Returns the remainder at the end of a text: the start of a tag that was never completed. */
export const rest = (thinking: Thinking): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = []
  push(pieces, thinking, thinking.held)
  return pieces
}
