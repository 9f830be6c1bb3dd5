/** Determines the position of a partial completion within the workflow grammar. */

/** The element at the end of a partial text. A list `isOpen` if an item may follow without a comma. */
export type Position =
  | { readonly list: "none"; readonly isLineStart: boolean }
  /** Within a literal that has only one possible continuation. */
  | { readonly list: "name"; readonly missing: string; readonly next: Position }
  | { readonly list: "workers"; readonly count: number; readonly isOpen: boolean }
  | {
      readonly list: "subtasks"
      readonly count: number
      readonly steps: number
      readonly isOpen: boolean
      readonly string: "closed" | "open" | "escape"
    }
  /** `item` closes the access list in progress. */
  | {
      readonly list: "access"
      readonly count: number
      readonly steps: number
      readonly isOpen: boolean
      readonly item: string
    }
  | { readonly list: "closed" }

const opening = "model_id = ["
const afterWorkers = "]\nsubtasks = ["
const afterSubtasks = "]\naccess_list = ["

/** Returns the rest of `literal` if `text` is a prefix of it, otherwise `undefined`. */
const missing = (text: string, literal: string): string | undefined =>
  text.length < literal.length && literal.startsWith(text) ? literal.slice(text.length) : undefined

const inAccess = (text: string, steps: number): Position => {
  let count = 0
  let rest = text
  for (;;) {
    const item = /^(?:\[[\d, ]*\]|"all")/.exec(rest)
    if (item === null) break
    count++
    rest = rest.slice(item[0].length)
    if (rest.startsWith("]")) return { list: "closed" }
    const comma = /^, ?/.exec(rest)
    if (comma === null) return { list: "access", count, steps, isOpen: false, item: "" }
    rest = rest.slice(comma[0].length)
  }
  if (rest === "") return { list: "access", count, steps, isOpen: true, item: "" }
  const all = missing(rest, '"all"')
  // After a comma a step must follow. The first step that the grammar accepts here is the successor of the last one.
  const last = /(\d+), ?$/.exec(rest)
  const item = all ?? (last === null ? "]" : `${Number(last[1]) + 1}]`)
  return { list: "access", count: count + 1, steps, isOpen: false, item }
}

const inSubtasks = (text: string, steps: number): Position => {
  const subtask = /"(?:[^"\\]|\\.)*"/y
  let count = 0
  let at = 0
  for (;;) {
    subtask.lastIndex = at
    const string = subtask.exec(text)
    if (string === null) break
    count++
    at += string[0].length
    const close = text.slice(at)
    if (close.startsWith(afterSubtasks)) return inAccess(close.slice(afterSubtasks.length), steps)
    const lacking = close.startsWith("]") ? missing(close, afterSubtasks) : undefined
    if (lacking !== undefined) return { list: "name", missing: lacking, next: inAccess("", steps) }
    const comma = /^, ?/.exec(close)
    if (comma === null) return { list: "subtasks", count, steps, isOpen: false, string: "closed" }
    at += comma[0].length
  }
  if (at === text.length) return { list: "subtasks", count, steps, isOpen: true, string: "closed" }
  const isEscape = /\\$/.test(text.slice(at + 1).replaceAll(/\\[\s\S]/g, ""))
  return { list: "subtasks", count: count + 1, steps, isOpen: false, string: isEscape ? "escape" : "open" }
}

const inWorkers = (text: string): Position => {
  const listed = /^[\d, ]*/.exec(text)![0]
  const count = listed.match(/\d+/g)?.length ?? 0
  const close = text.slice(listed.length)
  if (close.startsWith(afterWorkers)) {
    const rest = close.slice(afterWorkers.length)
    if (count > 0) return inSubtasks(rest, count)
    // Three empty lists have only one possible continuation.
    const empty = `${afterSubtasks}]`
    return rest === empty
      ? { list: "closed" }
      : { list: "name", missing: empty.slice(rest.length), next: { list: "closed" } }
  }
  if (close === "") return { list: "workers", count, isOpen: !/\d$/.test(listed) }
  const next: Position = count > 0 ? inSubtasks("", count) : inWorkers(afterWorkers)
  return { list: "name", missing: afterWorkers.slice(close.length), next }
}

/** Returns the position at the end of a text that the grammar accepts. */
export const positionOf = (completion: string): Position => {
  const lineStart = completion.lastIndexOf(`\n${opening}`) + 1
  if (completion.startsWith(opening, lineStart)) return inWorkers(completion.slice(lineStart + opening.length))
  const line = completion.slice(completion.lastIndexOf("\n") + 1)
  const lacking = line.length >= "model_id".length ? missing(line, opening) : undefined
  if (lacking !== undefined) return { list: "name", missing: lacking, next: inWorkers("") }
  return { list: "none", isLineStart: line === "" }
}
