/** What a model says to others: its text without its thoughts. Of a long text only the end, where answers stand. */

/** Characters of the end that are read. The limit bounds the time that a hostile text takes. */
const maxLength = 20_000

/** The marks around thoughts: `<think>`, `◁think▷`, `[THINK]`, `<|begin_of_thought|>`, with or without a namespace. */
const thoughts =
  /[<◁](?<close>\/?)(?:\w{1,12}:)?(?:think(?:ing)?|thoughts?|reasoning|scratchpad|reflection)[>▷]|\[(?<ended>\/?)THINK\]|<\|(?<side>begin|end)_of_thought\|>/gi

/** Channels of one message; the last one is the answer if it is named final: `<|channel|>final<|message|>…<|end|>`. */
const channels = /<\|channel\|>\s*(\w+)[^<]{0,40}<\|message\|>/g

const inFinalChannel = (text: string): string => {
  if (!text.includes("<|channel|>")) return text
  const last = [...text.matchAll(channels)].at(-1)
  if (last === undefined || last[1] !== "final") return ""
  return text.slice(last.index + last[0].length).replace(/<\|[\s\S]*$/, "")
}

/** The text behind the last thought. A thought that never ends hides everything after it. */
export const spoken = (text: string): string => {
  let from = 0
  let to: number | undefined
  for (const { 0: mark, groups, index } of text.matchAll(thoughts)) {
    const isEnd = groups!.close === "/" || groups!.ended === "/" || groups!.side?.toLowerCase() === "end"
    if (isEnd) from = index + mark.length
    if (isEnd) to = undefined
    else to ??= index
  }
  return inFinalChannel(text.slice(from, to)).trim().slice(-maxLength).trim()
}
