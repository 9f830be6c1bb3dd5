/** Notations that mean the same, and near ones that do not: what models write where a gold answer has another form. */
import { frac, gcd, grouped, type Kinds } from "../pairs/Kind.ts"

/** Digits in groups of two above the last three: 12,34,567. */
const indian = (value: number): string => {
  const digits = String(value)
  return `${digits.slice(0, -3).replace(/\B(?=(?:\d\d)+$)/g, ",")},${digits.slice(-3)}`
}

const proper = (random: Parameters<Kinds[string]>[0]): readonly [number, number] => {
  for (;;) {
    const [a, b] = random.distinct(2, 2, 13) as [number, number]
    if (gcd(a, b) === 1) return [a, b]
  }
}

const single = (random: Parameters<Kinds[string]>[0]): readonly [number, number] => {
  for (;;) {
    const [a, b] = random.distinct(2, 1, 9) as [number, number]
    if (gcd(a, b) === 1 && ![1, 2, 4, 5, 8].includes(b)) return [a, b]
  }
}

const postfixes = [
  "\\%",
  "^\\circ",
  "^{\\circ}",
  "\\degree",
  "°",
  "%",
  "‰",
  "'",
  "''",
  "\\text{ cm}",
  "\\text{ hours}",
  "\\text{ percent}",
  "\\text{ degrees}",
  "\\,\\mathrm{kg}"
]

export const forms: Kinds = {
  "mixed number before a sign": (random) => {
    const [top, bottom] = single(random)
    const whole = random.whole(2, 60)
    const sign = random.pick(postfixes)
    const mixed = `${whole}\\frac{${top}}{${bottom}}`
    const product = (whole * top) % bottom === 0 ? `${(whole * top) / bottom}` : frac(whole * top, bottom)
    return {
      gold: `${mixed}${sign}`,
      right: [
        `\\frac{${whole * bottom + top}}{${bottom}}${sign}`,
        `${whole} \\frac{${top}}{${bottom}} ${sign}`,
        `${whole}\\tfrac{${top}}{${bottom}}${sign}`,
        `${whole}\\frac${top}${bottom}${sign}`
      ],
      wrong: [
        `${product}${sign}`,
        product,
        `${whole} \\cdot \\frac{${top}}{${bottom}}${sign}`,
        `${whole + 1}\\frac{${top}}{${bottom}}${sign}`
      ]
    }
  },
  "mixed number in plain text": (random) => {
    const [top, bottom] = single(random)
    const whole = random.whole(2, 60)
    const sign = random.pick(["%", "°", "‰", " cm", " hours", "^2", "\\%"])
    const value =
      sign === "^2"
        ? `\\left(${frac(whole * bottom + top, bottom)}\\right)^2`
        : `${frac(whole * bottom + top, bottom)}${sign}`
    return {
      gold: value,
      right:
        sign === "^2"
          ? [`(${whole} ${top}/${bottom})^2`]
          : [`${whole} ${top}/${bottom}${sign}`, `${whole}\\frac{${top}}{${bottom}}${sign}`],
      wrong: [`${frac(whole * top, bottom)}${sign}`, `${whole}${top}/${bottom}${sign}`]
    }
  },
  "function value": (random) => {
    const [a, b] = random.distinct(2, 2, 30) as [number, number]
    const f = random.pick(["f", "g", "F", "G", "f'", "h", "\\phi", "\\sigma", "P"])
    return random.pick([
      {
        gold: `${f}(${a})`,
        right: [`${f}(${a})`, `${f} ( ${a} )`, `${f}\\left(${a}\\right)`],
        wrong: [`${a}${f}`, `${f} \\cdot ${a}`, `${f}(${b})`, `${f}`, `${f}^{${a}}`, `${a}`]
      },
      {
        gold: `${a}${f}`,
        right: [`${f} \\cdot ${a}`],
        wrong: [`${f}(${a})`, `${f}(${a}) + ${b}`, f]
      },
      {
        gold: `${f}(${a}) + ${f}(${b})`,
        right: [`${f}(${b}) + ${f}(${a})`],
        wrong: [`${f}(${a + b})`, `${a + b}${f}`, `${f}(${a})`]
      },
      { gold: "f(x+1)", right: ["f\\left(x+1\\right)"], wrong: ["fx + f", "f(x) + f(1)", "f(x)+1", "(x+1)f"] },
      { gold: `f(${a}x)`, right: [`f(${a} x)`], wrong: [`${a}f(x)`, `${a}fx`, `f(x)`] },
      { gold: "f(g(x))", right: ["f(g(x))"], wrong: ["g(f(x))", "fgx", "f(x)g(x)"] }
    ])
  },
  thousands: (random) => {
    const value = random.pick([random.whole(1_234_567, 98_765_432), random.whole(101_234, 987_654)])
    const text = grouped(value, ",")
    const spaced = (mark: string) => grouped(value, mark)
    const isLong = value > 1_000_000
    return {
      gold: `${value}`,
      right: [
        text,
        spaced("\u202f"),
        spaced("\u00a0"),
        spaced("\u2009"),
        spaced(" "),
        spaced("'"),
        spaced("’"),
        spaced("\\,"),
        spaced("\\ "),
        spaced("~"),
        spaced("{,}"),
        spaced("\\;"),
        spaced("_").replaceAll("_", "\\_"),
        indian(value),
        ...(isLong ? [spaced("."), spaced("{.}"), `${spaced(".")},00`, `${text}.00`] : [])
      ],
      wrong: [
        `${text}.5`,
        text.replace(/,(?=\d{3}$)/, "."),
        `${spaced(" ")}1`,
        `${value + 1}`,
        spaced(", "),
        spaced("; "),
        `${String(value).slice(0, -3)}.${String(value).slice(-3)}`,
        `0.${value}`,
        ...(isLong ? [spaced(".").replace(".", ","), text.replace(",", "."), `${spaced(".")},5`] : [])
      ]
    }
  },
  "decimal, not thousands": (random) => {
    const [a, b] = [random.whole(1, 99), random.whole(101, 998)]
    const gold = `${a}.${b % 10 === 0 ? b + 1 : b}`
    return {
      gold,
      right: [gold, `${gold}0`, `\\num{${gold}}`],
      wrong: [
        gold.replace(".", ""),
        gold.replace(".", "\u202f"),
        gold.replace(".", "'"),
        `${gold}1`,
        gold.replace(".", ".0")
      ]
    }
  },
  "thousands in sentences": (random) => {
    const value = random.whole(1_234_567, 98_765_432)
    const say = (text: string) =>
      random.pick([
        `The answer is ${text}.`,
        `So there are ${text} such numbers.`,
        `In total, we count ${text}.`,
        `**${text}**`
      ])
    return {
      gold: `${value}`,
      right: ["\u202f", "\u00a0", " ", "'", ",", "."].map((mark) => say(grouped(value, mark))),
      wrong: [say(`${grouped(value, " ")} + 1`), say(grouped(value + 1, "\u202f")), say(grouped(value, ", "))],
      isText: true
    }
  },
  "fractions of other packages": (random) => {
    const [a, b] = proper(random)
    return {
      gold: `\\frac{${a}}{${b}}`,
      right: [
        `{${a} \\over ${b}}`,
        `${a} \\over ${b}`,
        `{${a}\\over${b}}`,
        `\\nicefrac{${a}}{${b}}`,
        `\\sfrac{${a}}{${b}}`,
        `\\flatfrac{${a}}{${b}}`,
        `\\xfrac{${a}}{${b}}`,
        `\\mathbf{\\frac{${a}}{${b}}}`,
        `\\boldsymbol{\\frac{${a}}{${b}}}`,
        `\\bm{\\dfrac{${a}}{${b}}}`,
        `\\mathrm{\\frac{${a}}{${b}}}`,
        `\\textbf{${a}/${b}}`,
        `\\displaystyle{\\frac{${a}}{${b}}}`,
        `{\\displaystyle \\frac{${a}}{${b}}}`,
        `{\\large \\frac{${a}}{${b}}}`,
        `\\Large\\frac{${a}}{${b}}`,
        `\\text{$\\frac{${a}}{${b}}$}`,
        `\\frac{\\mathbf{${a}}}{\\mathbf{${b}}}`,
        `\\frac{\\text{${a}}}{\\text{${b}}}`,
        `^{${a}}/_{${b}}`,
        `^{${a}}\\!/_{${b}}`,
        `${a}⁄${b}`,
        `${a}∕${b}`,
        `${a} / ${b}`,
        `\\left. ${a} \\middle/ ${b} \\right.`,
        `\\frac{ ${a} }{ ${b} }`,
        `\\cfrac{${a}}{${b}}`
      ],
      wrong: [
        `{${b} \\over ${a}}`,
        `\\nicefrac{${b}}{${a}}`,
        `\\sfrac{${a + 1}}{${b}}`,
        `${a} \\over ${b + 1}`,
        `{1 + ${a} \\over ${b}}`,
        `${a}${b}`,
        `\\mathbf{\\frac{${b}}{${a}}}`,
        `^{${a}}_{${b}}`
      ]
    }
  },
  "vulgar fractions": (random) => {
    const signs: ReadonlyArray<readonly [string, number, number]> = [
      ["½", 1, 2],
      ["⅓", 1, 3],
      ["⅔", 2, 3],
      ["¼", 1, 4],
      ["¾", 3, 4],
      ["⅕", 1, 5],
      ["⅖", 2, 5],
      ["⅗", 3, 5],
      ["⅘", 4, 5],
      ["⅙", 1, 6],
      ["⅚", 5, 6],
      ["⅛", 1, 8],
      ["⅜", 3, 8],
      ["⅝", 5, 8],
      ["⅞", 7, 8]
    ]
    const [sign, a, b] = random.pick(signs)
    const n = random.whole(2, 9)
    return random.pick([
      { gold: frac(a, b), right: [sign], wrong: [`-${sign}`, `${n}${sign}`] },
      { gold: frac(n * b + a, b), right: [`${n}${sign}`, `${n} ${sign}`], wrong: [frac(n * a, b), sign] },
      { gold: `-${frac(n * b + a, b)}`, right: [`-${n}${sign}`], wrong: [`${n}${sign}`, `-${n} + ${sign}`] }
    ])
  },
  "plus or minus a value": (random) => {
    const [a, b] = random.distinct(2, 2, 30) as [number, number]
    const named = [
      `x = ${a} \\text{ or } x = -${a}`,
      `x = -${a} \\lor x = ${a}`,
      `x = ${a} \\vee x = -${a}`,
      `x = ${a}, x = -${a}`,
      `x = ${a}, -${a}`,
      `x \\in \\{-${a}, ${a}\\}`,
      `x \\in \\{${a}; -${a}\\}`,
      `x = \\pm ${a}`,
      `x=±${a}`,
      `x = +${a} \\text{ or } x = -${a}`,
      `x_1 = ${a}, x_2 = -${a}`,
      `x_{1} = -${a},\\ x_{2} = ${a}`,
      `x_{1,2} = \\pm ${a}`,
      `x = ${a} \\quad\\text{or}\\quad x = -${a}`,
      `x = ${a} or x = -${a}`,
      `x = -${a} \\text{ and } x = ${a}`
    ]
    const bare = [
      `${a} \\text{ or } -${a}`,
      `${a} or -${a}`,
      `-${a} \\lor ${a}`,
      `\\{${a}, -${a}\\}`,
      `\\pm ${a}`,
      `±${a}`,
      `+/- ${a}`,
      `+${a}, -${a}`.replace(", ", " \\text{ or } "),
      `${a} \\text{ and } -${a}`
    ]
    const wrong = [
      `${a}`,
      `x = ${a}`,
      `x = -${a}`,
      `x = ${a} \\text{ or } x = ${b}`,
      `\\pm ${b}`,
      `x = \\pm ${b}`,
      `x \\in \\{${a}\\}`,
      `x \\in \\{${a}, -${a}, ${b}\\}`,
      `\\{${a}, ${b}\\}`,
      `${a} \\text{ or } -${b}`,
      `x \\notin \\{-${a}, ${a}\\}`,
      `x \\ne \\pm ${a}`,
      `x \\in (-${a}, ${a})`,
      `x \\in [-${a}, ${a}]`
    ]
    return random.pick([
      { gold: `x = \\pm ${a}`, right: [...named, ...bare], wrong },
      { gold: `\\pm ${a}`, right: [...named, ...bare], wrong },
      { gold: `\\{-${a}, ${a}\\}`, right: [...named, ...bare], wrong },
      { gold: `${a}, -${a}`, right: [...named, ...bare].filter((one) => !/x_\{?1\}? =/.test(one)), wrong },
      { gold: `x = -${a} \\text{ or } x = ${a}`, right: named, wrong },
      { gold: `x \\in \\{-${a}, ${a}\\}`, right: named, wrong }
    ])
  },
  "two unknowns": (random) => {
    const [a, b] = random.distinct(2, 1, 30) as [number, number]
    return random.pick([
      {
        gold: `x_1 = ${a}, x_2 = ${b}`,
        right: [`x_{1} = ${a}, x_{2} = ${b}`],
        wrong: [`x_1 = ${b}, x_2 = ${a}`, `x = ${a}, x = ${b}`, `\\{${a}, ${b}\\}`]
      },
      { gold: `${a}, ${b}`, right: [`x_1 = ${a}, x_2 = ${b}`], wrong: [`x_1 = ${b}, x_2 = ${a}`, `x = ${a}`] },
      { gold: `(${a}, ${b})`, right: [`x_1 = ${a}, x_2 = ${b}`], wrong: [`x_1 = ${b}, x_2 = ${a}`] }
    ])
  },
  "two solutions": (random) => {
    const [a, b] = random.shuffle(random.distinct(2, -20, 20)) as [number, number]
    const right = [
      `x = ${a} \\lor x = ${b}`,
      `x = ${b} \\lor x = ${a}`,
      `x \\in \\{${a}, ${b}\\}`,
      `x \\in \\{${b}, ${a}\\}`,
      `x=${a} \\text{ or } x=${b}`,
      `x=${a}\\text{ or }${b}`,
      `x = ${a} \\quad \\text{or} \\quad x = ${b}`,
      `x_1 = ${a}, x_2 = ${b}`,
      `S = \\{${a}, ${b}\\}`,
      `\\{${b}, ${a}\\}`,
      `\\left\\{${a};\\, ${b}\\right\\}`,
      `x = ${a} \\vee x = ${b}`,
      `x = ${a} \\text{ oder } x = ${b}`,
      `x = ${a} \\text{ ou } x = ${b}`,
      `x = ${a} \\text{ o } x = ${b}`
    ]
    return {
      gold: `\\{${a}, ${b}\\}`,
      right,
      wrong: [
        `x = ${a}`,
        `${b}`,
        `x \\in \\{${a}, ${b + 1}\\}`,
        `x \\in \\{${a}\\}`,
        `x = ${a} \\land y = ${b}`,
        `x = ${a}, y = ${b}`,
        `x \\in (${a}, ${b})`,
        `x = ${a} \\lor x = ${b + 1}`,
        `x = ${a} \\lor x = ${b} \\lor x = ${b + 1}`,
        `(${a}, ${b})`
      ]
    }
  },
  congruence: (random) => {
    const m = random.whole(5, 19)
    const r = random.whole(1, m - 1)
    return random.pick([
      {
        gold: `x \\equiv ${r} \\pmod{${m}}`,
        right: [
          `x \\equiv ${r + m} \\pmod{${m}}`,
          `x \\equiv ${r - m} \\pmod{${m}}`,
          `x \\equiv ${r} \\bmod ${m}`,
          `x \\equiv ${r}\\ (\\text{mod } ${m})`,
          `x \\equiv ${r} (mod ${m})`,
          `x ≡ ${r} (mod ${m})`,
          `x \\equiv ${r} \\mod ${m}`,
          `x = ${m}k + ${r}, k \\in \\mathbb{Z}`,
          `x = ${m}k + ${r}`,
          `x = ${r} + ${m}n, n \\in \\mathbb{Z}`,
          `x \\equiv_{${m}} ${r}`,
          `n \\equiv ${r} \\pmod{${m}}`.replace("n ", "x ")
        ],
        wrong: [
          `x \\equiv ${r === m - 1 ? 0 : r + 1} \\pmod{${m}}`,
          `x \\equiv ${r} \\pmod{${m + 1}}`,
          `x = ${r}`,
          `${r}`,
          `x = ${m + 1}k + ${r}`,
          `x = ${m}k`,
          `x \\not\\equiv ${r} \\pmod{${m}}`,
          `x \\equiv ${r} \\pmod{${2 * m}}`
        ]
      },
      {
        gold: `${r} \\pmod{${m}}`,
        right: [
          `x \\equiv ${r} \\pmod{${m}}`,
          `${r} \\bmod ${m}`,
          `${r} (mod ${m})`,
          `${r + m} \\pmod{${m}}`,
          `n \\equiv ${r} \\pmod{${m}}`
        ],
        wrong: [
          `${r}`,
          `${r} \\pmod{${m + 1}}`,
          `x \\equiv ${r === m - 1 ? 0 : r + 1} \\pmod{${m}}`,
          `${m} \\pmod{${m + r}}`
        ]
      }
    ])
  },
  cases: (random) => {
    const [a, b] = random.distinct(2, -9, 20) as [number, number]
    const system = (x: number, y: number) => `\\begin{cases} x = ${x} \\\\ y = ${y} \\end{cases}`
    return random.pick([
      {
        gold: `(${a}, ${b})`,
        right: [
          system(a, b),
          `\\begin{cases} x = ${a}, \\\\ y = ${b} \\end{cases}`,
          `\\left\\{\\begin{array}{l} x = ${a} \\\\ y = ${b} \\end{array}\\right.`,
          `\\begin{cases} y = ${b} \\\\ x = ${a} \\end{cases}`,
          `\\begin{cases} x &= ${a} \\\\ y &= ${b} \\end{cases}`,
          `x = ${a},\\; y = ${b}`,
          `x = ${a} \\land y = ${b}`
        ],
        wrong: [system(b, a), system(a, b + 1), `\\begin{cases} x = ${a} \\end{cases}`, `x = ${a} \\lor y = ${b}`]
      },
      {
        gold: `x = ${a}, y = ${b}`,
        right: [system(a, b), `(x, y) = (${a}, ${b})`, `\\begin{aligned} x &= ${a} \\\\ y &= ${b} \\end{aligned}`],
        wrong: [system(b, a), `(x, y) = (${b}, ${a})`, `x = ${a}`]
      },
      {
        gold: `\\begin{cases} ${a} & x < 0 \\\\ ${b} & x \\ge 0 \\end{cases}`,
        right: [
          `\\begin{cases} ${b} & \\text{if } x \\ge 0 \\\\ ${a} & \\text{if } x < 0 \\end{cases}`,
          `\\begin{cases} ${a}, & x < 0, \\\\ ${b}, & x \\geq 0. \\end{cases}`,
          `f(x) = \\begin{cases} ${a} & \\text{if } x < 0 \\\\ ${b} & \\text{if } x \\ge 0 \\end{cases}`,
          `\\begin{cases} ${a} & \\text{for } x < 0 \\\\ ${b} & \\text{otherwise} \\end{cases}`
        ],
        wrong: [
          `\\begin{cases} ${b} & x < 0 \\\\ ${a} & x \\ge 0 \\end{cases}`,
          `\\begin{cases} ${a} & x \\le 0 \\\\ ${b} & x > 0 \\end{cases}`,
          `\\begin{cases} ${a} & x < 1 \\\\ ${b} & \\text{otherwise} \\end{cases}`,
          `${a}`
        ]
      }
    ])
  },
  "does not exist": (random) => {
    const n = random.whole(0, 9)
    return random.pick([
      {
        gold: random.pick(["\\text{DNE}", "\\text{does not exist}", "DNE", "\\text{Does Not Exist}"]),
        right: [
          "\\text{DNE}",
          "DNE",
          "\\text{does not exist}",
          "\\text{D.N.E.}",
          "\\mathrm{DNE}",
          "\\text{The limit does not exist}",
          "\\text{limit does not exist}",
          "\\nexists",
          "\\text{doesn't exist}"
        ],
        wrong: [`${n}`, "\\infty", "\\text{exists}", "\\text{the limit exists}", "-\\infty", "\\text{undefined or } 0"]
      },
      {
        gold: random.pick(["\\text{no solution}", "\\emptyset", "\\text{No solutions}", "\\varnothing"]),
        right: [
          "\\text{no solution}",
          "\\text{No solutions}",
          "\\emptyset",
          "\\varnothing",
          "\\{\\}",
          "\\text{no real solutions}".replace("real ", ""),
          "\\text{There is no solution}",
          "\\text{There are no solutions}",
          "x \\in \\emptyset",
          "\\text{none}",
          "S = \\emptyset"
        ],
        wrong: [
          `${n}`,
          "\\{0\\}",
          "\\text{one solution}",
          "\\text{infinitely many solutions}",
          "\\mathbb{R}",
          "\\{\\emptyset\\}"
        ]
      }
    ])
  },
  "constant of integration": (random) => {
    const a = random.whole(2, 9)
    return random.pick([
      {
        gold: `${a}x^2 + C`,
        right: [
          `${a}x^2 + K`,
          `${a}x^2 + c`,
          `${a}x^2 + k`,
          `C + ${a}x^2`,
          `${a}x^2 + C_1`,
          `${a}x^2 + \\text{const}`,
          `${a}x^2 + \\text{constant}`,
          `${a}x^2 + \\mathrm{const.}`,
          `${a}x^2+\\text{C}`,
          `\\int f = ${a}x^2 + C`.replace("\\int f = ", "F(x) = "),
          `y = ${a}x^2 + C`
        ],
        wrong: [
          `${a}x^2`,
          `${a}x^2 + x`,
          `${a}x^2 + 1`,
          `${a + 1}x^2 + C`,
          `${a}x^2 C`,
          `${a}x^2 + Cx`,
          `${a}x^3 + K`,
          `K`,
          `${a}x^2 + C + x`,
          `${a}x^2 + K^x`,
          `${a}k^2 + K`,
          `${a}x^2 + y`
        ]
      },
      {
        gold: `\\frac{x^${a}}{${a}} + \\sin x + C`,
        right: [`\\sin x + \\frac{x^${a}}{${a}} + K`, `\\frac{1}{${a}}x^${a} + \\sin(x) + c`],
        wrong: [
          `\\sin x + \\frac{x^${a}}{${a}}`,
          `\\cos x + \\frac{x^${a}}{${a}} + K`,
          `K \\sin x + \\frac{x^${a}}{${a}}`
        ]
      },
      { gold: `kx + ${a} + C`, right: [`kx + ${a} + K`], wrong: [`Kx + ${a} + k`, `kx + ${a} + k`, `kx + ${a}`] },
      { gold: `C = ${a}x`, right: [`C = ${a} x`], wrong: [`K = ${a}x`, `${a}x + C`] },
      { gold: `${a}C`, right: [`C \\cdot ${a}`], wrong: [`${a}K`, `${a}k`, "C"] }
    ])
  },
  "ratio that could be a time": (random) => {
    const [a, b] = random.shuffle([random.whole(2, 9), random.whole(11, 28)]) as [number, number]
    const [x, y] = [Math.min(a, b), Math.max(a, b) % 5 === 0 ? Math.max(a, b) + 1 : Math.max(a, b)]
    const d = gcd(x, y)
    return {
      gold: `${x}:${y}`,
      right: [
        `${2 * x}:${2 * y}`,
        `${3 * x}:${3 * y}`,
        `${x / d}:${y / d}`,
        `${x} : ${y}`,
        `${x}\\text{ to }${y}`,
        `${x} to ${y}`,
        `a:b = ${x}:${y}`,
        `${x}\\colon ${y}`
      ],
      wrong: [`${y}:${x}`, `${x}:${y + 1}`, `${2 * x}:${y}`, `${x}.${y}`, `${x}${y}`, `${x}:${y}:1`]
    }
  },
  "digits of other scripts": (random) => {
    const value = random.whole(11, 9999)
    const map = (zero: number) => [...String(value)].map((digit) => String.fromCodePoint(zero + Number(digit))).join("")
    const near = (zero: number) =>
      [...String(value + 1)].map((digit) => String.fromCodePoint(zero + Number(digit))).join("")
    const zeros = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0xff10, 0x1d7ce]
    return { gold: `${value}`, right: zeros.map(map), wrong: zeros.map(near) }
  },
  "nested boxes": (random) => {
    const [a, b] = random.distinct(2, 2, 90) as [number, number]
    return {
      gold: `${a}`,
      right: [
        `$\\boxed{\\boxed{${a}}}$`,
        `$\\boxed{x = \\boxed{${a}}}$`,
        `\\boxed{\\text{The answer is } ${a}}`,
        `\\boxed{\\text{Answer: } ${a}}`,
        `\\boxed{\\text{Answer: } \\boxed{${a}}}`,
        `\\boxed{\\displaystyle \\boxed{${a}}}`,
        `\\[\\boxed{\\,\\boxed{\\,${a}\\,}\\,}\\]`,
        `\\boxed{$${a}$}`,
        `\\boxed{\\(${a}\\)}`,
        `\\boxed{\\begin{aligned} ${a} \\end{aligned}}`,
        `\\boxed{\\mathbf{${a}}}`,
        `\\boxed{\\color{red}{${a}}}`,
        `\\boxed{\\textcolor{blue}{${a}}}`,
        `\\color{red}{\\boxed{${a}}}`,
        `\\boxed{{${a}}}`,
        `**\\boxed{${a}}**`,
        `\\(\\boxed{${a}}\\)`,
        `$$\n\\boxed{\n${a}\n}\n$$`,
        `\\boxed {${a}}`,
        `\\boxed{${a}.}`,
        `\\boxed{${a}\\checkmark}`,
        `\\boxed{${a}}\\quad\\checkmark`
      ],
      wrong: [
        `$\\boxed{\\boxed{${b}}}$`,
        `$\\boxed{\\boxed{${a}} + ${b}}$`,
        `$\\boxed{${b} + \\boxed{${a}}}$`,
        `\\boxed{\\text{not } \\boxed{${a}}}`,
        `\\boxed{\\boxed{${a}}, \\boxed{${b}}}`,
        `\\boxed{\\text{The answer is not } ${a}}`,
        `\\boxed{${a}${b}}`,
        `\\boxed{\\sqrt{\\boxed{${a}}}}`,
        `\\boxed{2 \\cdot \\boxed{${a}}}`,
        `\\boxed{\\cancel{${a}}}`,
        `\\cancel{\\boxed{${a}}}`,
        `\\boxed{\\text{${a} or ${b}}}`,
        `\\boxed{${a} \\text{ is wrong}}`
      ],
      isText: true
    }
  },
  "JSON and tags": (random) => {
    const [a, b] = proper(random)
    const gold = `\\frac{${a}}{${b}}`
    const json = (text: string) => JSON.stringify({ reasoning: "We divide.", answer: text })
    return {
      gold,
      right: [
        json(gold),
        json(`${a}/${b}`),
        JSON.stringify({ answer: `$${gold}$` }),
        JSON.stringify({ final_answer: gold }, undefined, 2),
        `\`\`\`json\n${JSON.stringify({ answer: gold }, undefined, 2)}\n\`\`\``,
        `Here is the result:\n\n\`\`\`json\n{"answer": "${a}/${b}"}\n\`\`\``,
        `{'answer': '${a}/${b}'}`,
        `{"result": "${a}/${b}"}`,
        `<answer>$${gold}$</answer>`,
        `<answer>\n${gold}\n</answer>`,
        `<final_answer>${gold}</final_answer>`,
        `<answer>\\(${gold}\\)</answer>`,
        `<answer>The answer is ${a}/${b}.</answer>`,
        `Answer: ${JSON.stringify(`${a}/${b}`)}`,
        `answer: "${a}/${b}"`,
        `answer = ${a}/${b}`,
        `\\text{Answer: } ${gold}`,
        `[ANSWER] ${a}/${b} [/ANSWER]`
      ],
      wrong: [
        json(`${b}/${a}`),
        json(`not ${a}/${b}`),
        `${json(`${b}/${a}`)}\n${json(`${a}/${b}`)}`,
        `{"example": "${a}/${b}"}`,
        `{"answer": null, "guess": "${a}/${b}"}`,
        `{"answer": "${a}/${b}", "correct": false}`,
        `{"answer": "unknown"} ${a}/${b}`,
        `<answer></answer> ${a}/${b}`,
        `{"question": "${a}/${b}", "answer": ""}`
      ],
      isText: true
    }
  },
  "end marks": (random) => {
    const [a, b] = random.distinct(2, 3, 90) as [number, number]
    const ends = [
      "$\\blacksquare$",
      "$\\square$",
      "$\\Box$",
      "\\qed",
      "QED",
      "Q.E.D.",
      "∎",
      "■",
      "□",
      "◼",
      "\\hfill $\\blacksquare$",
      "\\(\\blacksquare\\)",
      "$\\qedhere$",
      "$\\checkmark$",
      "Done.",
      "(End of proof)",
      "\\end{proof}"
    ]
    const say = (value: number, end: string) =>
      random.pick([
        `Thus $N = ${value}$. ${end}`,
        `Hence the answer is $${value}$. ${end}`,
        `Therefore the number of such pairs is $${value}$.\n${end}`,
        `So the sum is ${value}. ${end}`,
        `We get $$n = ${value}.$$ ${end}`
      ])
    return {
      gold: `${a}`,
      right: ends.map((end) => say(a, end)),
      wrong: [
        ...ends.slice(0, 4).map((end) => say(b, end)),
        `Thus $N \\ne ${a}$. $\\blacksquare$`,
        `We tried $${a}$. QED`
      ],
      isText: true
    }
  },
  "names and constants": (random) => {
    const a = random.whole(2, 9)
    return random.pick([
      {
        gold: `${a}e`,
        right: [`${a}\\mathrm{e}`, `${a}\\,\\mathrm{e}`, `${a}\\operatorname{e}`],
        wrong: [`${a}`, `${a}^e`]
      },
      {
        gold: `${a}+2i`,
        right: [`2i+${a}`, `${a}+2\\mathrm{i}`, `${a} + 2\\imath`, `${a}+2\\text{i}`],
        wrong: [`${a}-2i`, `2+${a}i`]
      },
      {
        gold: `\\log_2 ${a + 10}`,
        right: [
          `\\log_{2}(${a + 10})`,
          `\\frac{\\ln ${a + 10}}{\\ln 2}`,
          `\\operatorname{log}_2(${a + 10})`,
          `\\mathrm{lb}\\,${a + 10}`.replace("\\mathrm{lb}\\,", "\\log_2 ")
        ],
        wrong: [`\\log ${a + 10}`, `\\ln ${a + 10}`]
      },
      {
        gold: `\\ln ${a + 10}`,
        right: [
          `\\log_e ${a + 10}`,
          `\\log_{e}(${a + 10})`,
          `\\mathrm{ln}\\,${a + 10}`,
          `\\operatorname{ln}(${a + 10})`
        ],
        wrong: [`\\log_2 ${a + 10}`, `\\ln ${a + 11}`]
      },
      {
        gold: `${a} \\times 10^{8}`,
        right: [`${a}e8`, `${a} \\cdot 10^8`, `${a}00000000`, `${a}×10^8`, `${a} x 10^8`, `${a}*10^8`, `${a}E8`],
        wrong: [`${a} \\times 10^{7}`, `${a} \\times 10^{-8}`, `${a}^8`]
      },
      {
        gold: `\\tan ${a}`,
        right: [
          `\\tan(${a})`,
          `\\mathrm{tan}\\,${a}`,
          `\\operatorname{tan} ${a}`,
          `\\operatorname{tg} ${a}`,
          `\\tg ${a}`
        ],
        wrong: [`\\cot ${a}`, `\\tan ${a}^\\circ`]
      }
    ])
  },
  "infinity and sets": (random) => {
    const a = random.whole(2, 9)
    return random.pick([
      {
        gold: `(${a}, \\infty)`,
        right: [
          `(${a}, +\\infty)`,
          `]${a}, \\infty[`,
          `(${a}, ∞)`,
          `x > ${a}`.replace("x > ", "x \\in (").concat(", \\infty)"),
          `\\left(${a}, \\infty\\right)`,
          `(${a}; +\\infty)`,
          `(${a}, oo)`
        ],
        wrong: [`[${a}, \\infty)`, `(-\\infty, ${a})`, `(${a}, ${a + 1})`]
      },
      {
        gold: "\\infty",
        right: ["+\\infty", "∞", "\\text{infinity}", "infinity"],
        wrong: ["-\\infty", `${a}`, "\\text{DNE}"]
      },
      {
        gold: `\\mathbb{R} \\setminus \\{${a}\\}`,
        right: [
          `\\mathbb{R} - \\{${a}\\}`,
          `\\mathbb{R} \\backslash \\{${a}\\}`,
          `(-\\infty, ${a}) \\cup (${a}, \\infty)`
        ],
        wrong: ["\\mathbb{R}", `x = ${a}`, `\\mathbb{R} \\setminus \\{${a + 1}\\}`]
      }
    ])
  }
}
