/** Converts tokens to displayed text: complete characters, up to the first stop sequence. */
import type { LlamaModel, Token } from "node-llama-cpp"

/** Maximum number of tokens per character: one for each byte. */
const longestCharacter = 4

/** Number of preceding tokens that determine whether a token starts with a space. */
const remembered = 4

/** Converts tokens to text incrementally and withholds incomplete characters. */
export const detokenizer = (model: LlamaModel) => {
  let pending: Array<Token> = []
  let before: ReadonlyArray<Token> = []
  const take = (text: string): string => {
    before = [...before, ...pending].slice(-remembered)
    pending = []
    return text
  }
  return {
    push: (token: Token): string => {
      pending.push(token)
      const text = model.detokenize(pending, false, before)
      if (text.endsWith("\ufffd") && pending.length < longestCharacter) return ""
      return take(text)
    },
    /** Returns the withheld text, even if it is incomplete. */
    flush: (): string => (pending.length === 0 ? "" : take(model.detokenize(pending, false, before))),
    isPending: () => pending.length > 0
  }
}

/** Returns the length of the longest suffix that may be the start of a stop sequence. */
export const held = (text: string, stops: ReadonlyArray<string>): number => {
  let longest = 0
  for (const stop of stops) {
    for (let length = Math.min(stop.length - 1, text.length); length > longest; length--) {
      if (stop.startsWith(text.slice(-length))) longest = length
    }
  }
  return longest
}

/** Passes text through up to a stop sequence, and reports when one is reached. */
export const stopper = (stops: ReadonlyArray<string>) => {
  let waiting = ""
  return {
    push: (piece: string): { readonly text: string; readonly isStopped: boolean } => {
      if (stops.length === 0) return { text: piece, isStopped: false }
      waiting += piece
      const found = stops.map((stop) => waiting.indexOf(stop)).filter((at) => at >= 0)
      if (found.length > 0) return { text: waiting.slice(0, Math.min(...found)), isStopped: true }
      const end = waiting.length - held(waiting, stops)
      const text = waiting.slice(0, end)
      waiting = waiting.slice(end)
      return { text, isStopped: false }
    },
    /** Returns the withheld text, which was not a stop sequence. */
    rest: () => waiting
  }
}

const open = "<think>"
const close = "</think>"

/** Separates thinking between `<think>` and `</think>` at the start of a text from the answer after it. */
export const thinkingSplitter = (isThinking: boolean) => {
  let state: "start" | "thinking" | "gap" | "answer" = isThinking ? "thinking" : "start"
  let waiting = ""
  const answer = (text: string) => (text === "" ? [] : [{ type: "text" as const, text }])
  const thought = (text: string) => (text === "" ? [] : [{ type: "reasoning" as const, text }])
  const push = (piece: string): Array<{ readonly type: "text" | "reasoning"; readonly text: string }> => {
    if (state === "answer") return answer(piece)
    const text = waiting + piece
    waiting = ""
    if (state === "gap") {
      const rest = text.trimStart()
      if (rest !== "") state = "answer"
      return answer(rest)
    }
    if (state === "start") {
      const trimmed = text.trimStart()
      if (trimmed.startsWith(open)) {
        state = "thinking"
        return push(trimmed.slice(open.length))
      }
      if (open.startsWith(trimmed)) {
        waiting = text
        return []
      }
      state = "answer"
      return answer(text)
    }
    const end = text.indexOf(close)
    if (end >= 0) {
      state = "gap"
      return [...thought(text.slice(0, end)), ...push(text.slice(end + close.length))]
    }
    const length = held(text, [close])
    waiting = length === 0 ? "" : text.slice(-length)
    return thought(text.slice(0, text.length - length))
  }
  return { push, rest: () => (state === "thinking" ? thought(waiting) : answer(waiting)) }
}
