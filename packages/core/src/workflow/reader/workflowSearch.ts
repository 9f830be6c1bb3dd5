/**
 * Searches for the lists in a model's text, which may contain prose, code fences, JSON and discarded drafts.
 *
 * Lists are found by their name followed by a bracket. The last complete set of valid lists is used.
 */
import type { Failure, More, Reader } from "./literalReader.ts"
import { readLiteral } from "./pythonLiteral.ts"
import { type Columns, type ListName, type Lists, listNames, sameLength, toColumn } from "./workflowLists.ts"

// -------------------------------------------------------------------------------------------------------------------
// Heads
// -------------------------------------------------------------------------------------------------------------------

/** Matches `how` as a list name only in quotes or at the start of a line, because it is also a common word. */
const howHead = "(?<=(?:^|\\n)[ \\t`*]{0,8}|[\"'])how|"

/**
 * Matches a name, optional decoration, and a separator. All repetitions are bounded, so that matching is fast for any
 * text.
 */
const headSource = (more: More): string =>
  [
    "(?<![\\p{L}\\p{N}_.])",
    `(?<name>${more.checks ? "checks?(?:\\\\?[_ -]?lists?)?|" : ""}${more.how ? howHead : ""}`,
    "(?:model|worker|agent)(?:\\\\?[_ -]?(?:ids?|index|indices|indexes|list))?s?",
    "|sub\\\\?[_ -]?tasks?(?:\\\\?[_ -]?lists?)?|tasks",
    "|access(?:es)?(?:\\\\?[_ -]?lists?)?)",
    "(?<decoration>[\"'`*”’\\s]{0,8})",
    "(?<separator>:=|=|:(?:\\s{0,4}[\\w[\\], .|]{1,40}=)?)",
    "[\\s`*]{0,16}(?=[[(])"
  ].join("")

/**
 * Returns a function that tests whether the head of a list starts at an offset, ignoring preceding blanks and markup.
 */
const headTest = (text: string, more: More) => {
  const pattern = new RegExp(`[\\s;\`*"'“{}-]{0,16}${headSource(more)}`, "iuy")
  return (at: number): boolean => {
    pattern.lastIndex = at
    return pattern.test(text)
  }
}

const listNameOf = (written: string): ListName => {
  const lower = written.toLowerCase()
  if (lower.startsWith("access")) return "access_list"
  if (lower.startsWith("check")) return "checks"
  if (lower === "how") return "how"
  return lower.includes("task") ? "subtasks" : "model_id"
}

// -------------------------------------------------------------------------------------------------------------------
// Lists
// -------------------------------------------------------------------------------------------------------------------

interface Found {
  readonly name: ListName
  readonly column: NonNullable<Columns[ListName]>
  readonly notes: ReadonlySet<string>
  readonly start: number
  readonly end: number
}

/** The last invalid list of each name. */
type Unreadable = ReadonlyMap<ListName, Failure>

/** Records the deviations in the head of a list. */
const noteHead = (notes: Set<string>, name: ListName, groups: { readonly [group: string]: string }): void => {
  if (groups.name !== name) notes.add(`Read ${JSON.stringify(groups.name)} as ${name}.`)
  if (groups.separator!.length > 2) notes.add("Ignored a type annotation.")
  else if (groups.separator !== "=") notes.add(`Read "${groups.separator}" as "=".`)
  if (groups.decoration!.trim() !== "") notes.add("Ignored quotes or markup around the name of a list.")
}

/**
 * Limits how much text is parsed twice, as a multiple of the text's length. An invalid list is searched for the head of
 * another one, because an unclosed quote or a comment may have swallowed it. Beyond the limit, the search continues
 * after the invalid list.
 */
const patience = 4

const findLists = (text: string, more: More): { readonly found: Array<Found>; readonly unreadable: Unreadable } => {
  const found: Array<Found> = []
  const unreadable = new Map<ListName, Failure>()
  const head = new RegExp(headSource(more), "giu")
  const isHead = headTest(text, more)
  let spent = 0
  for (let match = head.exec(text); match !== null; match = head.exec(text)) {
    const groups = match.groups!
    const name = listNameOf(groups.name!)
    const json = groups.decoration!.includes('"') && groups.separator === ":"
    const reader: Reader = { text, at: head.lastIndex, forgiving: true, json, notes: new Set(), isHead, more }
    noteHead(reader.notes, name, groups)
    const literal = readLiteral(reader, "brackets")
    const column = literal.type === "failure" ? literal : toColumn(reader, name, literal)
    if ("type" in column) {
      unreadable.set(name, column)
      spent += reader.at - head.lastIndex
      const isPatient = literal.type === "failure" && spent <= patience * text.length
      if (!isPatient) head.lastIndex = reader.at
    } else {
      found.push({ name, column, notes: reader.notes, start: match.index, end: reader.at })
      head.lastIndex = reader.at
    }
  }
  return { found, unreadable }
}

// -------------------------------------------------------------------------------------------------------------------
// Sets
// -------------------------------------------------------------------------------------------------------------------

type Needed = (typeof listNames)[number]

type ListSet = { readonly [Name in Needed]: Found }

const isNeeded = (list: Found): list is Found & { readonly name: Needed } =>
  list.name !== "checks" && list.name !== "how"

/** Splits the lists into groups wherever there are words between them. Comments and code fences do not count. */
const splitAtProse = (text: string, found: ReadonlyArray<Found>): Array<Array<Found>> => {
  const groups: Array<Array<Found>> = []
  let end = -1
  for (const list of found) {
    const between = end < 0 ? "x" : text.slice(end, list.start).replace(/#[^\n]*|```\w{0,16}/g, "")
    if (/\p{L}/u.test(between)) groups.push([list])
    else groups.at(-1)!.push(list)
    end = list.end
  }
  return groups
}

/**
 * Returns complete sets of lists, in order. If a list occurs again before its set is complete, it replaces the earlier
 * one.
 */
const completeSets = (found: ReadonlyArray<Found>): Array<ListSet> => {
  const sets: Array<ListSet> = []
  let open: { [Name in Needed]?: Found | undefined } = {}
  for (const list of found.filter(isNeeded)) {
    open[list.name] = list
    if (listNames.every((name) => open[name] !== undefined)) {
      sets.push(open as ListSet)
      open = {}
    }
  }
  return sets
}

/** Returns sets whose lists are consecutive and in the paper's order, regardless of the text between them. */
const orderedSets = (found: ReadonlyArray<Found>): Array<ListSet> => {
  const sets: Array<ListSet> = []
  for (let index = 2; index < found.length; index++) {
    const [model_id, subtasks, access_list] = [found[index - 2]!, found[index - 1]!, found[index]!]
    if (listNames.every((name, at) => found[index - 2 + at]!.name === name)) {
      sets.push({ model_id, subtasks, access_list })
    }
  }
  return sets
}

const lastEnd = (set: ListSet): number => Math.max(...listNames.map((name) => set[name].end))

/**
 * Returns all sets in a text, in order. Adjacent lists are combined first; the remaining lists may be separated by
 * prose.
 */
const findSets = (text: string, found: ReadonlyArray<Found>): Array<ListSet> => {
  const together = splitAtProse(text, found).flatMap(completeSets)
  const used = new Set(together.flatMap((set) => listNames.map((name) => set[name])))
  const sets = [...together, ...orderedSets(found.filter((list) => isNeeded(list) && !used.has(list)))]
  return sets.length > 0 ? sets.sort((left, right) => lastEnd(left) - lastEnd(right)) : completeSets(found)
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

/** Returns the reason why there is no complete set: a list is invalid or missing. */
const explain = (text: string, found: ReadonlyArray<Found>, unreadable: Unreadable): Failure => {
  const missing = listNames.filter((name) => !found.some((list) => list.name === name))
  const causes = missing.flatMap((name) => unreadable.get(name) ?? [])
  if (causes.length > 0) return causes.reduce((last, cause) => (cause.at > last.at ? cause : last))
  return {
    type: "failure",
    at: found.at(-1)?.end ?? text.length,
    found: found.length === 0 ? "no list" : `no ${missing[0]}`,
    expected: `${missing[0]} = [...]`
  }
}

/** Parses the last complete set of lists in a text. Accepted deviations are added to `notes`. */
export const searchLists = (text: string, notes: Set<string>, more: More): Lists | Failure => {
  const { found, unreadable } = findLists(text, more)
  const sets = findSets(text, found)
  const set = sets.at(-1)
  if (set === undefined) return explain(text, found, unreadable)
  const needed = listNames.map((name) => set[name])
  const first = Math.min(...needed.map((list) => list.start))
  // The checks of a set are located among its lists or after them.
  const checks = found.findLast(({ name, start }) => name === "checks" && start > first)
  const before = sets.length > 1 ? lastEnd(sets.at(-2)!) : -1
  const how = found.findLast(({ name, start }) => name === "how" && start > before)
  // A plan must not run without a part of it that could not be parsed.
  const unreadableHow = unreadable.get("how")
  if (unreadableHow !== undefined && unreadableHow.at > Math.max(first, how?.start ?? 0)) return unreadableHow
  const lists = [...needed, ...(checks === undefined ? [] : [checks]), ...(how === undefined ? [] : [how])]
  const start = Math.min(...lists.map((list) => list.start))
  const end = Math.max(...lists.map((list) => list.end))
  if (/[^\s{}"'`*;]/.test(`${text.slice(0, start)}${text.slice(end)}`)) notes.add("Ignored the text around the lists.")
  if (sets.length > 1) notes.add(`Took the last of ${sets.length} sets of lists.`)
  for (const [name, failure] of unreadable) {
    if (failure.at > end) notes.add(`Ignored a later ${name} list that cannot be read.`)
  }
  for (const list of lists) for (const note of list.notes) notes.add(note)
  const columns: Columns = {
    model_id: set.model_id.column as Columns["model_id"],
    subtasks: set.subtasks.column as Columns["subtasks"],
    access_list: set.access_list.column as Columns["access_list"],
    ...(checks && { checks: checks.column as NonNullable<Columns["checks"]> }),
    ...(how && { how: how.column as NonNullable<Columns["how"]> })
  }
  return sameLength({ text }, { columns, start, end })
}
