/**
 * Splits a composite question by its wording: sentences, numbered parts, "first ... then ...", and references ("that
 * number", "the result", "part 1", a named quantity).
 *
 * This is a heuristic for English that prefers too few parts over too many: text that is not a separate request remains
 * with its neighbor.
 */

/** A request within a question, with the earlier parts whose answers it refers to. */
export interface Part {
  readonly text: string
  readonly needs: ReadonlyArray<number>
}

// -------------------------------------------------------------------------------------------------------------------
// Words
// -------------------------------------------------------------------------------------------------------------------

const verbs =
  "add|apply|arrange|calculate|change|check|choose|classify|combine|compare|compute|concatenate|convert|count|" +
  "decide|decrease|describe|determine|divide|double|draft|draw|estimate|evaluate|examine|explain|express|extract|" +
  "factori[sz]e|find|give|halve|identify|increase|insert|interpret|join|judge|list|look|make|measure|merge|multiply|" +
  "name|order|pick|plan|predict|prove|rank|read|recommend|remove|replace|reverse|rewrite|say|select|show|" +
  "simplify|solve|sort|spell|split|square|start|state|sum|subtract|suggest|summari[sz]e|take|tell|test|translate|" +
  "treble|triple|turn|use|verify|work|write"

const questionWords = "what|which|who|whose|where|why|how"

const asks = new RegExp(`^(?:${questionWords})\\b`, "i")

const request = new RegExp(`^(?:please\\s+)?(?:${verbs}|${questionWords})\\b`, "i")

/** Matches an introductory clause before a request: "Using the answer, add 3 to it". */
const led = new RegExp(
  `^(?:using|with|from|given|taking|based on|for|in|if)\\b.{1,80}?,\\s*(?:${verbs}|${questionWords})\\b`,
  "i"
)

/** Matches a question about the result of a change described just before; the two form one request. */
const asksOfChange = /\bthe (?:new|resulting|updated|changed|combined|remaining) \w+/i

/** Matches greetings and fillers before a request, such as "Hi team," and "Ok so". */
const greeting =
  /^(?:(?:hi|hello|hey|dear)\b(?: (?:all|both|everyone|everybody|folks|guys|team|there))?[,.!:]*\s+|(?:ok|okay|alright|so|well|now)\b,?\s+)+/i

/** Matches a sentence that states how to answer or asks for the previous result, which is not a separate request. */
const closing = new RegExp(
  [
    "^(?:please )?(?:(?:only |just )?(?:answer|reply|respond)|show|explain your|justify|your answer|the answer should)\\b",
    "^(?:please )?round\\b",
    "^(?:please )?(?:work|think|proceed|go) (?:in|through|step|it out|carefully|slowly)\\b",
    "^(?:please )?(?:give|state|report|write|express|use) (?:only |just )?(?:your|the|an?)? ?(?:final |last |exact |whole )*(?:answer|result|number|value|word|digits?|fraction)\\b(?! of)",
    "^(?:do not|don't|no|only|just|otherwise|else|if not)\\b",
    "^what (?:do|did|will|would) (?:you|i|we) (?:get|have|find|obtain)\\b",
    "^what is (?:the|your) (?:result|answer|total|outcome|final \\w+)(?: now)?\\?\\W*$",
    "^(?:call|name|denote) (?:it|this|that|the (?:result|answer|number|total|value))\\b"
  ].join("|"),
  "i"
)

const ordinals = ["first", "second", "third", "fourth", "fifth"]

const refersToAll =
  /\b(?:both|the two|the three|all (?:of )?(?:these|those|them)|(?:these|those|the|your) (?:\w+ )?(?:answers|results|numbers|values|totals))\b/i

const refersBack = new RegExp(
  [
    "\\bthat (?:many|much)\\b",
    "\\b(?<!\\b(?:the|an?) [\\w-]+ )(?<!(?:such|so|given|knowing|assume|assuming|suppose|says?) )that\\b(?! (?:is|are|has|have|can|do|does|was|were|the|an?)\\b)",
    "\\b(?:it|its|them|they|their|the same|the latter|the former|above|previous|resulting|(?:this|these|those) \\w+)\\b",
    "\\b(?:the|your|this) (?:final |first |last )?(?:answer|result|total|outcome)\\b",
    "\\bthe (?:sum|product|difference|quotient|count|number|value|date|day|amount|figure|word|length|letter)\\b(?! (?:of|between|in|from|that|is|with|which)\\b)",
    "\\b(?:you|we) (?:found|got|computed|calculated|obtained|get|have found)\\b"
  ].join("|"),
  "i"
)

// -------------------------------------------------------------------------------------------------------------------
// Fragments
// -------------------------------------------------------------------------------------------------------------------

interface Fragment {
  /** The text as a separate request, without its opening ("and", "then", a number). */
  readonly text: string
  /** The text without a greeting, to be appended to the preceding text. */
  readonly continued: string
  /** Whether the text starts with a list number or letter. */
  readonly marked: boolean
  /** Whether the text starts with "then", "next" or "finally". */
  readonly sequel: boolean
  /** The index of its line, and its position in that line. */
  readonly line: number
  readonly place: number
}

/** Matches the placeholder for text that must not be split: code and quotations. */
const held = /\uE000(\d+)\uE001/g

/** Whether a line is code. Indented lines count as code, except the items of a numbered list. */
const isCode = (line: string) =>
  /^(?: {2,}|\t)(?!\(?(?:\d{1,2}|[a-e])[.)]\s)\S/.test(line) ||
  /[;{}]\s*$/.test(line) ||
  /^\s*(?:\w+ = |(?:let|const|var|function|return|print|console|import|def|class)\b.*[=(:{])/.test(line)

const hold = (question: string) => {
  const kept: Array<string> = []
  const keep = (text: string) => `\uE000${kept.push(text) - 1}\uE001`
  const fenced = question.replace(/```[\s\S]*?(?:```|$)/g, (code) => `\n${keep(code)}\n`)
  const coded = fenced.includes("\n")
    ? fenced
        .split("\n")
        .map((line) => (isCode(line) ? keep(line) : line))
        .join("\n")
    : fenced
  const text = coded.replace(/`[^`\n]+`|"[^"\n]*"|“[^”\n]*”/g, keep).replace(/[^\S\n]+/g, " ")
  const release = (part: string): string =>
    part.replace(held, (_, index: string) => release(kept[Number(index)]!)).trim()
  return { text, release }
}

const marker = /^\s*(?:\(?(?:\d{1,2}|[a-e]|i{1,3})\)|\d{1,2}[.:](?!\d)|(?:step|part|question) \w{1,5}[.:)]|[-*•])\s+/i

const follows = `(?=(?:${verbs}|what|which|who|when|where|how)\\b)`

/** Matches possible boundaries between two requests, at the start of the second one. */
const boundary = new RegExp(
  [
    "(?<=[.?!]\\)?)(?<!\\b(?:e\\.g|i\\.e|etc|vs|approx|mr|mrs|ms|dr|st|fig|eq)\\.)(?<!(?:^|[.?!;:]\\s+)\\d{1,2}[.)])\\s+(?=[\"'(\uE000]?[A-Z0-9\uE000])",
    "(?<=;)\\s+",
    "(?<=[\\s:,.?;])(?=\\((?:\\d|[a-e]|i{1,3})\\)\\s)",
    `,?\\s+(?=(?:and )?(?:then|next|finally|after that|afterwards),? ${follows})`,
    `,?\\s+(?=and ${follows})`
  ].join("|"),
  "gi"
)

/**
 * Splits a line at the boundaries. Only the first alternative is case-sensitive, because a capital letter marks the
 * start of a sentence.
 */
const cut = (line: string): ReadonlyArray<string> => {
  const pieces: Array<string> = []
  let start = 0
  for (const match of line.matchAll(boundary)) {
    const sentence = /[.?!)]$/.test(line.slice(0, match.index)) && !/^[,;]/.test(match[0])
    if (sentence && /^[a-z]/.test(line.slice(match.index + match[0].length))) continue
    pieces.push(line.slice(start, match.index))
    start = match.index + match[0].length
  }
  return [...pieces, line.slice(start)]
}

const opener = new RegExp(
  `^(?:and |,|\\s)*(?:(first(?:ly)?|to begin(?: with)?|secondly|thirdly)|(then|next|after that|afterwards|finally|lastly))(?:,\\s*|\\s+${follows}|:\\s*)`,
  "i"
)

const fragment = (piece: string, line: number, place: number): Fragment => {
  const marked = marker.test(piece)
  const text = piece.replace(marker, "").trim().replace(greeting, "")
  const match = opener.exec(text)
  const bare = (match === null ? text : text.slice(match[0].length)).replace(/^and\s+/i, "").replace(/^,\s*/, "")
  return { text: bare, continued: text, marked, sequel: match?.[2] !== undefined, line, place }
}

const words = (text: string) => text.split(/\s+/).filter((word) => /\w|\uE000/.test(word)).length

/** Matches a label before a colon: "Let A be the answer to this:", "Step 1:". */
const label = /^[^:?!.]{1,60}:\s+/

/** Matches a quantity that is named and described without a value: "let N be the number of ...". */
const definition = /^(?:let|call|suppose|define)\b.*\b(?:be|as|denote|equal)\s+(?:the|how many)\b/i

/** Matches the end of a question, ignoring symbols such as emoticons after the question mark. */
const endsAsQuestion = /\?[^\w\uE000]*$/

const isRequest = ({ marked, text }: Fragment): boolean => {
  const body = request.test(text) ? text : text.replace(label, "")
  if (closing.test(body) || asksOfChange.test(body)) return false
  if (!marked && words(body) < 3) return false
  return request.test(body) || led.test(body) || endsAsQuestion.test(body) || definition.test(body)
}

// -------------------------------------------------------------------------------------------------------------------
// References
// -------------------------------------------------------------------------------------------------------------------

/** Returns the letters by which a part names its answer: "let N be", "call it N", "(call this A)". */
const namesGiven = (text: string): ReadonlyArray<string> =>
  [
    ...text.matchAll(/\b(?:let|define)\s+([A-Za-z])\s+(?:be|equal|denote)\b/gi),
    ...text.matchAll(/\b(?:call|name|denote)\s+(?:(?:it|this|that|the \w+)\s+)(?:by\s+)?["']?([A-Za-z])\b/gi)
  ].map((match) => match[1]!)

/** Whether the text contains a letter as a separate word. */
export const mentions = (text: string, name: string): boolean =>
  new RegExp(`(?<![\\p{L}'])${name}(?![\\p{L}'])`, "u").test(text)

/**
 * Returns the earlier parts whose answers a part needs, judged by its wording. A sequel always needs the preceding
 * part.
 */
export const needsOf = (text: string, sequel: boolean, earlier: ReadonlyArray<string>): ReadonlyArray<number> => {
  const all = earlier.map((_, index) => index)
  const named = all.filter((index) => {
    const number = `(?:${index + 1}|${String.fromCharCode(97 + index)})`
    return (
      new RegExp(`\\b(?:part|step|question|answer) \\(?${number}\\b`, "i").test(text) ||
      new RegExp(`\\bthe ${ordinals[index]} (?:answer|result|number|part|value|question|total)\\b`, "i").test(text) ||
      namesGiven(earlier[index]!).some((name) => mentions(text, name))
    )
  })
  if (named.length > 0) return named
  if (refersToAll.test(text)) return all
  return all.length > 0 && (sequel || refersBack.test(text)) ? [all.length - 1] : []
}

// -------------------------------------------------------------------------------------------------------------------
// Parts
// -------------------------------------------------------------------------------------------------------------------

/** Joins two texts; line breaks around code are preserved. */
const joinTexts = (left: string, right: string) => `${left}${right.startsWith("\uE000") ? "\n" : " "}${right}`

/**
 * Groups fragments around requests: text before a request is attached to it, and text after the last request to the
 * last one.
 */
const gather = (fragments: ReadonlyArray<Fragment>): ReadonlyArray<Fragment> => {
  const groups: Array<Fragment> = []
  let waiting: Array<string> = []
  for (const one of fragments) {
    const last = groups.at(-1)
    const sameItem = last?.marked === true && last.place === 0 && !one.marked && one.line === last.line
    if (isRequest(one) && !sameItem) {
      groups.push({ ...one, text: [...waiting, one.text].reduce(joinTexts) })
      waiting = []
    } else if (
      last !== undefined &&
      waiting.length === 0 &&
      (sameItem ||
        closing.test(one.text) ||
        asksOfChange.test(one.text) ||
        words(one.text) < 3 ||
        /^\uE000/.test(one.text))
    ) {
      groups[groups.length - 1] = { ...last, text: joinTexts(last.text, one.continued) }
    } else {
      waiting.push(one.text)
    }
  }
  const last = groups.at(-1)
  if (last !== undefined && waiting.length > 0) {
    groups[groups.length - 1] = { ...last, text: [last.text, ...waiting].reduce(joinTexts) }
  }
  return groups
}

/** Maximum length in characters; longer texts contain a document, whose sentences are not requests. */
const longestQuestion = 20_000
const mostParts = 20

/** Returns the parts of a question in order. A question that cannot be split is returned as one part. */
export const split = (question: string): ReadonlyArray<Part> => {
  if (question.length > longestQuestion) return [{ text: question, needs: [] }]
  const { release, text } = hold(question)
  const fragments = text
    .split(/\n+/)
    .flatMap((line, index) => cut(line).map((piece, place) => fragment(piece, index, place)))
    .filter((one) => words(one.text) > 0)
  const groups = gather(fragments)
  if (groups.length < 2 || groups.length > mostParts) return [{ text: question.trim(), needs: [] }]
  const texts = groups.map((group) => group.text)
  return groups.map((group, index) => ({
    text: release(sentence(group.text)),
    needs: needsOf(group.text, group.sequel, texts.slice(0, index))
  }))
}

/**
 * Formats a text as a separate sentence: a capital first letter, no trailing comma or "and", and a full stop or
 * question mark.
 */
const sentence = (text: string): string => {
  const body = text.replace(/[\s,;:]+$/, "").replace(/,? and$/, "")
  const end = /[.?!\uE001][^\w\uE000]*$/.test(body) ? "" : asks.test(body) ? "?" : "."
  return `${body.charAt(0).toUpperCase()}${body.slice(1)}${end}`
}
