/** Normalizes the notation of answers: LaTeX dialects, Unicode, Python and plain text. */
import { remembered } from "../internal/remembered.ts"

type Rule = readonly [pattern: RegExp, replacement: string | ((match: string, ...groups: Array<string>) => string)]

const apply = (rules: ReadonlyArray<Rule>, text: string): string =>
  rules.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement as string), text)

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹"
const subscripts = "₀₁₂₃₄₅₆₇₈₉"

const unicode: ReadonlyArray<Rule> = [
  [/^[∴⇒→⟹]\s*/g, ""],
  [/[−–—﹣－]/g, "-"],
  [/[×∗⋅·✕]/g, "*"],
  [/÷/g, "/"],
  [/√\s*\(/g, "\\sqrt("],
  [/√\s*(\d+|[a-zA-Z])/g, "\\sqrt{$1}"],
  [/√/g, "\\sqrt "],
  [/π/g, "\\pi "],
  [/∞/g, "\\infty "],
  [/∪/g, "\\cup "],
  [/∈/g, "\\in "],
  [/[ℝℤℕℚℂ]/g, (sign) => `\\mathbb{${sign.normalize("NFKD")}}`],
  [/∅/g, "\\emptyset "],
  [/[′’‘]/g, "'"],
  [/[″]/g, "''"],
  [/∠/g, "\\angle "],
  [/△/g, "\\triangle "],
  [/≤|≦|⩽/g, "\\leq "],
  [/≥|≧|⩾/g, "\\geq "],
  [/≠/g, "\\neq "],
  [/±/g, "\\pm "],
  [/∓/g, "\\mp "],
  [/[°º]/g, "^\\circ "],
  [/[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞⅐⅑⅒]/g, (sign) => vulgar[sign]!],
  [/(?<=(?<!\d)\d{1,3}|\d[\u00a0\u2009\u202f]\d{3})[\u00a0\u2009\u202f](?=\d{3}(?!\d))/g, ""],
  [/[\u00a0\u2000-\u200b\u202f\u205f\u3000\ufeff]/g, " "],
  [/[⁄∕／]/g, "/"],
  [/[∨]/g, "\\lor "],
  [/[∧]/g, "\\land "],
  [/∉/g, "\\notin "],
  [/∄/g, "\\nexists "],
  [/[＝]/g, "="],
  [/[：]/g, ":"],
  [/٪/g, "%"],
  [/[，、]/g, ","],
  [/（/g, "("],
  [/）/g, ")"],
  [/％/g, "%"],
  [/。$/g, ""],
  [/θ/g, "\\theta "],
  [/φ|ϕ/g, "\\phi "],
  [/α/g, "\\alpha "],
  [/β/g, "\\beta "],
  [/λ/g, "\\lambda "],
  [/σ/g, "\\sigma "],
  [/μ(?![a-zA-Z])/g, "\\mu "],
  [/ω/g, "\\omega "]
]

const vulgar: Readonly<Record<string, string>> = Object.fromEntries(
  [..."½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞⅐⅑⅒"].map((sign) => {
    const [top, bottom] = sign.normalize("NFKD").split("\u2044")
    return [sign, `\\frac{${top}}{${bottom}}`]
  })
)

/** The first digit of the ten digits of each other script. */
const zeros = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0xff10, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6]

const westernDigit = (digit: string): string => {
  const code = digit.codePointAt(0)!
  const zero = zeros.find((one) => code >= one && code < one + 10)
  return zero === undefined ? digit : String(code - zero)
}

const unicodeDigits = (text: string): string =>
  text
    .replace(/(?![0-9])\p{Nd}/gu, westernDigit)
    .replace(
      /[⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+/g,
      (run) => `^{${[...run].map((c) => (c === "⁻" ? "-" : superscripts.indexOf(c))).join("")}}`
    )
    .replace(/[₀₁₂₃₄₅₆₇₈₉]+/g, (run) => `_{${[...run].map((c) => subscripts.indexOf(c)).join("")}}`)

/** Matches digits in groups of three with one separator: spaces or apostrophes, or dots if there are at least two. */
const groups =
  /^[-+]?\d{1,3}(?:(?<mark> |'|’|_|\\_|~|\\[,;:! ]|\{[,.]\})\d{3})(?:\k<mark>\d{3})*(?:\.\d+)?$|^[-+]?\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?$/

const ungrouped = (text: string): string | undefined => {
  const bare = text.replace(/^\$+|\$+$/g, "").trim()
  const mark = groups.exec(bare)
  if (mark === null) return undefined
  if (mark.groups?.mark !== undefined) return bare.replaceAll(mark.groups.mark, "")
  return bare.replaceAll(".", "").replace(",", ".").replace(/\.0+$/, "")
}

/** Rules for thousands separators. A comma in braces is a decimal separator unless it separates thousands. */
const thousands: ReadonlyArray<Rule> = [
  [/^([-+]?0),(?=\d+$)/, "$1."],
  [/(?<![\d.,])\d{1,3}(?:\.\d{3})+,\d{1,2}(?!\d)/g, (run) => run.replaceAll(".", "").replace(",", ".")],
  [/(?<=(?<![\d.,])\d{1,3})[. ](?=\d{3}\s*(?:€|\\?(?:text\{\s*)?(?:euros?|EUR)\b))/gi, ""],
  [/(?<=€\s?\d{1,3})\.(?=\d{3}(?![\d.,]))/g, ""],
  [/(?<![\d.,/] ?)\d{1,3}(?: \d{3}){2,}(?![\d.,/])/g, (run) => run.replaceAll(" ", "")],
  [/(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?![\d.])/g, (run) => run.replaceAll(".", "")],
  [/(?<![\d.,}])(\d+)\{,\}(?!\d{3}(?!\d))(?=\d+(?![\d{]))/g, "$1."],
  [/\{\s*,\s*\}/g, ","],
  [/(?<=\d)\s*,\s*\\!\s*(?=\d{3}(?!\d))/g, ","],
  [/(?<=\d)\\[,;:! ](?=\d{3}(?!\d))/g, ""]
]

const spacing: ReadonlyArray<Rule> = [
  [/^\s*~\s*(?=\d)/, "≈ "],
  [/^\s*\\(?:therefore|implies|Rightarrow|Longrightarrow)(?![a-zA-Z])/, ""],
  [
    /\\begin\s*\{(?:align|aligned|equation|gather|split)\*?\}|\\end\s*\{(?:align|aligned|equation|gather|split)\*?\}/g,
    ""
  ],
  [
    /\\(?:left|right|middle|[bB]igg?[lmr]?|displaystyle|textstyle|scriptstyle|scriptscriptstyle|limits|nolimits|mathstrut|strut|tiny|small|normalsize|large|Large|LARGE|huge|Huge|bfseries|boldmath|checkmark|relax)(?![a-zA-Z])\.?/g,
    ""
  ],
  [/\\(?:(?:quad|qquad)(?=[a-zA-Z]_)|(?:quad|qquad|enspace|thinspace|negthinspace)(?![a-zA-Z]))/g, " "],
  [/\\\\\s*\[[^\]]*\]/g, "\\\\ "],
  [/(?<!\\)\\[,;:> ]/g, " "],
  [/(?<!\\)\\!/g, ""],
  [/~/g, " "],
  [/\\(?:phantom|hspace|vspace)\*?\{[^{}]*\}/g, " "]
]

/**
 * Rules for repeating decimals: an overline, dots or parentheses over the repeating digits, or three repetitions and an
 * ellipsis.
 */
const repeating: ReadonlyArray<Rule> = [
  [/\\(?:dots|ldots|cdots)(?![a-zA-Z])/g, "…"],
  [/(\d*\.\d*)\\(?:overline|bar)\s*\{\s*(\d+)\s*\}/g, "\\repeating{$1}{$2}"],
  [/(\d*\.\d*)\\(?:overline|bar)\s*(\d)(?!\d)/g, "\\repeating{$1}{$2}"],
  [/(\d*\.\d*)\\dot\s*\{?(\d)\}?(?:(\d*)\\dot\s*\{?(\d)\}?)?/g, "\\repeating{$1}{$2$3$4}"],
  [/(\d*\.\d*)\((\d+)\)/g, "\\repeating{$1}{$2}"],
  [/(\d*\.\d*?)(\d{1,3}?)\2{2,}(?:…|\.{3,})/g, "\\repeating{$1}{$2}"]
]

const chosen = (n = "", kind = "", k = "") => `\\${kind === "C" ? "binom" : "perm"}{${n}}{${k}}`

/** Rules for notation without commands. */
const plainSpelling: ReadonlyArray<Rule> = [
  [/\bper cent\b/gi, "percent"],
  [
    /(?<=[\d)}])\s+(?:und|et|y|e|en|och|og|i|și|ve|и|та|και|dan|và|oraz)\s+(?=[-−]?[\d(\\√]|[a-z](?:_\{?\d\}?)?\s*=)/g,
    " \\text{and} "
  ],
  [
    /(?<=[\d)}])\s+(?:oder|ou|o|of|eller|lub|veya|или|або|atau|hoặc)\s+(?=[-−]?[\d(\\√]|[a-z](?:_\{?\d\}?)?\s*=)/g,
    " \\text{or} "
  ],
  [/(?<=[\d)}])\s*(?:和|と|및|与)\s*(?=[-−]?\d)/g, " \\text{and} "],
  [/(?<=\d\s*)([a-z]{2,}) per ([a-z]{2,})(?![a-z])/gi, "$1/$2"],
  [/(?<=\d\s*)US[- ](?=dollars?\b)/gi, ""],
  [/^\\(?:text|mathrm)(?:bf)?\s*\{\s*(?:the\s+)?(?:final\s+)?answer\s*(?:is|=)?\s*:?\s*\}\s*(?:\\ )?\s*/gi, ""],
  [/(?:∛|\\?\bcbrt|\\sqrt\s*\[\s*3\s*\])\s*(?:\(([^()]*)\)|(\d+|[a-z](?![a-z])))/g, "\\sqrt[3]{$1$2}"],
  [/^([a-zA-Z])\s*(?::|\\colon)\s*([a-z])\s*(?:\\mapsto|↦)\s*/g, "$1($2) = "],
  [/\\in\s*\\mathbf\s*\{?\s*([ZNRQC])\s*\}?/g, "\\in \\mathbb{$1}"],
  [/,?\s*\\text\s*\{\s*,?\s*(?:where|with|for(?: all| any| some)?)\s*\}\s*(?=[a-z]\s*\\in)/g, ", "],
  [/(?:,|\\q?quad|\s)\s*\(\s*([a-z]\s*\\in\s*\\mathbb\s*\{?\s*Z\s*\}?)\s*\)/g, ", $1"],
  [/(\\text\s*\{[^{}]*\p{L})\s+and\s*\}\s*(?=\d)/gu, "$1} \\text{and} "],
  [/^(?:\\text\s*\{\s*)?no solutions?\s*\}?$/gi, "\\emptyset "],
  [/(?<=[+-]\s*[CKck]\s*)[,;]\s*(?:\\q?quad\s*)*[CKck]\s*\\in\s*\\mathbb\s*\{?\s*R\s*\}?$/g, ""],
  [/\\(?:qty|SI)\s*\{([^{}]*)\}\s*\{([^{}]*)\}/g, "$1\\text{ $2}"],
  [/\\text\s*\{\s*\\\$\s*\}/g, "\\$"],
  [/(?<=\d\s*)sq\.?\s+(?=[a-z])/gi, "square "],
  [/(?:\\(?:text|mathrm)\s*\{\s*)?\b(?:USD|US(?=\s*\\?\$))\s*\}?\s*(?:\\?\$)?\s*(?=\d)/g, "\\dollar "],
  [/(?<=\d)\s*\\(?:text|mathrm)\s*\{\s*[eE]\s*\}\s*(?=[+-]?\d)/g, "e"],
  [/(?<=\d)\s*"/g, "''"],
  [/(?<![a-zA-Z\d\\])(\d+)([CP])(\d+)(?!\d)/g, (_, n, kind, k) => chosen(n, kind, k)],
  [/^([CP])\s*\(\s*(\d+)\s*,\s*(\d+)\s*\)(?=\s*(?:=|$))/g, (_, kind, n, k) => chosen(n, kind, k)],
  [/(?<![\w.])(\d+(?:\.\d+)?)[eE]([+-]?\d{1,3})(?=\s+\\?[a-zA-Z])/g, "$1*10^{$2}"],
  [/(?<=\d)\s*(USD|EUR|GBP)$/g, "\\text{ $1}"],
  [/(?<=\d\s*)(?:\\Omega(?![a-zA-Z])|Ω)/g, "\\text{Ω}"],
  [/\+\/-\s*(?=\d)/g, "\\pm "],
  [/\\(?:permil|textperthousand)(?![a-zA-Z])/g, "‰"],
  [/(?<=\\equiv[^=]*)\\(?:bmod|mod)\s*\{?\s*(\d+)\s*\}?\s*$/g, "\\pmod{$1}"],
  [/\\equiv\s*_\s*(?:\{(\d+)\}|(\d))([^=]*)$/g, (_, braced, bare, rest) => `\\equiv ${rest} \\pmod{${braced ?? bare}}`],
  [/\\not\s*\\equiv/g, "≠"],
  [/\(([\dA-F]+)\)\s*_/g, "$1_"],
  [/(?<=^\d[\dA-F]*)\s*(?:\\text\s*\{)?\s*\(?(?:in )?base[ -](\w+)\)?\s*\}?$/g, "_{$1}"],
  [/\(\s*mod\s+([^()]*)\)/g, "\\pmod{$1}"],
  [/(?<=\d)(?:\s+[xX]\s+|[xX])(?=10\s*\^)/g, "*"],
  [/\\(?:R|reals)(?![a-zA-Z])|\\text\s*\{\s*(?:the set of )?all real(?: number)?s\s*\}/g, "\\mathbb{R}"],
  [
    /,?\s*\\text\s*\{\s*,?\s*(?:for |where |with )?(?:any |all |every |each )?integers?\s*(?:\}\s*([kmn])|\s([kmn])\s*\})$/g,
    (_, first, second) => `, ${first ?? second} \\in \\mathbb{Z}`
  ],
  [/(\\mathbb\s*(?:\{\s*[RZ]\s*\}|[RZ]))\s*-\s*(?=\\\{)/g, "$1 \\setminus "],
  [/<=/g, "≤"],
  [/>=/g, "≥"],
  [/!=/g, "≠"],
  [/≡/g, "="],
  [/(?<=[A-Z]\s*=\s*)\{([^{}]*)\}(?=\s*$)/g, "\\{$1\\}"],
  [/∩/g, "\\cap "],
  [/\*\*/g, "^"]
]

/** Rules for notation with commands, including those created by earlier rules. */
const spelling: ReadonlyArray<Rule> = [
  [
    /\^\s*(?:\{\s*((?:\\prime\s*)+)\}|((?:\\prime(?![a-zA-Z])\s*)+))/g,
    (_, braced, bare) => "'".repeat(((braced ?? bare)!.match(/prime/g) ?? []).length)
  ],
  [/\^\s*\{\s*('+)\s*\}/g, "$1"],
  [/\\underline\s*(?=\{)/g, ""],
  [/\\(?:text)?color\s*\{[^{}]*\}|\\color(?=\s*[a-z]+\b)/g, ""],
  [/\\(?:num|ensuremath|mathord|mathop(?=\{[^{}]*[\\\d]))\s*(?=\{)/g, ""],
  [/\\ang\s*\{([\d.,]+)\}/g, "$1\\degree "],
  [/\\(?:lor|vee)(?![a-zA-Z])/g, "\\text{or}"],
  [/\\(?:land|wedge)(?![a-zA-Z])/g, "\\text{and}"],
  [
    /\\(?:text|mbox|textrm|mathrm)\s*\{\s*(?:oder|ou|o bien|oppure|o|of|eller|lub|albo|sau|veya|или|או|أو|或|または)\s*\}/g,
    "\\text{or}"
  ],
  [/\\(?:text|mbox|textrm|mathrm)\s*\{\s*(?:und|et|y|en|och|og|oraz|și|ve|и|和|と)\s*\}/g, "\\text{and}"],
  [
    /\\(?:operatorname\*?|mathrm|text)\s*\{\s*(sin|cos|tan|cot|sec|csc|ln|log|exp|arcsin|arccos|arctan|sinh|cosh|tanh)\s*\}/g,
    "\\$1 "
  ],
  [/\\(?:operatorname\*?\s*\{\s*(?:tg)\s*\}|tg(?![a-zA-Z]))/g, "\\tan "],
  [/\\(?:operatorname\*?\s*\{\s*(?:ctg|cotg)\s*\}|(?:ctg|cotg)(?![a-zA-Z]))/g, "\\cot "],
  [/\\log\s*_\s*(?:\{\s*e\s*\}|e(?![a-zA-Z]))/g, "\\ln "],
  [/\\(?:imath|jmath)(?![a-zA-Z])/g, "i"],
  [/\\(?:operatorname\*?|mathrm|text|mathbf|textbf)\s*\{\s*([ei])\s*\}(?=\s*(?:$|[-+^*/)}=,]))/g, "$1"],
  [
    /\\(?:mathbf|boldsymbol|bm|pmb|mathrm|mathit|mathsf|mathnormal|textbf|textit|text|mbox|emph)\s*(?=\{\s*[-+]?[^{}a-zA-Z]*\\(?:frac|dfrac|tfrac|sqrt|pi|infty|text|mathbf|left))/g,
    ""
  ],
  [
    /\\(?:mathbf|boldsymbol|bm|pmb|mathrm|mathit|mathsf|mathnormal|textbf|texttt|textsf)\s*\{\s*(-?[\d.,/]+)\s*\}/g,
    "$1"
  ],
  [/(?<![\w)}\]])\^\s*\{?\s*(\d+)\s*\}?\s*\/\s*_\s*\{?\s*(\d+)\s*\}?/g, "\\frac{$1}{$2}"],
  [/\\not\s*=/g, "≠"],
  [/\\not\s*\\in(?![a-zA-Z])/g, "\\notin "],
  [/\\cr(?![a-zA-Z])/g, "\\\\ "],
  [/\\bigcup(?![a-zA-Z])/g, "\\cup"],
  // Exponents of units. Their braces would otherwise end the text.
  [/(?<=\\(?:text|mathrm)\s*\{[^{}]*)\^\s*\{\s*(-?\d)\s*\}(?=[^{}]*\})/g, "^$1"],
  [/\\prime(?![a-zA-Z])/g, "'"],
  [/\\(?:hat|vec|mathbf|boldsymbol)\s*\{?\s*\\?(?:([ij])math|([ijk]))\s*\}?(?![a-zA-Z])/g, "\\vector$1$2 "],
  [/\\(?:vec|overrightarrow)(?![a-zA-Z])/g, "\\arrow"],
  [/\\bar(?![a-zA-Z])/g, "\\overline"],
  [/(?:\{\s*\})?[_^]\s*\{?\s*(\d+)\s*\}?\s*([CP])\s*_\s*\{?\s*(\d+)\s*\}?/g, (_, n, kind, k) => chosen(n, kind, k)],
  [/\\choose(?![a-zA-Z])/g, "\\choose "],
  [/_\s*\{\s*\((\d+)\)\s*\}|_\s*\((\d+)\)/g, "_{$1$2}"],
  [/_\s*\{\s*\\text\s*\{\s*(?:base\s+)?(\w+)\s*\}\s*\}/g, "_{$1}"],
  [/\\(?:[dtc]|nice|s|flat|x|i|a)frac(?![a-zA-Z])/g, "\\frac"],
  [/\\[dt]binom(?![a-zA-Z])/g, "\\binom"],
  [/\\(?:mbox|textbf|textrm|textit|texttt|textnormal|textsf|hbox|emph)\s*\{/g, "\\text{"],
  [/\\text\s*\{\s*(-?\d[^{}]*)\}/g, "$1"],
  [/\\(?:operatorname\*?|mathrm|mathbf|mathit|mathsf|mathop|boldsymbol|bm|rm)\s*\{([^{}]*)\}/g, "\\name{$1}"],
  [/\\(?:rm|bf|it)(?![a-zA-Z])/g, ""],
  [
    /(?<=[\d})]\s*)\\frac\s*\{\s*(\\(?:text|name)\s*\{[^{}]*\}(?:\^\{?-?\d\}?)?)\s*\}\s*\{\s*(\\(?:text|name)\s*\{[^{}]*\}(?:\^\{?-?\d\}?)?)\s*\}/g,
    "$1/$2"
  ],
  [
    /\^\s*\{\s*\\(?:circ|degree)\s*\}|\^\s*\\circ(?![a-zA-Z])|\\degree(?:s)?(?![a-zA-Z])|\\circ(?![a-zA-Z])/g,
    "\\degree "
  ],
  [/\\%/g, "%"],
  [/\\\$/g, "\\dollar "],
  [/\\(?:cdot|times|ast)(?![a-zA-Z])/g, "*"],
  [/\\div(?![a-zA-Z])/g, "/"],
  [/\\(?:leqslant|leq|le|leqq)(?![a-zA-Z])/g, "≤"],
  [/\\(?:geqslant|geq|ge|geqq)(?![a-zA-Z])/g, "≥"],
  [/\\lt(?![a-zA-Z])/g, "<"],
  [/\\gt(?![a-zA-Z])/g, ">"],
  [/\\(?:neq|ne)(?![a-zA-Z])/g, "≠"],
  [/\\(?:approx|simeq|thickapprox)(?![a-zA-Z])/g, "≈"],
  [/\\equiv(?![a-zA-Z])/g, "="],
  [/\\colon(?![a-zA-Z])/g, ":"],
  [/\\(?:lbrace)(?![a-zA-Z])/g, "\\{"],
  [/\\(?:rbrace)(?![a-zA-Z])/g, "\\}"],
  [/\\(?:lvert|rvert|vert|mid)(?![a-zA-Z])/g, "|"],
  [/\\langle(?![a-zA-Z])/g, "("],
  [/\\rangle(?![a-zA-Z])/g, ")"],
  [/\\(?:lbrack)(?![a-zA-Z])/g, "["],
  [/\\(?:rbrack)(?![a-zA-Z])/g, "]"],
  [/\\var(phi|theta|epsilon|nothing)(?![a-zA-Z])/g, "\\$1"],
  [/\\(?:measuredangle)(?![a-zA-Z])/g, "\\angle"],
  [/\\arc(sin|cos|tan)|\\(sin|cos|tan)\s*\^\s*\{\s*-\s*1\s*\}/g, "\\arc$1$2"],
  [/\(\s*(?:\\(?:mod|bmod)(?![a-zA-Z])|\\(?:text|name)\s*\{\s*mod(?:ulo)?\s*\})([^()]*)\)/g, "\\pmod{$1}"],
  [/\\(?:text|name)\s*\{\s*mod(?:ulo)?\s*\}/g, "\\bmod "]
]

/** Rewrites `{a \over b}` as `\frac{a}{b}`. Each side extends to the enclosing braces. */
const withoutOver = (text: string): string => {
  let result = text
  for (let round = 0; round < 8; round++) {
    const match = /\\over(?![a-zA-Z])/.exec(result)
    if (match === null) break
    let [start, end, depth] = [match.index, match.index + match[0].length, 0]
    while (start > 0 && !(result[start - 1] === "{" && depth === 0)) {
      depth += result[start - 1] === "}" ? 1 : result[start - 1] === "{" ? -1 : 0
      start--
    }
    depth = 0
    while (end < result.length && !(result[end] === "}" && depth === 0)) {
      depth += result[end] === "{" ? 1 : result[end] === "}" ? -1 : 0
      end++
    }
    const side = (from: number, to: number) => result.slice(from, to).trim()
    const name = start === 0 ? /^[^=]*=/.exec(side(0, match.index))?.[0] : undefined
    const top = side(start + (name?.length ?? 0), match.index)
    const bottom = side(match.index + match[0].length, end)
    result = `${result.slice(0, start)}${name ?? ""}\\frac{${top}}{${bottom}}${result.slice(end)}`
  }
  return result
}

/** Removes dollar signs that delimit formulas. A single dollar sign is a currency. */
const dollars = (text: string): string => {
  const count = text.match(/(?<!\\)\$/g)?.length ?? 0
  if (count % 2 === 0) return text.replace(/(?<!\\)\$/g, " ")
  return text.replace(/(?<!\\)\$(?=\s*-?[\d.])/g, "\\dollar ").replace(/(?<!\\)\$/g, " ")
}

const system =
  /^(?:\\left\s*\\\{|\\left\.)?\s*\\begin\s*\{(cases|aligned|align\*?|gathered|split)\}([\s\S]*)\\end\s*\{\1\}\s*(?:\\right\s*\.?)?$/

/** Matches pieces or equations in an array with a brace on the left. */
const pieces = /\\left\s*\\\{\s*\\begin\s*\{array\}\s*(?:\{[^{}]*\})?([\s\S]*?)\\end\s*\{array\}\s*\\right\s*(?:\.|$)/g

/** Joins equations on separate lines with "and". A chain of equations over several lines becomes one chain. */
const withoutRows = (written: string): string => {
  const text = written.replace(pieces, "\\begin{cases}$1\\end{cases}")
  const match = system.exec(text)
  if (match === null) return text
  const rows = match[2]!
    .split("\\\\")
    .map((row) =>
      row
        .replace(/&\s*(?==|\\[lg]eq?\b|[<>])/g, "")
        .replace(/[\s,;.]+$/, "")
        .trim()
    )
    .filter((row) => row !== "")
  if (rows.length < 2 || rows.some((row) => row.replace(/^&/, "").includes("&"))) return text
  if (rows.slice(1).every((row) => row.startsWith("="))) return rows.join(" ").replaceAll("&", "")
  if (!rows.every((row) => /^[^=]+=[^=]+$/.test(row))) return text
  return rows.map((row) => row.replace(/^&/, "")).join(" \\text{ and } ")
}

/** Matches ASCII text, to which rules for other scripts do not apply. */
const isAscii = /^[\u0020-\u007e]*$/

const delimiters: ReadonlyArray<Rule> = [
  [/^(?:\s|\\(?=\s))+|(?:\s|(?<!\\)\\(?=\s|$))+$/g, ""],
  [/(?<!\\)\\[()[\]]/g, " "],
  [/^[\s`]+|[\s`]+$/g, ""],
  [/^(["'“‘])([^"'“”‘’]*)["'”’]$/g, "$2"],
  [/^\*\*([\s\S]*)\*\*$/g, "$1"],
  [/^[_*]([^_*]+)[_*]$/g, "$1"]
]

const endings = (text: string): string => {
  const cut = text.trim().replace(/(?:\s*(?:\\[;,:!]|[;,]|\\\\|(?<!\.)\.))+$/g, "")
  return cut === text ? text : endings(cut)
}

/** A matrix as a list of its rows, as in Python: "[[1, 2], [3, 4]]". */
const nested =
  /(?:(?:np\.|numpy\.)?(?:array|matrix)\()?\[((?:\[[^[\]\n]{1,120}\]\s*,\s*){1,7}\[[^[\]\n]{1,120}\])\s*\]\)?/g

/** Converts lists of rows with the same length to matrices. */
const withMatrix = (text: string): string =>
  text.replace(nested, (all, inside: string) => {
    const rows = inside.split(/\]\s*,\s*\[/).map((row) => row.replace(/[[\]]/g, "").split(","))
    return rows.every(({ length }) => length === rows[0]!.length && length > 1)
      ? `\\begin{pmatrix} ${rows.map((row) => row.join(" & ")).join(" \\\\ ")} \\end{pmatrix}`
      : all
  })

/**
 * Rewrites an answer in a canonical notation: without formula delimiters and spacing commands, and with one command for
 * each meaning. The result is still text with the same meaning.
 */
export const normalise = remembered((text) => {
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return text
  const matrix = text.includes("[[") ? withMatrix(text) : text
  const single = matrix.includes("\\begin") ? matrix : matrix.replace(/\\{2}(?=[a-zA-Z])/g, "\\")
  const plain = endings(apply(delimiters, endings(apply(delimiters, single.trim()))))
  if (/^-?\d+$/.test(plain)) return plain
  const ascii = isAscii.test(plain) ? plain : apply(unicode, unicodeDigits(plain))
  const digits = ungrouped(ascii)
  if (digits !== undefined) return digits
  const flat = ascii.includes("\\begin") ? withoutRows(ascii.replace(/^[\s$]+|[\s$]+$/g, "")) : ascii
  const plainText = dollars(flat.includes("\\over") ? withoutOver(flat) : flat)
  const grouped = /[., {\\]/.test(plainText) ? apply(thousands, plainText) : plainText
  const spaced = (/[\\~]/.test(grouped) ? apply(spacing, grouped) : grouped).trim()
  const spelled = /[^-\d.,/() ]/.test(spaced) ? apply(plainSpelling, spaced) : spaced
  const ended = /dot|overline|\\bar|…|\.\d*\(|\.{3}/.test(spelled) ? apply(repeating, spelled) : spelled
  const commands = /[\\_^]/.test(ended) ? apply(spelling, ended) : ended
  return endings(commands.replace(/\s+/g, " "))
}, 64)

/**
 * Removes insignificant white space for comparison as text. Spaces between digits are kept: `1 1/2` is not `11/2`.
 * Words are compared case-insensitively, single letters case-sensitively: `3R` is not `3r`.
 */
export const fold = (normalised: string): string =>
  normalised
    .replace(/\\(?:text|name)\s*\{([^{}]*)\}|\\vector([ijk])/g, " $1$2 ")
    .replace(/(?<![\\a-zA-Z])(?:[a-zA-Z][a-z]{2,}|[A-Z]{4,})(?![a-zA-Z])/g, (word) => word.toLowerCase())
    .replace(/\s+/g, " ")
    .replace(/(?<![\dA-Za-z]) | (?![\dA-Za-z])/g, "")
    .replace(/(?<=[a-zA-Z]) (?=\d)|(?<=\d) (?=[a-zA-Z])/g, "")
    .trim()
