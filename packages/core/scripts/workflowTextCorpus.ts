/**
 * Generates texts for the comparison of strict reading with Python: workflows in every spelling Python allows, and the
 * same texts broken. Everything follows from the seed.
 */
import type { Workflow } from "../src/workflow/Workflow.ts"

interface Random {
  /** An integer from 0 to `count - 1`. */
  readonly below: (count: number) => number
  readonly chance: (share: number) => boolean
  readonly pick: <A>(values: ReadonlyArray<A>) => A
  /** Up to `most` values. */
  readonly many: <A>(most: number, make: () => A) => ReadonlyArray<A>
}

/** A small seeded generator (mulberry32) with the choices that a corpus needs. */
export const makeRandom = (seed: number): Random => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const below = (count: number) => Math.floor(next() * count)
  return {
    below,
    chance: (share) => next() < share,
    pick: (values) => values[below(values.length)]!,
    many: (most, make) => Array.from({ length: below(most + 1) }, make)
  }
}

const characters = [
  ..."abc xyz 019 _.,;:!?()[]{}<>#=+-*/%&|~^@$\"'`\\",
  "é",
  "ß",
  "中",
  "😀",
  "\u00a0",
  "\u200b",
  "\u2028",
  "\u0085",
  "\ufeff",
  "“",
  "’",
  "\x01",
  "\x7f",
  "\t",
  "\v",
  "\f"
]

const goodEscapes = [
  ..."\\\\ \\' \\\" \\a \\b \\f \\n \\r \\t \\v \\0 \\7 \\12 \\101 \\377 \\400 \\777 \\08 \\1234".split(" "),
  ..."\\x41 \\xfF \\x00 \\u0041 \\uD83D\\uDE00 \\ud800 \\udFFF \\uFFFF \\U0001f600 \\U0010FFFF \\U0000d800".split(" "),
  ..."\\d \\s \\. \\/ \\( \\c \\ \\é \\8 \\9 \\% \\A \\X".split(" ")
]

const badEscapes = [
  ..."\\x \\x4 \\xg1 \\x4_1 \\u \\u004 \\u00g1 \\U0011 \\U00110000 \\UFFFFFFFF \\N \\N{ \\N{} \\N{NO\\ SUCH}".split(
    " "
  ),
  "\\N{NOT A NAME}",
  "\\N{ BULLET}",
  "\\N{BULLET }",
  "\\N{KEYCAP DIGIT ONE}",
  "\\N{HANGUL SYLLABLE XX}",
  "\\N{hangul syllable ga}",
  "\\N{CJK UNIFIED IDEOGRAPH-4e2d}",
  "\\N{CJK UNIFIED IDEOGRAPH-0041}",
  "\\N{LATIN SMALL LETTER ı}",
  "\\N{U+0041}"
]

const breaks = ["\n", "\n", "\n", "\r\n", "\r"]
const prefixes = ["", "", "", "", "", "", "r", "R", "u", "U"]
const oddPrefixes = ["b", "B", "rb", "Br", "f", "F", "fr", "Rf", "ur", "bu", "x", "rr", "ru"]
const lead = [..."0123456789"]

type Make = () => string

/** Returns a generator of pieces of text. `oddities` is the share of pieces that are wrong. */
const makePieces = (random: Random, oddities: number) => {
  const { below, chance, many, pick } = random
  const odd = () => chance(oddities)

  const character = () => (chance(0.6) ? pick([..."abcdefgh ,.[]"]) : pick(characters))

  const string = (): string => {
    const prefix = odd() ? pick(oddPrefixes) : pick(prefixes)
    const quote = pick(['"', "'"])
    const triple = chance(0.25)
    const piece = () => {
      if (chance(0.25)) return odd() ? pick(badEscapes) : pick(goodEscapes)
      if (chance(0.08)) return `\\${pick(breaks)}`
      if (triple && chance(0.15)) return pick(breaks)
      if (triple && chance(0.05)) return quote
      if (odd() && chance(0.3)) return pick(["\n", quote, "\0", "\ud800", "\udc00"])
      const one = character()
      return one === quote || one === "\\" ? `\\${one}` : one
    }
    const body = many(8, piece).join("")
    const delimiter = quote.repeat(triple ? 3 : 1)
    return `${prefix}${delimiter}${body}${odd() && chance(0.2) ? "" : delimiter}`
  }

  const digits = (alphabet: ReadonlyArray<string>, most: number) => {
    const length = 1 + below(most)
    let text = pick(alphabet)
    for (let index = 1; index < length; index++) text += (chance(0.15) ? "_" : "") + pick(alphabet)
    return text
  }

  const integer = (): string => {
    if (odd())
      return pick([
        "01",
        "1__0",
        "1_",
        "_1",
        "0x",
        "0x_",
        "0b2",
        "0o8",
        "1.0",
        "1e3",
        ".5",
        "1j",
        "0_7",
        "-(-1)",
        "-(+2)",
        "+(-0)",
        "(--1)",
        "-(-(1))",
        "--1",
        "1if",
        "1a",
        "0xg",
        "00.",
        "1.e",
        "1+2j",
        "1-2",
        "-True",
        "~1",
        "9".repeat(4400),
        "0".repeat(4400)
      ])
    const kind = below(12)
    if (kind < 6) return String(below(kind < 4 ? 4 : 1200))
    if (kind === 6) return `${pick(["0x", "0X"])}${pick(["", "_"])}${digits([..."0123456789abcdefABCDEF"], 3)}`
    if (kind === 7) return `${pick(["0o", "0O"])}${pick(["", "_"])}${digits([..."01234567"], 3)}`
    if (kind === 8) return `${pick(["0b", "0B"])}${pick(["", "_"])}${digits(["0", "1"], 6)}`
    if (kind === 9) return digits(lead, 4).replace(/^[0_]+(?=.)/, "") || "0"
    if (kind === 10) return pick(["0", "00", "0_0", "000", "-0", "+0", "- 0", "-(0)", "+(1)", "-((0x0))", "(+2)"])
    return `${pick(["-", "+", "- ", "+ "])}${below(5)}`
  }

  const blank = (within: boolean) => {
    if (chance(0.75)) return chance(0.5) ? " " : ""
    if (!within) return pick([" ", "\t", "\f", " \\\n ", "\\\r\n", odd() ? "\u00a0" : "  "])
    return pick([
      "\n",
      "\r\n",
      "\r",
      "\t",
      " # a [ \" ' comment\n",
      "#\r",
      "\\\n",
      odd() ? "\u3000" : "\n\n   ",
      odd() ? "\v" : " "
    ])
  }

  const grouped = (value: string) => {
    if (chance(0.9)) return value
    const depth = chance(0.97) ? 1 + below(2) : 190 + below(15)
    return `${`(${blank(true)}`.repeat(depth)}${value}${`${blank(true)})`.repeat(depth)}`
  }

  const strings = () => {
    let text = string()
    while (chance(0.15)) text += blank(true) + string()
    return text
  }

  const oddValue = () =>
    pick([
      "None",
      "True",
      "False",
      "...",
      "{}",
      "{1}",
      "{'a': 1}",
      "set()",
      "a",
      "x[0]",
      "[1][0]",
      "not 1",
      "lambda: 1",
      "*[1]",
      "[*a]",
      "1 if 1 else 2",
      "b''",
      "f'{1}'",
      "-[1]",
      "-'a'",
      "(a := 1)",
      "[x for x in y]",
      "1 < 2",
      "'a' % 1",
      "'a'.b",
      "null",
      "true",
      "1, 2",
      "",
      ",",
      "[",
      ")",
      "all"
    ])

  const value = (make: Make) => grouped(odd() && chance(0.5) ? oddValue() : make())

  const sequence = (items: ReadonlyArray<string>, bare = false): string => {
    const [open, close] = chance(0.75) ? ["[", "]"] : ["(", ")"]
    const body = items
      .map((item) => blank(true) + item + blank(true))
      .join(odd() && chance(0.2) ? pick(["", ",,", ";", " "]) : ",")
    const comma = items.length > 0 && (chance(0.15) || (open === "(" && items.length === 1)) ? `,${blank(true)}` : ""
    if (bare && items.length > 0)
      return items.map((item) => item.replace(/[\n\r]/g, " ")).join(", ") + (items.length === 1 ? "," : "")
    return `${open}${body}${comma}${items.length === 0 ? blank(true) : ""}${odd() && chance(0.2) ? pick(["", "]", ")"]) : close}`
  }

  const access = (): string => {
    const kind = below(10)
    if (kind < 4)
      return pick(['"all"', "'all'", "r'all'", '"""all"""', "'a' 'll'", "'\\x61ll'", odd() ? "'ALL'" : "'all'"])
    if (kind < 7) return pick(["[]", "()", "[ ]", "(\n)", "[]"])
    return sequence(many(3, () => value(chance(0.7) ? () => String(below(3)) : integer)))
  }

  return { access, below, blank, chance, integer, odd, pick, sequence, strings, value }
}

type Pieces = ReturnType<typeof makePieces>

const makeStatements = (pieces: Pieces): Array<string> => {
  const { access, below, blank, chance, integer, odd, pick, sequence, strings, value } = pieces
  const length = chance(0.1) ? 0 : 1 + below(4)
  const list = (make: Make) => {
    const count = chance(0.03) ? below(5) : length
    const items = Array.from({ length: count }, () => value(make))
    return chance(0.95) ? sequence(items, chance(0.03)) : value(() => sequence(items))
  }
  const worker = () => (chance(0.7) ? String(below(7)) : integer())
  const statements: Array<[name: string, literal: string]> = [
    ["model_id", list(worker)],
    ["subtasks", list(strings)],
    ["access_list", list(access)]
  ]
  if (chance(0.1)) statements.reverse()
  if (chance(0.05)) statements.push(["model_id", list(worker)])
  if (chance(0.02)) return [`model_id =${blank(false)}subtasks = access_list = ${pick(["[]", "()", "[ ]"])}`]
  if (odd() && chance(0.3)) statements.splice(below(statements.length), 1)
  return statements.map(([name, literal]) => {
    const written =
      odd() && chance(0.3)
        ? pick(["models", "Model_id", "model id", "", "model_id: list", "ｍodel_id", "subtasks += 1;", "x"])
        : name
    return `${written}${blank(false)}${odd() && chance(0.1) ? pick([":", "==", "", ":="]) : "="}${blank(false)}${literal}`
  })
}

const joinStatements = (pieces: Pieces, statements: ReadonlyArray<string>): string => {
  const { chance, odd, pick } = pieces
  const newline = pick(breaks)
  const filler = () => {
    if (chance(0.8)) return ""
    return pick([
      `# comment [ " '${newline}`,
      newline,
      ` ${newline}`,
      `\t# c${newline}`,
      "\f",
      " \f",
      "\\\n",
      odd() ? "  " : "",
      odd() ? "prose\n" : "",
      odd() ? "\ufeff" : ""
    ])
  }
  let text = filler()
  statements.forEach((statement, index) => {
    const last = index === statements.length - 1
    const end = chance(0.1) ? pick([";", "; ", ";;", ` ;${newline}`, `; # c${newline}`]) : newline
    const comment = chance(0.1) ? ` # ]"'${newline}` : ""
    text += statement + (comment || (last && chance(0.5) ? "" : end)) + (last && chance(0.9) ? "" : filler())
  })
  return text
}

/** Takes out, doubles, swaps or puts in a little, anywhere. */
const damage = (random: Random, text: string): string => {
  const at = random.below(text.length + 1)
  const length = random.below(random.chance(0.8) ? 2 : 12)
  switch (random.below(4)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1 + length)
    case 1:
      return text.slice(0, at) + text.slice(at, at + 1 + length) + text.slice(at)
    case 2:
      return (
        text.slice(0, at) +
        random.pick([...characters, "\n", "\r", "\0", "\ud83d", "[", "]", ",", '"', "'", "\\"]) +
        text.slice(at)
      )
    default:
      return text.slice(0, at)
  }
}

/** The texts of a corpus: about half are read by Python. */
export const makeCorpus = (seed: number, count: number): Array<string> => {
  const random = makeRandom(seed)
  return Array.from({ length: count }, () => {
    const pieces = makePieces(random, random.chance(0.5) ? 0 : 0.04)
    let text = joinStatements(pieces, makeStatements(pieces))
    while (random.chance(0.15)) text = damage(random, text)
    return text
  })
}

const weird = [
  ...characters,
  "\0",
  "\n",
  "\r",
  "\r\n",
  "\ud83d",
  "\ude00",
  "\udfff",
  "\u2029",
  '"""',
  "'''",
  "\\N{BULLET}",
  "\\u0041",
  "\\",
  "]",
  "\nmodel_id = [9]\n"
]

/** Workflows with subtasks that are hard to write. */
export const makeWorkflows = (seed: number, count: number): Array<Workflow> => {
  const random = makeRandom(seed)
  return Array.from({ length: count }, () => ({
    steps: Array.from({ length: 1 + random.below(5) }, (_, step) => ({
      worker: random.below(7),
      subtask: random.many(12, () => random.pick(weird)).join(""),
      access: random.chance(0.5)
        ? ("all" as const)
        : Array.from({ length: step }, (_, index) => index).filter(() => random.chance(0.5))
    }))
  }))
}
