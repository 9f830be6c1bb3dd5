/**
 * Returns the visible part of a model's text, without its reasoning. For long texts, only the end is read, where
 * answers are.
 */

/** Number of characters read from the end of a text. Bounds the processing time for hostile input. */
const maxLength = 20_000

/** Delimiters of reasoning: `<think>`, `◁think▷`, `[THINK]`, `<|begin_of_thought|>`, with or without a namespace. */
const thoughts =
  /[<◁](?<close>\/?)(?:\w{1,12}:)?(?:\w{0,8}(?:think(?:ing)?|thoughts?|reasoning|scratch_?pad|reflection)(?:_\w{1,12})?)[>▷]|\[(?<ended>\/?)THINK\]|<\|(?<side>begin|end)_of_thought\|>/gi

/** Channels of a message. The last one is the answer if its name is "final": `<|channel|>final<|message|>…<|end|>`. */
const channels = /<\|channel\|>\s*(\w+)[^<]{0,40}<\|message\|>/g

const inFinalChannel = (text: string): string => {
  if (!text.includes("<|channel|>")) return text
  const last = [...text.matchAll(channels)].at(-1)
  if (last === undefined || last[1] !== "final") return ""
  return text.slice(last.index + last[0].length).replace(/<\|[\s\S]*$/, "")
}

/** A token of a chat template: `<|im_end|>`, `</s>`, `[/INST]`, `<EOT>`, `[DONE]`. */
const token = String.raw`(?:<[|｜][^<>\n]{1,30}[|｜]>|<\/?[a-zA-Z_]{1,24}>|\[\/?[A-Z_]{3,24}\])`

/** Tokens and the name of the speaker at the start of a text, and tokens at its end. */
const opening = new RegExp(
  `^(?:\\s*${token})*(?:\\s*(?:#{1,4} *)?(?:assistant|model|response|ai)(?: *:|(?=\\s*\\n)|(?=\\s*<[|｜]))\\s*(?:<[|｜][^<>\\n]{1,30}[|｜]>)?)?\\s*`,
  "i"
)
const closing = new RegExp(`${token}$`)

/** The instruction before an answer. */
const instruction = /^[\s\S]*\[\/INST\](?=\s*\S)/

const boxTokens = /<\|(begin|end)_of_box\|>/g

/** Maximum number of tokens that are removed from the end of a text. */
const maxTokens = 8

/** Removes the tokens at the end of a text that have no counterpart in it. */
const withoutClosing = (text: string): string => {
  let rest = text.trimEnd()
  for (let count = 0; count < maxTokens; count++) {
    const found = closing.exec(rest.slice(-40))?.[0]
    if (found === undefined || found.length === rest.length) return rest
    const cut = rest.slice(0, -found.length).trimEnd()
    const name = /[a-zA-Z_]+/.exec(found)?.[0] ?? ""
    if (/^[<[]\//.test(found) && new RegExp(`[<[]${name}[\\s>\\]]`).test(cut)) return rest
    rest = cut
  }
  return rest
}

/** Removes the tokens at the start of a text that have no counterpart in it. */
const withoutOpening = (text: string): string => {
  const found = opening.exec(text)![0]
  const names = [...found.matchAll(/[<[]([a-zA-Z_]+)[>\]]/g)].map(([, name]) => name!)
  return found === text || names.some((name) => new RegExp(`[<[]/${name}[>\\]]`, "i").test(text))
    ? text
    : text.slice(found.length)
}

/** The turn of another speaker after the answer. */
const nextSpeaker = /(?<=\S\s*)<\|\w+\|>\s*<\|\w+\|>\s*(?:user|human)\b[\s\S]*$/i

/** The next question that a model makes up. */
const nextTurn =
  /(?<=\S\s*)(?:<\|(?:im_end|eot_id|end|endoftext|end_of_text)\|>\s*<\||\n\s*\n(?:\*\*)?(?:question|q|user|human|problem)(?:\*\*)?\s?#?\d{0,3}\s?:(?:\*\*)?\s)[\s\S]*$/i

/** Hidden text of forums: `||5||`, `>!5!<`, `[spoiler]5[/spoiler]`. */
const spoiler = /\|\|([^|\n]{1,200})\|\||>!([^\n]{1,200}?)!<|\[spoiler\]([^[\n]{1,200})\[\/spoiler\]/gi

/** The closing of a letter with the sender. */
const signature =
  /\n\s*(?:(?:kind|best|warm|many)\s+(?:regards|wishes|thanks)|regards|cheers|sincerely|yours(?: \w+)?|best|thanks|mfg|viele grüße|cordialement|saludos|saluti|abraços)\s*[,!]\s*\n[\s\S]{0,120}$/i

/** Removes the tokens of chat templates. */
export const withoutTokens = (given: string): string => {
  const own = given.replace(nextSpeaker, "")
  const cut = own.replace(nextTurn, (all, at: number) => (/answer|####|boxed/i.test(own.slice(0, at)) ? "" : all))
  const text = cut.replace(signature, "").replace(spoiler, (_, one, two, three) => one ?? two ?? three)
  const boxed = text.replace(boxTokens, (_, side) => (side === "begin" ? "<answer>" : "</answer>"))
  return withoutClosing(withoutOpening(boxed.replace(instruction, "")))
}

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
