/**
 * Converts literals to a workflow's lists, and finds the lists in a text. The strict parser accepts only assignments.
 */
import { counted } from "../../Counted.ts"
import * as Clauses from "../clauses.ts"
import type { Access, EarlierStep, StepCheck } from "../Workflow.ts"
import {
  afterComment,
  afterContinuation,
  afterLineBreak,
  type Failure,
  failAt,
  type Reader,
  skipBlanks
} from "./literalReader.ts"
import { type ListLiteral, type Literal, mostBrackets, readLiteral, type TextLiteral } from "./pythonLiteral.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

export type ListName = "model_id" | "subtasks" | "access_list" | "checks" | "how"

/** One of the lists, with its literal for error positions. */
export interface Column<A> {
  readonly values: ReadonlyArray<A>
  readonly literal: ListLiteral
}

export interface Columns {
  readonly model_id: Column<number>
  readonly subtasks: Column<string>
  readonly access_list: Column<Seen>
  /** Set if the lists contain checks and the round allows them. */
  readonly checks?: Column<StepCheck | undefined>
  /** Set if the lists contain `how` and the round allows it. */
  readonly how?: Column<Clauses.How>
}

/** The steps that a step sees, in its own round and in earlier ones. */
export interface Seen {
  readonly access: Access
  readonly earlier: ReadonlyArray<EarlierStep>
}

/** The lists found in a text, between the offsets `start` and `end`. */
export interface Lists {
  readonly columns: Columns
  readonly start: number
  readonly end: number
}

/** The required lists of a workflow. */
export const listNames = ["model_id", "subtasks", "access_list"] as const satisfies ReadonlyArray<ListName>

// -------------------------------------------------------------------------------------------------------------------
// Elements
// -------------------------------------------------------------------------------------------------------------------

const quote = (value: string) => JSON.stringify(value.length > 24 ? `${value.slice(0, 24)}...` : value)

const describeLiteral = (literal: Literal): string => {
  switch (literal.type) {
    case "integer":
      return `the number ${literal.value}`
    case "string":
      return `the string ${quote(literal.value)}`
    case "list":
      return "a list"
    case "other":
      return literal.what
  }
}

const wrongType = (reader: Reader, literal: Literal, expected: string): Failure =>
  failAt(reader, literal.at, expected, describeLiteral(literal))

const ordinalPattern = /^\s{0,8}(?:model|worker|agent|step)?[\s_#-]{0,4}(\d{1,9})\s{0,8}$/i

/** Parses an index. In tolerant mode, strings such as `"1"` and `"Model 1"` are accepted as well. */
const readIndex = (reader: Reader, literal: Literal, expected: string): number | Failure => {
  if (literal.type === "integer") return literal.value
  if (reader.forgiving && literal.type === "string") {
    const digits = ordinalPattern.exec(literal.value)?.[1]
    if (digits !== undefined) {
      reader.notes.add(`Read ${quote(literal.value)} as ${Number(digits)}.`)
      return Number(digits)
    }
  }
  return wrongType(reader, literal, expected)
}

const readSubtask = (reader: Reader, literal: Literal): string | Failure =>
  literal.type === "string" ? literal.value : wrongType(reader, literal, "a subtask in quotes")

const expectedAccess = '"all", [] or a list of step indices'

const forgivenAccess: { readonly [word: string]: Access } = {
  all: "all",
  true: "all",
  none: [],
  null: [],
  false: [],
  "[]": [],
  "": []
}

/** Interprets a word used as an access list, or returns `undefined`. Only in tolerant mode. */
const forgiveAccess = (reader: Reader, literal: Literal): Access | undefined => {
  if (!reader.forgiving || (literal.type !== "string" && literal.type !== "other")) return undefined
  const word = literal.type === "string" ? literal.value : literal.text
  const key = word.trim().toLowerCase()
  if (!Object.hasOwn(forgivenAccess, key)) return undefined
  const access = forgivenAccess[key]!
  const written = literal.type === "string" ? quote(word) : word
  reader.notes.add(`Read ${written} as ${access === "all" ? '"all"' : "[]"}.`)
  return access
}

const sees = (access: Access, earlier: ReadonlyArray<EarlierStep> = []): Seen => ({ access, earlier })

/** Parses a reference to a step in an earlier round, such as `"0.2"` for step 2 of round 0, if these are allowed. */
const earlierOf = ({ more }: Reader, literal: Literal): EarlierStep | undefined => {
  if (!more.earlier || literal.type !== "string") return undefined
  const [, round, step] = /^\s{0,4}(\d{1,4})\.(\d{1,4})\s{0,4}$/.exec(literal.value) ?? []
  return round === undefined ? undefined : { round: Number(round), step: Number(step) }
}

const readAccess = (reader: Reader, literal: Literal): Seen | Failure => {
  if (literal.type === "string" && literal.value === "all") return sees("all")
  if (literal.type === "list") return readIndices(reader, literal)
  const step = earlierOf(reader, literal)
  if (step !== undefined) return sees([], [step])
  const forgiven = forgiveAccess(reader, literal)
  if (forgiven !== undefined) return sees(forgiven)
  const index = reader.forgiving ? readIndex(reader, literal, expectedAccess) : undefined
  if (typeof index !== "number") return index ?? wrongType(reader, literal, expectedAccess)
  reader.notes.add(`Read ${index} as [${index}].`)
  return sees([index])
}

const isAll = (literal: Literal): boolean =>
  (literal.type === "string" ? literal.value : literal.type === "other" ? literal.text : "").toLowerCase() === "all"

const readIndices = (reader: Reader, { items }: ListLiteral): Seen | Failure => {
  const earlier: Array<EarlierStep> = []
  const own: Array<Literal> = []
  for (const item of items) {
    const step = earlierOf(reader, item)
    if (step === undefined) own.push(item)
    else earlier.push(step)
  }
  if (own.length === 1 && isAll(own[0]!) && (reader.forgiving || earlier.length > 0)) {
    if (earlier.length === 0) reader.notes.add('Read ["all"] as "all".')
    return sees("all", earlier)
  }
  const indices = readItems(reader, own, (_, item) => readIndex(reader, item, "the index of an earlier step"))
  return isFailure(indices) ? indices : sees(indices, earlier)
}

const consequences = ["revise", "next", "continue"] as const

/** The consequence that is accepted only with `how`. */
const againPattern = /^again(?:\s+(\d{1,4}))?$/u

/** Splits a text at the last colon into a check's name and its consequence. Takes linear time. */
const partsOf = (value: string): { readonly name: string; readonly tail: string } | undefined => {
  const colon = value.lastIndexOf(":")
  return colon < 0 ? undefined : { name: value.slice(0, colon).trim(), tail: value.slice(colon + 1).trim() }
}

/**
 * Parses a check: `""` for none, or the name of a check or the index of a judging model, with the consequence of a
 * failure.
 */
const readCheck = (reader: Reader, literal: Literal): StepCheck | undefined | Failure => {
  const expected = "the name of a check in quotes, or an empty string"
  if (literal.type === "integer") return { by: literal.value, onFailure: "revise" }
  if (literal.type === "other" && literal.text === "None") return undefined
  if (literal.type !== "string") return wrongType(reader, literal, expected)
  const parts = partsOf(literal.value)
  const again = reader.more.how && parts !== undefined && parts.name !== "" ? againPattern.exec(parts.tail) : null
  if (again !== null) {
    const times = again[1] === undefined ? undefined : { times: Number(again[1]) }
    return { by: checkName(parts!.name), onFailure: "again", ...times }
  }
  const written = consequences.find((one) => one === parts?.tail)
  const name = written === undefined ? literal.value.trim() : parts!.name
  return name === "" ? undefined : { by: checkName(name), onFailure: written ?? "revise" }
}

/** Returns the name of a check, or the index of the model that acts as a judge. */
const checkName = (written: string): string | number => {
  const judge = /^(?:model\s{0,4})?(\d{1,4})$/iu.exec(written)?.[1]
  return judge === undefined ? written : Number(judge)
}

/**
 * Returns the offset of a character within a string if the string contains no escapes, or else the offset of the string
 * itself.
 */
const offsetIn = ({ text }: Reader, { at, value }: TextLiteral, index: number): number =>
  text.startsWith(value, at + 1) ? at + 1 + index : at

/** Parses an element of the `how` list: `""`, or clauses. */
const readHow = (reader: Reader, literal: Literal): Clauses.How | Failure => {
  if (reader.forgiving && literal.type === "other" && literal.text === "None") return {}
  if (literal.type !== "string")
    return wrongType(reader, literal, "the clauses of the step in quotes, or an empty string")
  const how = Clauses.read(literal.value, reader.forgiving ? reader.notes : undefined)
  return "type" in how ? failAt(reader, offsetIn(reader, literal, how.at), how.expected, how.found) : how
}

const isFailure = (value: unknown): value is Failure =>
  typeof value === "object" && value !== null && (value as { readonly type?: unknown }).type === "failure"

const readItems = <A>(
  reader: Reader,
  items: ReadonlyArray<Literal>,
  readItem: (reader: Reader, literal: Literal) => A | Failure
): ReadonlyArray<A> | Failure => {
  const values: Array<A> = []
  for (const item of items) {
    const value = readItem(reader, item)
    if (isFailure(value)) return value
    values.push(value)
  }
  return values
}

// -------------------------------------------------------------------------------------------------------------------
// Columns
// -------------------------------------------------------------------------------------------------------------------

type AnyColumn = NonNullable<Columns[ListName]>

type Value<Name extends ListName> = NonNullable<Columns[Name]>["values"][number]

const elementReaders: {
  readonly [Name in ListName]: (reader: Reader, literal: Literal) => Value<Name> | Failure
} = {
  model_id: (reader, literal) => readIndex(reader, literal, "the index of a worker"),
  subtasks: readSubtask,
  access_list: readAccess,
  checks: readCheck,
  how: readHow
}

/** Verifies that `checks` and `how` have one element for each step. */
export const sameLength = (reader: Pick<Reader, "text">, lists: Lists): Lists | Failure => {
  const { checks, how, model_id } = lists.columns
  const count = model_id.values.length
  const odd = [checks, how].find((list) => list !== undefined && list.values.length !== count)
  if (odd === undefined) return lists
  return {
    type: "failure",
    at: Math.min(odd.literal.at, reader.text.length),
    expected:
      odd === checks
        ? `${counted(count, "check")}, one for each step`
        : `${counted(count, "entry", "entries")} in how, one for each step`,
    found: `${odd.values.length}`
  }
}

/** Converts a literal to the named list. */
export const toColumn = (reader: Reader, name: ListName, literal: Literal): AnyColumn | Failure => {
  if (literal.type !== "list") return wrongType(reader, literal, "a list")
  const readItem: (reader: Reader, literal: Literal) => Value<ListName> | Failure = elementReaders[name]
  const values = readItems(reader, literal.items, readItem)
  return isFailure(values) ? values : ({ values, literal } as AnyColumn)
}

// -------------------------------------------------------------------------------------------------------------------
// Strict reading
// -------------------------------------------------------------------------------------------------------------------

const loneSurrogate = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

/** Finds characters that Python rejects anywhere in a source file, including in comments. */
const findForbidden = (reader: Reader): Failure | undefined => {
  const { text } = reader
  const nul = text.indexOf("\0")
  if (nul >= 0) return failAt(reader, nul, "a text without NUL characters")
  if (text.isWellFormed()) return undefined
  return failAt(reader, text.search(loneSurrogate), "well-formed Unicode", "half of a surrogate pair")
}

/** Skips blank lines and comments up to the next statement. Returns `true` if it is indented. */
const skipToStatement = (reader: Reader): boolean => {
  const { text } = reader
  let indent = 0
  for (;;) {
    const code = text.charCodeAt(reader.at)
    if (code === 32 || code === 9) {
      indent++
      reader.at++
    } else if (code === 12) {
      indent = 0
      reader.at++
    } else if (code === 10 || code === 13) {
      indent = 0
      reader.at = afterLineBreak(text, reader.at)
    } else if (code === 35) reader.at = afterComment(text, reader.at)
    else if (code === 92) {
      const next = afterContinuation(text, reader.at)
      if (next === undefined) return indent > 0
      reader.at = next
    } else return indent > 0
  }
}

// Long enough for every list name. Bounded, because V8 overflows its stack on names with millions of letters.
const namePattern = /[\p{ID_Start}_][\p{ID_Continue}]{0,20}/uy

const namesOf = ({ more }: Reader): ReadonlyArray<ListName> =>
  more.checks || more.how
    ? [...listNames, ...(more.checks ? ["checks" as const] : []), ...(more.how ? ["how" as const] : [])]
    : listNames

/**
 * Parses the name of a list, if there is one. Like Python, normalizes names, so that `ｍodel_id` is accepted as
 * `model_id`.
 */
const readName = (reader: Reader): ListName | undefined => {
  namePattern.lastIndex = reader.at
  const word = namePattern.exec(reader.text)?.[0] ?? ""
  const written = word.normalize("NFKC")
  const name = namesOf(reader).find((name) => name === written)
  if (name !== undefined) reader.at += word.length
  return name
}

/** Parses the name of a list, optionally in parentheses, if there is one. */
const readTarget = (reader: Reader): ListName | undefined => {
  const { at, text } = reader
  let open = 0
  while (text[reader.at] === "(" && open < mostBrackets) {
    open++
    reader.at++
    skipBlanks(reader, true)
  }
  const name = readName(reader)
  for (; name !== undefined && open > 0; open--) {
    skipBlanks(reader, true)
    if (text[reader.at] !== ")") break
    reader.at++
  }
  if (name !== undefined && open === 0) return name
  reader.at = at
  return undefined
}

const wantedNames = ({ more }: Reader): string =>
  more.how ? "model_id, subtasks, how or access_list" : "model_id, subtasks or access_list"

/** Parses one or more assignment targets, as in `name =` or `name = other_name =`. */
const readTargets = (reader: Reader): ReadonlyArray<ListName> | Failure => {
  const targets: Array<ListName> = []
  let name = readTarget(reader)
  if (name === undefined) return failAt(reader, reader.at, wantedNames(reader))
  while (name !== undefined) {
    targets.push(name)
    skipBlanks(reader, false)
    if (reader.text[reader.at] !== "=") return failAt(reader, reader.at, '"="')
    reader.at++
    skipBlanks(reader, false)
    name = readTarget(reader)
  }
  return targets
}

/** Skips the end of a statement: a semicolon, or the end of the line. */
const endStatement = (reader: Reader): "semicolon" | "line" => {
  if (reader.text[reader.at] !== ";") return "line"
  reader.at++
  skipBlanks(reader, false)
  const code = reader.text.charCodeAt(reader.at)
  return Number.isNaN(code) || code === 10 || code === 13 || code === 35 ? "line" : "semicolon"
}

/** Parses a text that consists of only the assignments, with Python semantics. */
export const readAssignments = (reader: Reader): Lists | Failure => {
  const forbidden = findForbidden(reader)
  if (forbidden !== undefined) return forbidden
  const columns: { [Name in ListName]?: AnyColumn | undefined } = {}
  let start = -1
  let end = 0
  let ended: "semicolon" | "line" = "line"
  for (;;) {
    const indented = ended === "line" && skipToStatement(reader)
    if (reader.at >= reader.text.length) break
    if (indented) return failAt(reader, reader.at, "a line without indentation", "an indented line")
    if (start < 0) start = reader.at
    const targets = readTargets(reader)
    if (isFailure(targets)) return targets
    const literal = readLiteral(reader, "statement")
    if (literal.type === "failure") return literal
    end = reader.at
    for (const name of targets) {
      const column = toColumn(reader, name, literal)
      if (isFailure(column)) return column
      columns[name] = column
    }
    ended = endStatement(reader)
  }
  const missing = listNames.find((name) => columns[name] === undefined)
  if (missing !== undefined) return failAt(reader, reader.text.length, `${missing} = [...]`)
  return sameLength(reader, { columns: columns as Columns, start, end })
}
