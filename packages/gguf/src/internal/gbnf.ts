/** Compiles a GBNF grammar to an automaton over characters. */

/**
 * A node of the automaton: `free` lists the nodes reachable without a character, `target` the node after an accepted
 * one.
 */
export interface Edges {
  readonly free: ReadonlyArray<number>
  readonly accepts?: ((codePoint: number) => boolean) | undefined
  readonly target: number
}

/** The compiled grammar. Nodes are referenced by index. */
export interface Automaton {
  readonly edges: ReadonlyArray<Edges>
  readonly start: number
  readonly end: number
}

type Node =
  | { readonly type: "accept"; readonly accepts: (codePoint: number) => boolean }
  | { readonly type: "rule"; readonly name: string }
  | { readonly type: "sequence" | "choice"; readonly nodes: ReadonlyArray<Node> }
  | { readonly type: "repeat"; readonly node: Node; readonly times: "?" | "*" | "+" }

/** A syntax error in a grammar. */
class Problem extends Error {}

const named: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" }

/**
 * Returns the characters of a string or class, with escapes resolved. The second value is whether the character was
 * literal, as opposed to escaped.
 */
const charactersOf = (source: string): ReadonlyArray<readonly [codePoint: number, isPlain: boolean]> =>
  Array.from(source.matchAll(/\\x([0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})|\\([\s\S])|([\s\S])/gu), (match) => {
    const [, byte, unit, escaped, plain] = match
    const hexadecimal = byte ?? unit
    if (hexadecimal !== undefined) return [Number.parseInt(hexadecimal, 16), false] as const
    if (plain !== undefined) return [plain.codePointAt(0)!, true] as const
    return [(named[escaped!] ?? escaped!).codePointAt(0)!, false] as const
  })

const dash = 45

const classOf = (source: string): Node => {
  const isNegated = source.startsWith("^")
  const characters = charactersOf(isNegated ? source.slice(1) : source)
  const ranges: Array<readonly [from: number, to: number]> = []
  for (let at = 0; at < characters.length; at++) {
    const [from] = characters[at]!
    const [between, isPlain] = characters[at + 1] ?? []
    const last = characters[at + 2]
    const isRange = between === dash && isPlain === true && last !== undefined
    ranges.push([from, isRange ? last[0] : from])
    if (isRange) at += 2
  }
  const isIn = (codePoint: number) => ranges.some(([from, to]) => codePoint >= from && codePoint <= to)
  return { type: "accept", accepts: isNegated ? (codePoint) => !isIn(codePoint) : isIn }
}

const textOf = (source: string): Node => ({
  type: "sequence",
  nodes: charactersOf(source).map(([wanted]) => ({ type: "accept", accepts: (codePoint) => codePoint === wanted }))
})

const token = /"(?:[^"\\]|\\[\s\S])*"|\[(?:[^\]\\]|\\[\s\S])*\]|[A-Za-z][\w-]*|[()|?*+]/y

const tokensOf = (source: string): ReadonlyArray<string> => {
  const tokens: Array<string> = []
  for (let at = 0; at < source.length; ) {
    if (source[at] === " ") {
      at++
      continue
    }
    token.lastIndex = at
    const found = token.exec(source)
    if (found === null) throw new Problem(`"${source.slice(at, at + 20)}" cannot be read.`)
    tokens.push(found[0])
    at += found[0].length
  }
  return tokens
}

const parse = (source: string): Node => {
  const tokens = tokensOf(source)
  let at = 0
  const choice = (): Node => {
    const nodes = [sequence()]
    while (tokens[at] === "|") {
      at++
      nodes.push(sequence())
    }
    return { type: "choice", nodes }
  }
  const sequence = (): Node => {
    const nodes: Array<Node> = []
    while (at < tokens.length && tokens[at] !== "|" && tokens[at] !== ")") nodes.push(repeat())
    return { type: "sequence", nodes }
  }
  const repeat = (): Node => {
    const node = one()
    const times = tokens[at]
    if (times !== "?" && times !== "*" && times !== "+") return node
    at++
    return { type: "repeat", node, times }
  }
  const one = (): Node => {
    const found = tokens[at++]!
    if (found === "(") {
      const node = choice()
      if (tokens[at++] !== ")") throw new Problem("A parenthesis is not closed.")
      return node
    }
    if (found.startsWith('"')) return textOf(found.slice(1, -1))
    if (found.startsWith("[")) return classOf(found.slice(1, -1))
    if (!/^\w/.test(found)) throw new Problem(`"${found}" must follow an expression.`)
    return { type: "rule", name: found }
  }
  const node = choice()
  if (at < tokens.length) throw new Problem("A closing parenthesis has no opening one.")
  return node
}

const rulesOf = (source: string): ReadonlyMap<string, Node> =>
  new Map(
    source
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => {
        const [, name, body] = /^([A-Za-z][\w-]*) ::= (.*)$/.exec(line) ?? []
        if (name === undefined || body === undefined) throw new Problem(`"${line}" is not a rule.`)
        return [name, parse(body)]
      })
  )

/** Lays out the rules as an automaton. Nodes are built backwards from the end, and rules are expanded at every use. */
const layOut = (rules: ReadonlyMap<string, Node>): Automaton => {
  const edges: Array<Edges> = []
  const made = new Map<string, number>()
  const within = new Set<string>()
  const add = (edge: Edges): number => edges.push(edge) - 1
  const end = add({ free: [], target: 0 })
  const ruleTo = (name: string, next: number): number => {
    const key = `${name} ${next}`
    const known = made.get(key)
    if (known !== undefined) return known
    const rule = rules.get(name)
    if (rule === undefined) throw new Problem(`There is no rule ${name}.`)
    if (within.has(name)) throw new Problem(`The rule ${name} contains itself.`)
    within.add(name)
    const place = to(rule, next)
    within.delete(name)
    made.set(key, place)
    return place
  }
  const to = (node: Node, next: number): number => {
    switch (node.type) {
      case "accept":
        return add({ free: [], accepts: node.accepts, target: next })
      case "rule":
        return ruleTo(node.name, next)
      case "sequence":
        return node.nodes.reduceRight((after, part) => to(part, after), next)
      case "choice":
        return add({ free: node.nodes.map((part) => to(part, next)), target: next })
      case "repeat": {
        if (node.times === "?") return add({ free: [to(node.node, next), next], target: next })
        const free: Array<number> = [next]
        const loop = add({ free, target: next })
        const first = to(node.node, loop)
        free.push(first)
        return node.times === "*" ? loop : first
      }
    }
  }
  return { edges, end, start: ruleTo("root", end) }
}

/** Compiles a grammar. Returns a description of the problem if the grammar is invalid. */
export const compile = (source: string): Automaton | string => {
  try {
    return layOut(rulesOf(source))
  } catch (cause) {
    if (cause instanceof Problem) return cause.message
    throw cause
  }
}
