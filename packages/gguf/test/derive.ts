/** Random texts of a grammar: enough of GBNF for the grammars of this package. */

type Node =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "rule"; readonly name: string }
  | { readonly type: "class"; readonly sample: (random: () => number) => string }
  | { readonly type: "sequence"; readonly nodes: ReadonlyArray<Node> }
  | { readonly type: "choice"; readonly nodes: ReadonlyArray<Node> }
  | { readonly type: "repeat"; readonly node: Node; readonly most: number }

const unescape = (text: string) =>
  text.replaceAll(/\\(x[0-9A-F]{2}|[\s\S])/g, (_, code: string) =>
    code.startsWith("x") && code.length > 1
      ? String.fromCharCode(Number.parseInt(code.slice(1), 16))
      : code === "n"
        ? "\n"
        : code
  )

/** The alphabet of random texts; much of it looks like the lists, or like the end of a string. */
const alphabet = [..."mode_id = [0, 1]\"'\\subtasks:accl\t#`{}()🙂éß中\u2028\u00a0\ufeff"]

const classOf = (source: string): Node => {
  const isNegated = source.startsWith("^")
  const excluded = new RegExp(`[${source.slice(isNegated ? 1 : 0)}]`, "u")
  const letters = isNegated ? alphabet.filter((letter) => !excluded.test(letter)) : [...unescape(source)]
  return { type: "class", sample: (random) => letters[Math.floor(random() * letters.length)]! }
}

const parseRule = (source: string): Node => {
  const tokens = source.match(/"(?:[^"\\]|\\[\s\S])*"|\[(?:[^\]\\]|\\[\s\S])*\]|[a-z]\w*|[()|?*]/g)!
  let at = 0
  const choice = (): Node => {
    const nodes = [sequence()]
    while (tokens[at] === "|") {
      at++
      nodes.push(sequence())
    }
    return nodes.length === 1 ? nodes[0]! : { type: "choice", nodes }
  }
  const sequence = (): Node => {
    const nodes: Array<Node> = []
    while (at < tokens.length && tokens[at] !== "|" && tokens[at] !== ")") nodes.push(postfix())
    return { type: "sequence", nodes }
  }
  const postfix = (): Node => {
    const node = atom()
    if (tokens[at] === "?" || tokens[at] === "*") return { type: "repeat", node, most: tokens[at++] === "?" ? 1 : 12 }
    return node
  }
  const atom = (): Node => {
    const token = tokens[at++]!
    if (token === "(") {
      const node = choice()
      at++
      return node
    }
    if (token.startsWith('"')) return { type: "text", text: unescape(token.slice(1, -1)) }
    if (token.startsWith("[")) return classOf(token.slice(1, -1))
    return { type: "rule", name: token }
  }
  return choice()
}

/** A function that derives a random text of a grammar. */
export const deriver = (grammar: string): ((random: () => number) => string) => {
  const rules = new Map(
    grammar
      .trim()
      .split("\n")
      .map((line) => line.split(" ::= ") as [string, string])
      .map(([name, source]) => [name, parseRule(source)])
  )
  const derive = (node: Node, random: () => number): string => {
    switch (node.type) {
      case "text":
        return node.text
      case "rule":
        return derive(rules.get(node.name)!, random)
      case "class":
        return node.sample(random)
      case "sequence":
        return node.nodes.map((part) => derive(part, random)).join("")
      case "choice":
        return derive(node.nodes[Math.floor(random() * node.nodes.length)]!, random)
      case "repeat": {
        const count = Math.floor(random() * (node.most + 1))
        return Array.from({ length: count }, () => derive(node.node, random)).join("")
      }
    }
  }
  return (random) => derive({ type: "rule", name: "root" }, random)
}

/** A generator of numbers from 0 to 1, the same for the same seed. */
export const randomOf = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
