/**
 * Rewrites values that are spelled in code, in words, in emojis or in a record in the notation that the other readers
 * know: `169*pi`, "as 13 is to 9", "0.45 with 45 repeating", `answer=5; checks=2`.
 */
import { answerWords } from "../internal/answerWords.ts"
import { ofChinese, withDigits } from "../internal/numerals.ts"

type Replacement = string | ((match: string, ...groups: Array<string>) => string)

/** A text to look for first, because most texts need no rule, and the rules for texts that contain it. */
type Rule = readonly [guard: RegExp, pattern: RegExp, replacement: Replacement]

const value = String.raw`[-−]?\d[\d.,]*(?![\d/])`

/** Words and marks directly before a value that is stated. */
const stated = String.raw`(?:^|\n\s*|[=:,;(]|(?<!\p{L})(?:is|are|equals?|be|to|of|get|gets|gives?|yields?|obtain|answer|result|ist|lautet|beträgt|ergibt|est|vaut|donne|es|vale|é|è|fa|dá|da|är|er|is|jest|to|wynosi|je|равно|равен|равна|это|ответ|olur))\s*[*_$]*`

const minus = "minus|negative|moins|menos|meno|минус|mínus|eksi"

const repeated = (all: string, digits: string, block: string) => {
  const decimals = digits.slice(digits.indexOf(".") + 1)
  return decimals.endsWith(block) ? `${digits.slice(0, digits.length - block.length)}(${block})` : all
}

const under = (digits: string) => digits.replace(/[\u0304\u0305]/g, "")

const interval = (_: string, kind: string | undefined, ends: string) => {
  const [open, close] = { open: "()", Lopen: "(]", Ropen: "[)" }[kind ?? ""] ?? "[]"
  return `${open}${ends}${close}`
}

const one = String.raw`[^(),\n]{1,40}`

const rules: ReadonlyArray<Rule> = [
  [/\u20e3/, /([\d])\ufe0f?\u20e3/g, "$1"],
  [/\u{1f51f}/u, /\u{1f51f}/gu, "10"],
  [/[\u0304\u0305]/, /(\d*\.\d*?)((?:\d[\u0304\u0305])+)/g, (_, lead, block) => `${lead}(${under(block!)})`],
  [/[∶]/, /[ ]?∶[ ]?/g, ":"],
  // Code
  [/math\.|np\.|numpy\.|sympy\.|Math\./, /\b(?:math|np|numpy|sympy|sp|Math)\.(?=\w)/g, ""],
  [/\blog\b/, /\blog(?=\()([^\n]*?)\s*\((?:the )?natural (?:log\w*|base)\)/gi, "ln$1"],
  [/\*\*/, /(?<=(?<![a-zA-Z])[a-zA-Z\d]|\))\*\*(?=-?\d+(?![\d*])|[a-z](?![a-z*])|\()/g, "^"],
  [/\bpi\b/i, /(?<=\d)\s*\*\s*pi\b|(?<=[\d)])\s*\*\s*PI\b/g, "π"],
  [/\bpi\b/i, /(?<![\\\w])pi\b(?=\s*\/\s*\d)|(?<=^\s*|[=(]\s*)pi(?=\s*\*\s*\d)/gi, "π"],
  [/Rational|Fraction/, new RegExp(`\\b(?:Rational|Fraction)\\((${one}),\\s*(${one})\\)`, "g"), "$1/$2"],
  [/FiniteSet/, /\bFiniteSet\(([^()\n]{1,200})\)/g, "{$1}"],
  [/Interval/, new RegExp(`\\bInterval(?:\\.(open|Lopen|Ropen))?\\((${one},\\s*${one})\\)`, "g"), interval],
  [/Union/, /\bUnion\(([([][^()[\]\n]*[)\]]),\s*([([][^()[\]\n]*[)\]])\)/g, "$1 ∪ $2"],
  [/Matrix|array/, /\b(?:Matrix|array|vector)\((\[[^()\n]{1,200}\])\)/g, "$1"],
  [/oo\b|inf/i, /(?<![\p{L}\\])(?:oo|inf(?:inity|ty)?)(?=\s*[,)\]])/giu, "∞"],
  [/[)\]] ?U ?[([]/, /(?<=[\d∞][)\]]) ?U ?(?=[([])/g, " ∪ "],
  [
    /(?:\\in|∈|\bin)\s*(?:ℤ|\\mathbb|\\Z|Z)/,
    /^[\s$]*\\?\{\s*(?:[a-z]\s*(?:∈|\\in)\s*(?:ℤ|\\mathbb\s*\{?Z\}?)\s*(?::|\||\\mid)\s*)?([^:|{}=\n]{1,40}?)\s*(?::|\||\\mid)\s*([kmnt])\s*(?:∈|\\in)\s*(?:ℤ|\\mathbb\s*\{?Z\}?)\s*\\?\}[\s$.]*$/,
    "n = $1, $2 \\in \\mathbb{Z}"
  ],
  [
    /ℤ|\\Z|\\mathbb/,
    /^[\s$]*(?:(\d+)\s*\+\s*(\d+)\s*(?:ℤ|\\mathbb\s*\{?Z\}?)|(\d+)\s*(?:ℤ|\\mathbb\s*\{?Z\}?)\s*\+\s*(\d+))[\s$.]*$/,
    (_, rest, step, first, last) => `n = ${step ?? first}k + ${rest ?? last}, k \\in \\mathbb{Z}`
  ],
  [/lambda/, /^(?:[a-z]\s*=\s*)?lambda ([a-z]):\s*(\S[^\n]{0,80})$/, "f($1) = $2"],
  [/\bdef\b/, /^def ([a-z])\(([a-z])\):\s*return\s+(\S[^\n]{0,80})$/, "$1($2) = $3"],
  [/->|=>|↦|→/, /^\\?([a-z])\s*(?:->|=>|↦|→)\s*(?=\S*\1)(\S[^\n]{0,80})$/, "f($1) = $2"],
  // Words
  [new RegExp(`(?:${minus})`, "iu"), new RegExp(`(?<=${stated})(?:${minus})\\s+(?=[\\d$])`, "giu"), "-"],
  [/[负負マ]/, /(?:负|負|マイナス)(?=\d)/g, "-"],
  [
    /repeat|recur/i,
    /(\d*\.\d+)(?:\.{3}|…)?,? \(?(?:(?:with|where)(?: the)?(?: digits?| block)? )?(?:the )?(\d+)(?: is| are)? (?:repeat\w*|recur\w*)(?: (?:forever|indefinitely|infinitely|endlessly))?\)?/gi,
    (all, digits, block) => repeated(all, digits!, block!)
  ],
  [
    /repeat|recur/i,
    /(\d*\.)(\d{1,6}) \(?(?:repeating|recurring)\)?(?=[.!]?(?:\s|$))/gi,
    (_, lead, block) => `${lead}(${block})`
  ],
  [
    /\bover\b|divided by/i,
    new RegExp(
      `(?<=${stated})([-−]?\\d+|[a-z]+(?:-[a-z]+)?) (?:over|divided by) (\\d+|[a-z]+(?:-[a-z]+)?)(?=[.!*]*\\s*(?:$|\\n))`,
      "giu"
    ),
    (all, top, bottom) => {
      const [a, b] = [withDigits(`${top} `).trim(), withDigits(`${bottom} `).trim()]
      return /^[-−]?\d+$/.test(a) && /^\d+$/.test(b) ? `${a}/${b}` : all
    }
  ],
  [/ is to /, new RegExp(`(?:(?<!\\p{L})is )?as (${value}) is to (${value})`, "gu"), (_, a, b) => `is ${a}:${b}`],
  [
    /for every/i,
    new RegExp(`[Ff]or every (${value}) \\p{L}+,? there (?:are|is) (${value})(?: \\p{L}+)?`, "gu"),
    "The ratio is $1:$2"
  ],
  [
    /\bconstant\b/i,
    /,? \(?(?:where|with|and) \$?[CcKk]\$? (?:is|∈|denotes|being|as|represents) (?:an?|any|the|some) (?:(?:arbitrary|real|integration) )*constant(?: of integration)?\)?(?=[.!]?\s*(?:$|\n))/g,
    ""
  ],
  [
    /of the form/i,
    /^\W*(?:(?:all|any|every|the)\s+)?(?:(?:integers?|numbers?|values?)\s+)?(?:\$?([a-z])\$?\s+)?(?:are |is )?(?:those )?of the form\s+(?=\$?[\dkmnt])/i,
    (_, name) => `${name ?? "n"} = `
  ],
  [
    /[二三四五六七八九十百千万億亿]/,
    /(?<=[是為为共有得于於])([零〇一二两三四五六七八九十百千万億亿]+)(?=[。！，,\s个個人元种種天条條]|$)/g,
    (all, numeral) => (numeral === "一" ? all : String(ofChinese(numeral!)))
  ],
  [
    / point /i,
    /(?<![\w-])([a-z]+(?:[- ][a-z]+){0,4}?) point ((?:zero|one|two|three|four|five|six|seven|eight|nine)(?:[ -](?:zero|one|two|three|four|five|six|seven|eight|nine))*)(?![\w-])/gi,
    (all, whole, parts) => {
      const words = whole!.split(" ")
      const at = words.findIndex((_, index) => /^\d+$/.test(withDigits(` ${words.slice(index).join(" ")} `).trim()))
      if (at === -1) return all
      const decimals = parts!.split(/[ -]/).map((one) => withDigits(`${one}    `).trim().replace(/^one$/i, "1"))
      return [
        ...words.slice(0, at),
        `${withDigits(` ${words.slice(at).join(" ")} `).trim()}.${decimals.join("")}`
      ].join(" ")
    }
  ],
  [/[–]\d/, /(?<=^|[\n:=($]\s*)–(?=\d)/g, "-"],
  [
    /\((?:approx|about|roughly|≈|~|i\.e|or about)/i,
    /(?<=[\d$})\p{L}]) \((?:approximately|approx\.?|about|roughly|≈|~|i\.e\.,? (?:about|approximately)|or (?:about|approximately))\s*(\$?-?\d[\d.]*\$?)\)(?=[.!*$]*\s*(?:$|\n))/giu,
    " ≈ $1"
  ],
  [/\bbase\b/i, /(?<![\w.])([\dA-F]+) \((?:in )?base[ -](\d{1,2})\)/g, "$1_{$2}"],
  [/\*I\b/, /(?<=\d)\*I\b/g, "i"],
  [/\d(?:in|ft|cm|mm|km|yd|mi|m)[²³]/, /(?<=\d)(?=(?:in|ft|cm|mm|km|yd|mi|m)[²³])/g, " "],
  [
    /\[[^[\]]*;[^[\]]*\]/,
    /\[((?:\s*-?[\d./]+[ ,]?)+(?:;(?:\s*-?[\d./]+[ ,]?)+)+)\]/g,
    (_, rows) =>
      `[${rows!
        .split(";")
        .map((row) => `[${row.trim().split(/[ ,]+/).join(",")}]`)
        .join(",")}]`
  ],
  [
    /\bover \d/i,
    /\bover (?=\d+ (?:days?|hours?|weeks?|months?|years?|minutes?|seconds?|shifts|trips|games|rounds)\b)/gi,
    "in "
  ],
  [
    /as (?:my|the) (?:final )?answer/i,
    /(?<![\p{L}\d])(?:I['’](?:d|ll)|I (?:would|will)) (?:go with|say|answer|submit|give|put|settle on) (\S[^.\n?]{0,80}?) as (?:my|the) (?:final )?answer/giu,
    "My final answer is $1"
  ],
  // Wrappers
  [/\\textcolor/, /\\textcolor\s*\{[^{}]{1,20}\}\s*\{((?:[^{}]|\{[^{}]{0,200}\}){1,300})\}/g, "$1"],
  [
    /\\(?:text|math)/,
    new RegExp(
      `\\$\\\\(?:text(?:bf|it|rm|sf)?|mathbf|mathrm)\\s*\\{\\s*((?:final )?(?:${answerWords}))\\s*[:=]\\s*([^{}$]{1,80})\\}\\$`,
      "giu"
    ),
    "$1: $2"
  ],
  [/ [—–|/·•] /, new RegExp(` [—–|/·•] (?=(?:final )?(?:${answerWords})\\s?[:：])`, "giu"), "\n"],
  // Leaders between a label and its value
  [/\.{4}|…{2}|_{4}/, /(?<=\p{L})\s?(?:\.{4,}|…{2,}|_{4,})\s*(?=[-−$\d\\])/gu, ": "],
  [
    /\?\s/,
    /(?<=^|[.!\n]\s*)((?:(?:and|so|now|but)\s+)?(?:(?:the|my|our)\s+)?(?:final\s+)?(?:answer|result|total)|(?:die )?antwort|(?:la )?réponse|(?:la )?respuesta|(?:a )?resposta|(?:la )?risposta|ответ)\s?\?\s+(?=[*_$]*[-−]?[\d$\\][^?\n]*$)/giu,
    "$1: "
  ],
  // Values in words
  [
    / can (?:only )?be /,
    /(?<!\p{L})(\$?[a-zA-Z]\$?) can (?:only )?be (?:either )?(?=[-−\d$](?![^.;:\n]{0,80}\b(?:more|less|fewer|greater|any|least|most|not|above|below|than)\b)[^.;:\n]{0,40}(?:,| or | and )[^.;:\n]{0,40}[.!]?\s*$)/gu,
    "$1 = "
  ],
  [
    /congruent/,
    /(?<!\p{L})\$?([a-zA-Z])\$? is (?:thus |therefore |hence )?congruent to \$?(-?\d+)\$? mod(?:ulo)? \$?(\d+)\$?/giu,
    "$$$1 \\equiv $2 \\pmod{$3}$$"
  ],
  [
    /erhältnis|apport|atio|azón|roporción|azão|roporção|erhouding|tosunek|тношение|örhållandet/,
    /((?:verhältnis|rapport|ratio|razón|proporción|rapporto|razão|proporção|verhouding|stosunek|отношение|förhållandet)(?!\p{L})[^.\n\d]{0,60}?)(\d+(?:[.,]\d+)?)(?:\s[:∶]\s|∶|\s(?:zu|à|a|para|tot|do|к|till)\s)(\d+(?:[.,]\d+)?)(?=[.!*$]*\s*$)/giu,
    "$1$2:$3"
  ],
  [
    /[<>≤≥=]/,
    /(?<=[<>≤≥=]\s?[-−]?[\d./√π]{1,12}\$?)\s+(?:oder|ou|o|eller|или|lub|albo|of|veya|або|nebo|ili|sau|vagy|atau|または)\s+(?=\$?[a-zA-Z]\$?\s*[<>≤≥=])/giu,
    " or "
  ],
  [/10/, /(?<![\d.,])(\d),(\d{1,4})(?=\s?(?:[·×*]|\\cdot|\\times)\s?10(?:\^|[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]))/g, "$1.$2"],
  // Points with a bar or a semicolon between their coordinates, as in German and French textbooks
  [/[|∣;]|\\mid/, /(?<![\p{L}\\])[A-Z]?\(\s*([-−]?\d[\d./]*)\s*(?:\\mid|[|∣;])\s*([-−]?\d[\d./]*)\s*\)/gu, "($1, $2)"],
  // Amounts in front of the sign of a currency: "18 $ par jour"
  [
    /\d[ \u00a0\u202f]\$/,
    /^[^$]*(?:(?<=\d[ \u00a0\u202f])\$(?!\S*\$)[^$]*)+$/u,
    (all) => all.replace(/(?<=\d)[ \u00a0\u202f]\$/g, " dollars")
  ],
  // A verification behind the answer
  [
    /\((?:check|v[eé]rif|probe|comprob|sprawdz|проверка|kontrol|验算|検算)/i,
    /\s\((?:check|v[eé]rif\p{L}*|probe|comprob\p{L}*|sprawdz\p{L}*|проверка|kontrol\p{L}*|验算|検算)\s?[:：](?![^\n]{0,200}(?:[≠✗✘❌]|\b(?:fails?|wrong|not|but)\b))[^()\n]{0,120}(?:\([^()\n]{0,80}\)[^()\n]{0,80}){0,6}\)(?=[.!]?\s*$)/giu,
    ""
  ]
]

// -------------------------------------------------------------------------------------------------------------------
// Records
// -------------------------------------------------------------------------------------------------------------------

const answerKey =
  /^(?:(?:the|my|final|exact|correct)[_ -]?)*(?:answer|ans)$|^final$|^(?:final[_ -]?)?(?:result|solution)$/i

const field =
  /^\s*(?:[-*]\s+)?["']?((?!edit|update|correction|note)[a-z][\w-]{0,24}?)["']?\s*(?::(?!\/\/)|=(?!=))\s*(\S[^\n]*?)?\s*$/

const unquoted = (text: string) => text.replace(/^(["'`])(.*)\1$/, "$2").replace(/\s+#\s.*$/, "")

/** The fields of a text that consists only of them. */
const fieldsOf = (text: string): ReadonlyArray<readonly [name: string, value: string]> | undefined => {
  const inside = text.trim().replace(/^(?:-{3}|\+{3})\s*\n|\n(?:-{3}|\+{3}|\.{3})$/g, "")
  const isLine = !inside.includes("\n")
  const isRecord = inside !== text.trim() || isLine
  const parts = isLine ? inside.split(/\s*(?:;|&|\||,(?=\s*[a-z_]+\s*[=:]))\s*/i) : inside.split("\n")
  const fields: Array<readonly [string, string]> = []
  for (const part of parts) {
    if (/^\s*(?:$|\[[\w.-]+\]\s*$|#)/.test(part)) continue
    const found = field.exec(part)
    if (found !== null) fields.push([found[1]!, found[2] ?? ""])
    else if (!isRecord || !/^\s+[-\w"']/.test(part)) return undefined
  }
  return fields.length > (isRecord && !isLine ? 0 : 1) ? fields : undefined
}

const disowning =
  /\b(?:wrong|incorrect|false|invalid|rejected|withdrawn|draft|guess\w*|example|placeholder|retracted|error|failed|no)\b/i

/** Returns the answer of a record, which is empty if another field withdraws it: "---\nanswer: 5\n---", "method=direct; answer=5; checks=2". */
const inRecord = (text: string): string | undefined => {
  if (text.length > 2000 || !/(?:ans|final|result|solution)\w*["']?\s*[:=]/i.test(text)) return undefined
  const fields = fieldsOf(text)
  if (fields === undefined) return undefined
  const answers = fields.filter(([name]) => answerKey.test(name))
  const isDisowned = fields.some(
    ([name, said]) => /^(?:status|state|verdict|valid|correct|verified|is_\w+)$/i.test(name) && disowning.test(said)
  )
  if (answers.length > 0 && isDisowned) return ""
  if (answers.length !== 1) return undefined
  const found = unquoted(answers[0]![1])
  return found === "" || /^[|>]/.test(found) ? undefined : found
}

/** A table with the names of unknowns in its head and one row of values. */
const inTable = /^\s*\|((?:\s*\$?[a-z]\$?\s*\|){2,4})\s*\n\s*\|[-: |]+\|\s*\n\s*\|((?:[^|\n]+\|){2,4})\s*$/

const withAssignments = (text: string): string =>
  text.replace(inTable, (all: string, head: string, row: string) => {
    const cells = (line: string) =>
      line
        .split("|")
        .slice(0, -1)
        .map((cell) => cell.replaceAll("$", "").trim())
    const [names, values] = [cells(head), cells(row)]
    return names.length === values.length ? names.map((name, at) => `${name} = ${values[at]}`).join(", ") : all
  })

/** Rewrites the spellings of a text. */
export const withKnownSpellings = (text: string): string => {
  const record = inRecord(text)
  if (record !== undefined) return record === "" ? "" : `Answer: ${record}`
  const bare = /^`([^`\n]{1,120})`\.?$/.exec(text)?.[1] ?? (text.startsWith("|") ? withAssignments(text) : text)
  return rules.reduce(
    (result, [guard, pattern, replacement]) =>
      guard.test(result) ? result.replace(pattern, replacement as string) : result,
    bare
  )
}
