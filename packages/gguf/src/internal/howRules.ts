/**
 * Grammar rules for the lists `checks` and `how` of a workflow.
 *
 * The rules track what is known about earlier steps: the nesting depth of the items of each step (`n` for a step
 * without items), and whether it has a check. This allows `each` to refer only to steps with items, and `if` only to a
 * step with a check, and it makes room in lists for all their items. To keep the grammar finite, `each` refers to one
 * of the first three steps (two if there are more than five steps), `if` to the previous step, and only the last step
 * can have a quorum. Every text that the grammar accepts also parses in strict mode; plans specified in code have wider
 * limits.
 */
import type { HowFormat, WorkflowFormat } from "@divisi/core/Worker"

type Options = Pick<WorkflowFormat, "how" | "maxSteps" | "poolSize">

/** Known facts about earlier steps: the depth of each step's items, and the checks of the steps starting at `from`. */
interface Known {
  readonly depths: string
  readonly checks: string
}

/** Maximum number of tools in a clause. */
const mostTools = 8

/** Check names that need no escaping, in strings or in a grammar. */
const plainName = /^[A-Za-z][\x20-\x7E]{0,63}$/

const isPlain = (name: string): boolean => plainName.test(name) && !/["\\:]|\s$|^model\s*\d/i.test(name)

const literal = (text: string): string => `"${text.replaceAll(/["\\]/g, "\\$&")}"`

const either = (options: ReadonlyArray<string>): string =>
  options.length === 1 ? options[0]! : `(${options.join(" | ")})`

const upTo = (most: number): string => either(Array.from({ length: most }, (_, index) => `"${index + 1}"`))

/**
 * Returns the maximum number of items in a list, such that all steps together have at most `maxItems` even if lists are
 * nested.
 */
const mostOf = ({ how, maxSteps }: Options): number => {
  const { maxItems = 1000 } = how!
  for (let most = 64; most > 0; most--) {
    if (Math.max((maxSteps - 1) * most, most + Math.max(0, maxSteps - 2) * most * most) <= maxItems) return most
  }
  return 0
}

/** Returns the number of leading steps that `each` can refer to. */
const sourcesOf = ({ maxSteps }: Options): number => (maxSteps <= 5 ? 3 : 2)

// -------------------------------------------------------------------------------------------------------------------
// Clauses
// -------------------------------------------------------------------------------------------------------------------

const digit = "[0123456789]"
const number = (digits: number): string => `[123456789]${` ${digit}?`.repeat(digits - 1)}`

/** Returns the clauses for step settings, in the order in which they are written. */
const settings = ({ tools = [] }: HowFormat): ReadonlyArray<readonly [name: string, rule: string]> => [
  ["think", `"effort " ("minimal" | "low" | "medium" | "high" | "off") | "think " ${number(5)} " tokens"`],
  ["length", `"at most " ${number(5)} " tokens"`],
  ["time", `"at most " ${number(7)} " ms"`],
  ["temperature", `"temperature " ("0" fraction? | "1" fraction? | "2")`],
  [
    "use",
    `"all tools" | "no tools"${tools.length === 0 ? "" : ` | "tools " tools${Math.min(tools.length, mostTools)}`}`
  ]
]

const settingRules = (how: HowFormat): ReadonlyArray<string> => {
  const all = settings(how)
  // Each clause continues with the later ones, so that every clause occurs only once for each continuation.
  const more = all.map(([name], at) =>
    `more${at} ::= ("; " ${name})? ${at + 1 < all.length ? `more${at + 1}` : ""}`.trim()
  )
  const tools = (how.tools ?? []).map(literal)
  const chain = Array.from({ length: Math.min(tools.length, mostTools) }, (_, at) =>
    at === 0 ? `tools1 ::= tool` : `tools${at + 1} ::= tool (", " tools${at})?`
  )
  return [
    ...all.map(([name, rule]) => `${name} ::= ${rule}`),
    `fraction ::= "." ${digit}? [123456789]`,
    ...more,
    `settings ::= ${all.map(([name], at) => (at + 1 < all.length ? `${name} more${at + 1}` : name)).join(" | ")}`,
    ...(tools.length === 0 ? [] : [`tool ::= ${either(tools)}`, ...chain])
  ]
}

// -------------------------------------------------------------------------------------------------------------------
// Steps
// -------------------------------------------------------------------------------------------------------------------

/** Creates rules on first use, following references from the opening rule. */
const makeRules = (options: Options, opening: string, closing: (count: number, seesAll: boolean) => string) => {
  const { how, maxSteps } = options
  const shapes = how!.shapes ?? []
  const most = mostOf(options)
  const sources = sourcesOf(options)
  const rules = new Map<string, string>()
  const rule = (name: string, body: () => string): string => {
    if (!rules.has(name)) {
      rules.set(name, "")
      rules.set(name, body())
    }
    return name
  }

  const step = (count: number, at: number, { checks, depths }: Known): string =>
    rule(`how${count}x${at}x${depths}x${checks}`, () => {
      const isLast = at === count - 1
      const items = [...depths].flatMap((depth, source) => (depth === "n" ? [] : [{ source, depth: Number(depth) }]))
      const isChecked = at > 0 && checks[0] === "c"
      const endings = new Map<string, Array<string>>()
      const add = (parts: ReadonlyArray<string>, deeper: string, seesAll = false) => {
        const body = parts.length === 0 ? "settings?" : `${parts.join(' "; " ')} more0`
        const rest = isLast
          ? rule(`${seesAll ? "quorum" : "ended"}${count}`, () => closing(count, seesAll))
          : `separator ${step(count, at + 1, {
              depths: at < sources ? depths + deeper : depths,
              checks: at === 0 ? checks : checks.slice(1)
            })}`
        endings.set(rest, [...(endings.get(rest) ?? []), body])
      }
      for (const each of [undefined, ...items]) {
        const depth = each?.depth ?? 0
        const isRepair = isChecked && (each === undefined ? depths[at - 1] === "n" : each.source === at - 1)
        const gives = [
          undefined,
          ...(shapes.length === 0 ? [] : ["shape"]),
          ...(isLast || at >= sources || depth === 2 || most === 0 ? [] : ["list"])
        ]
        for (const given of gives) {
          const parts = [...(given === undefined ? [] : [given]), ...(each ? [`"each ${each.source}"`] : [])]
          const deeper = given === "list" ? `${depth + 1}` : depth === 0 ? "n" : `${depth}`
          add(parts, deeper)
          if (isRepair) add([...parts, `"if ${at - 1} failed"`], deeper)
          if (isLast && at > 1) add([...parts, rule(`after${at}`, () => `"after " ${upTo(at)} grace?`)], deeper, true)
        }
      }
      return [...endings].map(([rest, bodies]) => `"\\"" ${either(bodies)} "\\"" ${rest}`).join(" | ")
    })

  /**
   * Returns the rule for `checks`. `checks` has one bit per step, set if a later step may refer to the step's check.
   */
  const check = (count: number, at: number, checks: string): string =>
    rule(`checks${count}x${at}x${checks}`, () => {
      if (at === count) return `"${opening}" ${step(count, 0, { depths: "", checks })}`
      const next = (bit: string) =>
        `${at + 1 < count ? "separator " : ""}${check(count, at + 1, at < sources && at + 1 < count ? checks + bit : checks)}`
      return `"\\"\\"" ${next("n")} | check ${next("c")}`
    })

  return { rules, step, check, most, maxSteps }
}

/** The rules between the subtasks and the access lists, by number of steps. */
export interface HowRules {
  readonly between: (count: number, plain: string) => string
  readonly rules: ReadonlyArray<string>
}

/**
 * Creates the rules for `how`. `closing` returns the rule for the access lists; with a quorum, the last step must see
 * all steps.
 */
export const make = (options: Options, closing: (count: number, seesAll: boolean) => string): HowRules => {
  const how = options.how!
  const opening = "]\\nhow = ["
  const names = (how.checks ?? []).filter(isPlain)
  const made = makeRules(options, opening, closing)
  const revising = `]\\nchecks = [`
  const between = (count: number, plain: string): string => {
    const first = made.step(count, 0, { depths: "", checks: "" })
    const options = [plain, `"${opening}" ${first}`]
    if (names.length > 0) {
      const list = Array.from({ length: count }, () => "revised").join(" separator ")
      options.push(`"${revising}" ${list} ${plain}`, `"${revising}" ${made.check(count, 0, "")}`)
    }
    return `(${options.join(" | ")})`
  }
  // Creating the plans also creates the rules that they use, so this must come first.
  const betweens = Array.from({ length: options.maxSteps }, (_, at) => at + 1)
  for (const count of betweens) between(count, "")
  const again = `": again" (" " ${upTo(16)})?`
  return {
    between,
    rules: [
      ...[...made.rules].map(([name, body]) => `${name} ::= ${body}`),
      ...settingRules(how),
      ...(made.most === 0 ? [] : [`list ::= "list " ${upTo(made.most)}`]),
      ...((how.shapes ?? []).length === 0 ? [] : [`shape ::= "gives " ${either(how.shapes!.map(literal))}`]),
      `grace ::= " +" ("0" | ${number(6)}) " ms"`,
      ...(names.length === 0
        ? []
        : [
            `name ::= ${either(names.map(literal))}`,
            `check ::= "\\"" name (": next" | ": continue" | ${again}) "\\""`,
            `revised ::= "\\"\\"" | "\\"" name "\\"" | check`
          ])
    ]
  }
}
