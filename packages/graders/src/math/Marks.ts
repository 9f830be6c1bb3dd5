/** Finds answers that a text marks: in boxes, tags or JSON. */
import { matches } from "../internal/matches.ts"

/** A marked answer and its position in the text. */
export interface Statement {
  readonly start: number
  readonly end: number
  readonly content: string
}

// -------------------------------------------------------------------------------------------------------------------
// Boxes
// -------------------------------------------------------------------------------------------------------------------

/** Returns the end of the group that opens at `start`, or `undefined` if it is not closed. */
const groupEnd = (text: string, start: number, limit = text.length): number | undefined => {
  let depth = 0
  for (let at = start; at < Math.min(limit, text.length); at++) {
    const character = text[at]
    if (character === "\\") at++
    else if (character === "{") depth++
    else if (character === "}" && --depth === 0) return at
  }
  return undefined
}

const opening =
  /\\(?:(?:begin)?(?:f?boxed|fbox|framebox)|(?:final)?ans(?:wer)?(?=\s*\{)|bbox\s*(?:\[[^\]]{0,200}\])?)\s*/g

const environment = /\\begin\s*\{boxed\}([\s\S]{1,2000}?)\\end\s*\{boxed\}/g

/** Replaces a nested box with its content. */
const opened = (content: string): string =>
  /\\f?box/.test(content) ? content.replace(/\\(?:f?boxed|fbox|framebox)\s*(?=\{)/g, "") : content

/** Returns the outermost boxes of a text. */
export const boxes = (text: string): ReadonlyArray<Statement> => {
  const found: Array<Statement> = []
  let covered = 0
  for (const match of matches(text, opening)) {
    if (match.index < covered) continue
    const open = match.index + match[0].length
    if (text[open] === "{") {
      const end = groupEnd(text, open)
      if (end === undefined) continue
      found.push({ start: match.index, end: end + 1, content: opened(text.slice(open + 1, end)) })
    } else {
      const bare = /^(?:\\[a-zA-Z]+(?:\{[^{}]*\}){1,2}|[^\s$\\.,;{}]+)/.exec(text.slice(open, open + 200))?.[0]
      if (bare === undefined) continue
      found.push({ start: match.index, end: open + bare.length, content: bare })
    }
    covered = found.at(-1)!.end
  }
  const framed = text.includes("{boxed}") ? [...text.matchAll(environment)] : []
  return [
    ...found,
    ...framed.map((match) => ({ start: match.index, end: match.index + match[0].length, content: match[1]! }))
  ].sort((a, b) => a.start - b.start)
}

/** Matches text that joins boxes to one answer: commas, "and", "or" and the name of the next value. */
const joint =
  /^[\s$.]*(?:(?:,|;|\band\b|\bor\b|\\text\s*\{\s*(?:and|or)\s*\}|\\\(|\\\)|\\,|\\quad)[\s$]*)+(?:[a-zA-Z](?:_\{?\w+\}?)?\s*=\s*)?$/

/** Extends a box by the name or bound directly before it: `x = \boxed{5}`, `n \le \boxed{5}`. */
const named = (text: string, { content, start }: Statement): string => {
  const [, name, sign] =
    /(?:^|[\s$(,[])((?![ei]\s*=)[a-zA-Z](?:_\{?\w+\}?)?)\s*(=|[<>≤≥]|\\(?:le|ge)(?:q|qslant)?(?![a-z]))\s*$/.exec(
      text.slice(Math.max(0, start - 24), start)
    ) ?? []
  return name === undefined || /[=<>]/.test(content) ? content : `${name} ${sign} ${content}`
}

/** Returns the boxed answers. Boxes separated only by commas, "and" or "or" are joined to one answer. */
export const boxed = (text: string): ReadonlyArray<Statement> => {
  const groups: Array<Statement & { readonly isMany: boolean }> = []
  for (const one of boxes(text)) {
    const last = groups.at(-1)
    const between = last === undefined ? undefined : text.slice(last.end, one.start)
    if (last === undefined || between === undefined || !(joint.test(between) || /^ *$/.test(between))) {
      groups.push({ ...one, content: one.content, isMany: false })
      continue
    }
    const conjunction = /\b(or|and)\b/.exec(between)?.[1]
    const before = last.isMany ? last.content : named(text, last)
    const content = `${before}${conjunction === undefined ? ", " : ` \\text{${conjunction}} `}${named(text, one)}`
    groups[groups.length - 1] = { start: last.start, end: one.end, content, isMany: true }
  }
  return groups.map(({ content, end, isMany, start }) => ({
    start,
    end,
    content: isMany ? content : named(text, { start, end, content })
  }))
}

// -------------------------------------------------------------------------------------------------------------------
// Tags and JSON
// -------------------------------------------------------------------------------------------------------------------

const tag =
  /<(\/?)(?:(?:(?:final|my|short)[_ -]?)?(?:answer|result|ans)|final|conclusion|box(?:ed)?|(?<=\/)parameter|parameter name="(?:final_?)?answer")(?:\s[^<>\n]{1,60})?>|\[(\/?)ANSWER\]/gi

/** A call that submits the answer: `final_answer("5")`, `submit(answer="5")`, `Finish[5]`. */
const call =
  /(?<![\w.])(?:final_?answer|submit(?:_(?:final_)?answer)?|answer|finish|(?:give|return|send)_(?:final_)?answer)\(\s*(?:\w+\s*=\s*)?(?:"([^"\n]{1,200})"|'([^'\n]{1,200})')\s*\)|(?<![\w.])(?:finish|answer)\[([^\n]{1,200})\](?=\s*(?:\n|$))|(?<=(?:^|\n)action:\s*finish\s*\n\s*action input:\s*)([^\n]{1,200})/gi

/**
 * Returns the answers in tags and in calls that submit one. Opening and closing tags are matched separately, because a combined pattern takes
 * quadratic time on many unclosed tags.
 */
export const tagged = (text: string): ReadonlyArray<Statement> => {
  const found: Array<Statement> = []
  let open: { readonly at: number; readonly end: number } | undefined
  for (const { 0: mark, index } of matches(text, tag)) {
    if (!/^[<[]\//.test(mark)) open ??= { at: index, end: index + mark.length }
    else if (open !== undefined) {
      found.push({ start: open.at, end: index + mark.length, content: text.slice(open.end, index).trim() })
      open = undefined
    }
  }
  for (const { 0: all, 1: quoted, 2: single, 3: bare, 4: input, index } of matches(text, call))
    found.push({ start: index, end: index + all.length, content: (quoted ?? single ?? bare ?? input)! })
  return found
}

const key =
  /(?:["'](?:(?:(?:final|exact|correct)[_ ]?)?(?:answer|ans|result|solution)|final)["']|(?<=[{,]\s*)(?:final_?)?answer(?=\s*:\s*["']))\s*:\s*/gi

/** A value, which may be in an object or a list of its own. */
const quoted =
  /^(?:\{\s*["']value["']\s*:\s*|\[\s*(?=(?:"[^"\n]*"|'[^'\n]*')\s*\]))?(?:"((?:[^"\\]|\\.){0,2000})"|'((?:[^'\\]|\\.){0,2000})')|^(?:\{\s*["']value["']\s*:\s*)?(-?\d[\d.eE+-]*)(?=\s*[,}\n])/

/** Decodes a JSON string. Unescaped LaTeX is left unchanged. */
const unescaped = (text: string): string => {
  if (
    /(?<!\\)(?:\\\\)*\\[^"\\/bfnrtu]/.test(text) ||
    /(?<!\\)\\(?:frac|beta|theta|tau|text|times|tan|nu|ne|neq|rho|right|bar|binom)/.test(text)
  )
    return text
  try {
    return JSON.parse(`"${text}"`)
  } catch {
    return text
  }
}

/** Whether a JSON object marks its answer as invalid. */
const isDisowned = (object: string): boolean =>
  /"(?:is_?)?(?:correct|valid|final|verified|solved)"\s*:\s*(?:false|"(?:false|no)")|"(?:status|state|verdict|type|kind|label|review|note|comment)"\s*:\s*"[^"]{0,60}\b(?:withdrawn|retracted|rejected|wrong|incorrect|invalid|discarded|superseded|draft|tentative|guess\w*|example|placeholder|not|error|failed|unverified)\b/i.test(
    object
  )

/** Names of answers in JSON, by rank. */
const names = [
  /^(?:(?:the|my|final|exact|correct|short)[_ -]?)*(?:answer|ans)s?$|^final$/i,
  /^(?:final[_ -]?)?(?:result|solution|output|response|value|conclusion|prediction)s?$/i
]

/** Names of objects around an answer. Objects with other names, such as examples, may contain the answers of others. */
export const around = /^(?:data|arguments|args|param(?:eter)?s|input|message|content|body|payload|completion|return)$/i

const inValue = (value: unknown): string | undefined => {
  if (typeof value === "string" || typeof value === "number") return String(value)
  if (Array.isArray(value)) {
    const items = value.slice(0, 40).map(inValue)
    return items.length === 0 || items.includes(undefined) ? undefined : items.join(", ")
  }
  return typeof value === "object" && value !== null ? inObject(value) : undefined
}

const inObject = (value: object): string | undefined => {
  const entries = Object.entries(value)
  for (const name of names) {
    const found = entries.findLast(([key]) => name.test(key.replace(/(?<=[a-z])(?=[A-Z])/g, "_")))
    const content = found === undefined ? undefined : inValue(found[1])
    if (content !== undefined) return content
  }
  const unknowns = entries.filter(([key, one]) => /^[a-zA-Z]$/.test(key) && /^(?:number|string)$/.test(typeof one))
  if (unknowns.length === entries.length && entries.length > 0)
    return unknowns.map(([key, one]) => `${key} = ${one}`).join(", ")
  const inner = entries.findLast(([key]) => around.test(key))
  return inner === undefined ? undefined : inValue(inner[1])
}

/** Returns the answer of a text that is a JSON object, possibly in a fence or in a list of its own. */
const parsed = (text: string): Statement | undefined => {
  const bare = /^\s*(?:```\w*\s*)?\[?\s*(\{[\s\S]*\})\s*\]?\s*(?:```\s*)?$/.exec(text)?.[1]
  if (bare === undefined || isDisowned(bare)) return undefined
  try {
    const value = JSON.parse(bare)
    // An object whose answer is null has none, whatever its other fields contain.
    if (Object.entries(value).some(([name, one]) => names[0]!.test(name) && one === null))
      return { start: 0, end: text.length, content: "" }
    const content = inValue(value)
    return content === undefined ? undefined : { start: 0, end: text.length, content }
  } catch {
    return undefined
  }
}

/** Returns the answers in JSON objects such as `{"answer": "5"}`. */
export const inJson = (text: string): ReadonlyArray<Statement> => {
  const whole = text.includes("{") ? parsed(text) : undefined
  if (whole !== undefined && !/(?<!\\)(?:\\\\)*\\[bfnrt]/.test(text)) return [whole]
  if (!/[{,]\s*["']?(?:final|exact|correct|ans|result|solution)/i.test(text)) return []
  const keys = matches(text, key).slice(-40)
  const isAnswer = ({ 0: name }: RegExpExecArray) => /ans|final/i.test(name)
  return (keys.some(isAnswer) ? keys.filter(isAnswer) : keys).flatMap((match): ReadonlyArray<Statement> => {
    const start = match.index + match[0].length
    const open = text.lastIndexOf("{", match.index)
    if (open === -1) return []
    const value = quoted.exec(text.slice(start, start + 2100))
    const close = text.indexOf("}", start + (value?.[0].length ?? 0))
    const end = close === -1 ? text.length : close + 1
    if (isDisowned(text.slice(open, end))) return [{ start: open, end, content: "" }]
    const content = value === null ? "" : value[1] === undefined ? (value[2] ?? value[3])! : unescaped(value[1])
    return [{ start: open, end, content }]
  })
}

// -------------------------------------------------------------------------------------------------------------------
// What is struck out
// -------------------------------------------------------------------------------------------------------------------

const struck =
  /(?<![^\s([{>])~~(?=\S)[^~]{1,300}~~|<(del|s|strike)>[^<]{0,300}<\/\1>|\[quote[^\]\n]{0,80}\][^[]{0,2000}\[\/quote\]|<blockquote>[^<]{0,2000}<\/blockquote>|<!--(?:[^-]|-(?!->)){0,300}-->|^[ \t]*%[^\n]*\\boxed[^\n]*$/gim

const cancelled = /\\(?:[bx]?cancel|sout|st|cancelto\{[^{}]{0,50}\})\s*(?=\{)/g

/** Removes struck-out text and comments. */
export const withoutStruck = (text: string): string => {
  const plain = /~~[\s\S]*~~|<\/(?:del|s|strike|blockquote)>|\[\/quote\]|-->|^[ \t]*%/im.test(text)
    ? text.replace(struck, " ")
    : text
  if (!plain.includes("cancel") && !plain.includes("\\sout")) return plain
  let result = ""
  let from = 0
  for (const match of matches(plain, cancelled)) {
    if (match.index < from) continue
    const end = groupEnd(plain, match.index + match[0].length, match.index + 600)
    if (end === undefined || !/\\f?box/.test(plain.slice(match.index, end))) continue
    result += plain.slice(from, match.index)
    from = end + 1
  }
  return result + plain.slice(from)
}
