/**
 * Returns the visible part of a model's text, without its reasoning. For long texts, only the end is read, where
 * answers are.
 */

/** Number of characters read from the end of a text. Bounds the processing time for hostile input. */
const maxLength = 20_000

/** Delimiters of reasoning: `<think>`, `◁think▷`, `[THINK]`, `<|begin_of_thought|>`, with or without a namespace. */
const thoughts =
  /[<◁](?<close>\/?)(?:\w{1,12}:)?(?:think(?:ing)?|thoughts?|reasoning|scratchpad|reflection)[>▷]|\[(?<ended>\/?)THINK\]|<\|(?<side>begin|end)_of_thought\|>/gi

/** Channels of a message. The last one is the answer if its name is "final": `<|channel|>final<|message|>…<|end|>`. */
const channels = /<\|channel\|>\s*(\w+)[^<]{0,40}<\|message\|>/g

const inFinalChannel = (text: string): string => {
  if (!text.includes("<|channel|>")) return text
  const last = [...text.matchAll(channels)].at(-1)
  if (last === undefined || last[1] !== "final") return ""
  return text.slice(last.index + last[0].length).replace(/<\|[\s\S]*$/, "")
}

/** Tokens of chat templates at the start and the end of a text, and around a box: `<|assistant|>`, `</s>`. */
const opening = /^(?:\s*<\|\w{1,24}\|>)+/
const closing = /(?:\s*(?:<\|\w{1,24}\|>|<\/s>|<eos>|<end_of_turn>|\[\/?INST\]))+\s*$/
const boxTokens = /<\|(begin|end)_of_box\|>/g

/** Removes the tokens of chat templates. */
export const withoutTokens = (text: string): string =>
  text
    .replace(boxTokens, (_, side) => (side === "begin" ? "<answer>" : "</answer>"))
    .replace(opening, "")
    // Between <s> and </s>, a text is struck out.
    .replace(text.includes("<s>") ? /(?!)/ : closing, "")

/** Returns the text after the last block of reasoning. An unclosed block hides everything after it. */
export const spoken = (text: string): string => {
  let from = 0
  let to: number | undefined
  for (const { 0: mark, groups, index } of text.matchAll(thoughts)) {
    const isEnd = groups!.close === "/" || groups!.ended === "/" || groups!.side?.toLowerCase() === "end"
    if (isEnd) from = index + mark.length
    if (isEnd) to = undefined
    else to ??= index
  }
  return withoutTokens(inFinalChannel(text.slice(from, to)).trim().slice(-maxLength)).trim()
}
