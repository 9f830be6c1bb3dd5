/**
 * The clauses of the `how` list: step fields that extend the paper's three lists, such as items, conditions, quorums
 * and settings.
 *
 * ```
 * how    = [text, ...]                                          as many as steps; "" states nothing
 * text   = clause {"; " clause}                                 each kind of clause at most once
 * clause = "list" N | "gives" NAME | "each" S | "if" S "failed" | "after" N ["+" T "ms"]
 *        | "effort" E | "think" N "tokens" | "at most" N "tokens" | "at most" T "ms" | "temperature" X
 *        | "tools" NAME {", " NAME} | "all tools" | "no tools"
 * ```
 *
 * {@link write} uses a single spelling for each clause. The tolerant parser also accepts variants and reports them.
 */
import { nearest } from "../Nearest.ts"
import type { Step, StepSettings } from "./Workflow.ts"

/** The step fields that the `how` list can express. */
export type How = Pick<Step, "each" | "enough" | "gives" | "settings" | "tools" | "when">

/** An invalid clause in a `how` list, with its offset in the text. */
export interface WrongClause {
  readonly type: "wrong"
  readonly at: number
  readonly expected: string
  readonly found: string
}

/** The kinds of clauses. Each may occur at most once per step. */
type Kind = "gives" | "each" | "when" | "enough" | "tools" | keyof StepSettings

interface Clause {
  readonly kind: Kind
  readonly how: How
}

interface Form {
  /** The syntax, as shown in error messages. */
  readonly shown: string
  /** Matches all accepted spellings. Repetitions are bounded, so that matching always takes little time. */
  readonly pattern: RegExp
  readonly read: (parts: ReadonlyArray<string>) => Clause
}

const setting = (settings: StepSettings): Clause => ({
  kind: Object.keys(settings)[0] as keyof StepSettings,
  how: { settings }
})

/** A number in JavaScript notation. */
const numberPattern = "(\\d[\\d.]{0,24}(?:e[+-]?\\d{1,3})?)"
const namePattern = "[A-Za-z0-9_-]{1,64}"

const form = (shown: string, pattern: string, read: Form["read"]): Form => ({
  shown,
  pattern: new RegExp(`^${pattern}$`, "i"),
  read
})

const effortOf = (word: string): StepSettings["reasoning"] => {
  const effort = word.toLowerCase()
  return effort === "off" ? { type: "off" } : { type: "effort", effort: effort as "low" }
}

const forms: ReadonlyArray<Form> = [
  form("list N", "list (?:of )?(?:at most |up to )?(\\d{1,9})(?: items?)?", ([most]) => ({
    kind: "gives",
    how: { gives: { list: Number(most) } }
  })),
  form("gives NAME", `gives (${namePattern})`, ([shape]) => ({ kind: "gives", how: { gives: { shape: shape! } } })),
  form("each S", "(?:for )?each (?:item )?(?:of )?(?:step )?(\\d{1,9})", ([each]) => ({
    kind: "each",
    how: { each: Number(each) }
  })),
  form("if S failed", "if (?:step )?(\\d{1,9}) (?:failed|fails)", ([failed]) => ({
    kind: "when",
    how: { when: { failed: Number(failed) } }
  })),
  form("after N", "after (\\d{1,9})(?: answers?)?", ([answers]) => ({
    kind: "enough",
    how: { enough: { answers: Number(answers) } }
  })),
  form("after N +T ms", `after (\\d{1,9})(?: answers?)? ?\\+ ?${numberPattern} ?ms`, ([answers, grace]) => ({
    kind: "enough",
    how: { enough: { answers: Number(answers), graceMillis: Number(grace) } }
  })),
  form("effort minimal|low|medium|high|off", "(?:reasoning )?effort (minimal|low|medium|high|off)", ([effort]) =>
    setting({ reasoning: effortOf(effort!)! })
  ),
  form("think N tokens", "think (?:at most )?(\\d{1,16}) tokens", ([tokens]) =>
    setting({ reasoning: { type: "budget", tokens: Number(tokens) } })
  ),
  form("at most N tokens", "(?:at most|max|up to) (\\d{1,16}) tokens", ([tokens]) =>
    setting({ maxOutputTokens: Number(tokens) })
  ),
  form("at most T ms", `(?:at most|max|up to|within) ${numberPattern} ?ms`, ([millis]) =>
    setting({ timeoutMillis: Number(millis) })
  ),
  form("temperature X", `temperature ${numberPattern}`, ([temperature]) =>
    setting({ temperature: Number(temperature) })
  ),
  form("tools NAME, NAME", `tools (${namePattern}(?:, ?${namePattern}){0,127})`, ([names]) => ({
    kind: "tools",
    how: { tools: names!.split(/, ?/) }
  })),
  form("all tools", "all tools", () => ({ kind: "tools", how: { tools: true } })),
  form("no tools", "no tools", () => ({ kind: "tools", how: { tools: false } }))
]

/** The first words of all clauses, for suggestions. */
const beginnings = [...new Set(forms.map(({ shown }) => shown.split(" ")[0]!))]

/** Returns the syntax of the clauses that a misspelt one resembles, or of all clauses if it resembles none. */
const expectedOf = (clause: string): string => {
  const meant = nearest(clause.split(/\s/)[0]!, beginnings)
  const near = forms.filter(({ shown }) => shown.split(" ")[0] === meant)
  return (near.length > 0 ? near : forms).map(({ shown }) => `"${shown}"`).join(" or ")
}

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

const reasoningText = (reasoning: NonNullable<StepSettings["reasoning"]>): string => {
  if (reasoning.type === "budget") return `think ${reasoning.tokens} tokens`
  return `effort ${reasoning.type === "off" ? "off" : reasoning.effort}`
}

const toolsText = (tools: NonNullable<Step["tools"]>): string => {
  if (typeof tools !== "boolean") return `tools ${tools.join(", ")}`
  return tools ? "all tools" : "no tools"
}

/** Formats a step's fields as clauses. Returns an empty string if the step uses only the paper's fields. */
export const write = ({ each, enough, gives, settings = {}, tools, when }: How): string => {
  const { maxOutputTokens, reasoning, temperature, timeoutMillis } = settings
  const grace = enough?.graceMillis === undefined ? "" : ` +${enough.graceMillis} ms`
  return [
    gives && ("list" in gives ? `list ${gives.list}` : `gives ${gives.shape}`),
    each === undefined ? undefined : `each ${each}`,
    when && `if ${when.failed} failed`,
    enough && `after ${enough.answers}${grace}`,
    reasoning && reasoningText(reasoning),
    maxOutputTokens === undefined ? undefined : `at most ${maxOutputTokens} tokens`,
    timeoutMillis === undefined ? undefined : `at most ${timeoutMillis} ms`,
    temperature === undefined ? undefined : `temperature ${temperature}`,
    tools === undefined ? undefined : toolsText(tools)
  ]
    .filter((clause) => clause !== undefined)
    .join("; ")
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

/** Maximum length of a step's clauses, in characters. Sufficient for 128 tool names. */
const mostCharacters = 16_384

const shorten = (text: string): string => JSON.stringify(text.length > 24 ? `${text.slice(0, 24)}...` : text)

const clauseOf = (text: string): Clause | undefined => {
  for (const { pattern, read } of forms) {
    const match = pattern.exec(text)
    if (match !== null) return read(match.slice(1))
  }
  return undefined
}

/**
 * Parses the clauses of a step. A spelling that differs from that of {@link write} is reported in `notes`, or is an
 * error if `notes` is `undefined`.
 */
export const read = (text: string, notes: Set<string> | undefined): How | WrongClause => {
  if (text.length > mostCharacters) {
    return { type: "wrong", at: 0, expected: `at most ${mostCharacters} characters`, found: `${text.length}` }
  }
  const kinds = new Set<Kind>()
  let how: How = {}
  let at = 0
  if (text.trim() === "") return how
  for (const part of text.split(";")) {
    const start = at + part.length - part.trimStart().length
    at += part.length + 1
    const written = part.trim()
    const wrong = (expected: string): WrongClause => ({ type: "wrong", at: start, expected, found: shorten(written) })
    if (written === "" && notes !== undefined) {
      notes.add("Ignored an empty clause in how.")
      continue
    }
    const clause = clauseOf(written.replace(/\s+/g, " "))
    if (clause === undefined) return wrong(expectedOf(written))
    const canonical = write(clause.how)
    if (canonical !== written) {
      if (notes === undefined) return wrong(`"${canonical}"`)
      notes.add(`Read ${shorten(written)} as "${canonical}".`)
    }
    if (kinds.has(clause.kind)) return wrong("each kind of clause at most once")
    kinds.add(clause.kind)
    how = { ...how, ...clause.how, ...(how.settings && { settings: { ...how.settings, ...clause.how.settings } }) }
  }
  return how
}
