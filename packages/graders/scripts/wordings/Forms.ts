/** Golds with other spellings of the same value, and with near ones that differ. */
import { frac, grouped, type Kinds } from "../pairs/Kind.ts"
import type { Random } from "../pairs/Random.ts"

/** Digits in groups of two above the last three. */
const indian = (value: number): string =>
  `${String(value)
    .slice(0, -3)
    .replace(/\B(?=(?:\d{2})+$)/g, ",")},${String(value).slice(-3)}`

const tripleOf = (random: Random, least: number, most: number): readonly [number, number, number] => {
  const [one, two, three] = random.distinct(3, least, most)
  return [one!, two!, three!]
}

const pairOf = (random: Random, least: number, most: number): readonly [number, number] => {
  const [one, two] = random.distinct(2, least, most)
  return [one!, two!]
}

const coprime = [
  [3, 7],
  [5, 8],
  [7, 12],
  [9, 11],
  [4, 15],
  [11, 6]
] as const

/** Spellings of the first part. */
export const firstForms: Kinds = {
  thousands: (random) => {
    const value = random.whole(1_200_001, 9_876_543)
    return {
      gold: String(value),
      right: [" ", " ", "'", "’", "\\,", "{,}", "\\;", ","]
        .map((mark) => grouped(value, mark))
        .concat([grouped(value, "."), indian(value)]),
      wrong: [grouped(value + 1, ","), String(value).slice(0, -1), grouped(value, ",").replace(",", ".")]
    }
  },
  fractions: (random) => {
    const [top, bottom] = random.pick(coprime)
    return {
      gold: frac(top, bottom),
      right: [
        `{${top} \\over ${bottom}}`,
        `\\nicefrac{${top}}{${bottom}}`,
        `\\sfrac{${top}}{${bottom}}`,
        `\\cfrac{${top}}{${bottom}}`,
        `\\mathbf{\\frac{${top}}{${bottom}}}`,
        `${top} \\div ${bottom}`,
        `^{${top}}/_{${bottom}}`,
        `\\frac{${2 * top}}{${2 * bottom}}`,
        `\\left(\\frac{${bottom}}{${top}}\\right)^{-1}`
      ],
      wrong: [frac(bottom, top), `{${bottom} \\over ${top}}`, `\\nicefrac{${top}}{${bottom + 1}}`, `${top}.${bottom}`]
    }
  },
  "two roots": (random) => {
    const root = random.whole(2, 40)
    return {
      gold: `${root} \\text{ or } -${root}`,
      right: [
        `x = \\pm ${root}`,
        `\\pm ${root}`,
        `x = ${root} \\lor x = -${root}`,
        `x \\in \\{${root}, -${root}\\}`,
        `x = -${root} \\text{ or } x = ${root}`,
        `x = ±${root}`,
        `x_{1,2} = \\pm ${root}`,
        `x_1 = ${root}, x_2 = -${root}`
      ],
      wrong: [String(root), `-${root}`, `\\pm ${root + 1}`, `x \\in \\{${root}\\}`, `x \\ne \\pm ${root}`]
    }
  },
  congruence: (random) => {
    const [rest, modulus] = [random.whole(1, 5), random.whole(7, 19)]
    return {
      gold: `x \\equiv ${rest} \\pmod{${modulus}}`,
      right: [
        `x ≡ ${rest} (mod ${modulus})`,
        `x \\equiv ${rest} \\mod ${modulus}`,
        `x \\equiv ${rest + modulus} \\pmod{${modulus}}`,
        `x \\equiv ${rest - modulus} \\pmod{${modulus}}`,
        `x \\equiv ${rest}\\ (\\mathrm{mod}\\ ${modulus})`
      ],
      wrong: [`x ≡ ${rest} (mod ${2 * modulus})`, `x \\equiv ${rest + 1} \\pmod{${modulus}}`, String(rest)]
    }
  },
  "does not exist": () => ({
    gold: "\\text{DNE}",
    right: ["The limit does not exist.", "\\text{does not exist}", "\\mathrm{DNE}", "DNE", "\\text{D.N.E.}"],
    wrong: ["0", "\\infty", "1", "\\text{exists}"]
  }),
  antiderivative: (random) => {
    const power = random.whole(2, 8)
    const integral = `\\frac{x^{${power}}}{${power}}`
    return {
      gold: `${integral} + C`,
      right: [
        `${integral} + K`,
        `${integral} + c`,
        `C + ${integral}`,
        `${integral} + \\text{const}`,
        `${integral} + C_1`
      ],
      wrong: [integral, `${integral} + x`, `x^{${power}} + C`, `-${integral} + C`]
    }
  },
  ratio: (random) => {
    const [left, right] = random.pick(coprime)
    return {
      gold: `${left}:${right}`,
      right: [
        `${left}\\colon ${right}`,
        `${2 * left}:${2 * right}`,
        `${left} : ${right}`,
        `${left} \\text{ to } ${right}`
      ],
      wrong: [`${right}:${left}`, `${left}:${right + 1}`]
    }
  },
  "mixed number": (random) => {
    const [bottom, whole] = [random.pick([3, 6, 7, 9, 11]), random.whole(2, 40)]
    const top = whole * bottom + 1
    return {
      gold: `${whole}\\frac{1}{${bottom}}\\%`,
      right: [
        `\\frac{${top}}{${bottom}}\\%`,
        `${whole} \\frac{1}{${bottom}} \\%`,
        `${whole}\\tfrac{1}{${bottom}}\\,\\%`
      ],
      wrong: [`\\frac{${whole}}{${bottom}}\\%`, `${whole}\\%`, `${whole}\\frac{2}{${bottom}}\\%`]
    }
  },
  ray: (random) => {
    const end = random.whole(-9, 9)
    return {
      gold: `(-\\infty, ${end}]`,
      right: [
        `x \\le ${end}`,
        `x ≤ ${end}`,
        `]-\\infty, ${end}]`,
        `(-\\infty; ${end}]`,
        `\\{x : x \\le ${end}\\}`,
        `\\{x \\in \\mathbb{R} \\mid x \\leq ${end}\\}`,
        `${end} \\ge x`,
        `x \\in (-\\infty, ${end}]`
      ],
      wrong: [`x < ${end}`, `[${end}, \\infty)`, `(-\\infty, ${end})`, `x \\ge ${end}`]
    }
  },
  scientific: (random) => {
    const [first, second, power] = [random.whole(1, 9), random.whole(1, 9), random.whole(5, 9)]
    return {
      gold: `${first}.${second} \\times 10^{${power}}`,
      right: [
        `${first}.${second} \\cdot 10^{${power}}`,
        `${first}.${second}e${power}`,
        `${first}${second}${"0".repeat(power - 1)}`,
        `${first}.${second} × 10^${power}`,
        `${first}${second} \\times 10^{${power - 1}}`
      ],
      wrong: [
        `${first}.${second} \\times 10^{${power - 1}}`,
        `${first}.${second} \\times 10^{-${power}}`,
        `${first}.${second}`
      ]
    }
  },
  surds: (random) => {
    const [factor, root] = [random.whole(2, 9), random.pick([2, 3, 5, 7])]
    return {
      gold: `${factor}\\sqrt{${root}}`,
      right: [
        `\\sqrt{${factor * factor * root}}`,
        `${factor}√${root}`,
        `${factor} \\cdot ${root}^{1/2}`,
        `${factor}\\sqrt ${root}`,
        `\\frac{${factor * root}}{\\sqrt{${root}}}`
      ],
      wrong: [`${root}\\sqrt{${factor + 11}}`, `\\sqrt{${factor * root}}`, `${factor}\\sqrt[3]{${root}}`]
    }
  },
  complex: (random) => {
    const [real, imaginary] = [random.whole(2, 9), random.whole(2, 9)]
    return {
      gold: `${real} + ${imaginary}i`,
      right: [
        `${imaginary}i + ${real}`,
        `${real} + ${imaginary}\\mathrm{i}`,
        `z = ${real} + ${imaginary}i`,
        `${real}+i${imaginary}`
      ],
      wrong: [`${real} - ${imaginary}i`, `${imaginary} + ${real}i${real === imaginary ? "^2" : ""}`, String(real)]
    }
  },
  unknowns: (random) => {
    const [x, y] = pairOf(random, 1, 30)
    return {
      gold: `x = ${x}, y = ${y}`,
      right: [
        `y = ${y}, x = ${x}`,
        `x = ${x} \\text{ and } y = ${y}`,
        `(x, y) = (${x}, ${y})`,
        `\\begin{cases} x = ${x} \\\\ y = ${y} \\end{cases}`
      ],
      wrong: [`x = ${y}, y = ${x}`, `x = ${x}`, `(x, y) = (${y}, ${x})`]
    }
  },
  "empty set": () => ({
    gold: "\\varnothing",
    right: ["\\emptyset", "∅", "\\{\\}", "\\{ \\}"],
    wrong: ["0", "\\{0\\}", "\\{\\emptyset\\}", "\\infty"]
  })
}

/** Spellings of the second part. */
export const secondForms: Kinds = {
  pieces: (random) => {
    const [one, two] = pairOf(random, 2, 9)
    return {
      gold: `\\begin{cases} ${one}x & x \\ge 0 \\\\ ${two}x & x < 0 \\end{cases}`,
      right: [
        `\\left\\{\\begin{array}{ll} ${one}x, & x \\ge 0 \\\\ ${two}x, & x < 0 \\end{array}\\right.`,
        `\\begin{cases} ${two}x & \\text{if } x < 0 \\\\ ${one}x & \\text{if } x \\geq 0 \\end{cases}`,
        `f(x) = \\begin{cases} ${one}x, & \\text{for } x \\geq 0, \\\\ ${two}x, & \\text{otherwise} \\end{cases}`
      ],
      wrong: [
        `\\begin{cases} ${two}x & x \\ge 0 \\\\ ${one}x & x < 0 \\end{cases}`,
        `\\begin{cases} ${one}x & x \\ge 1 \\\\ ${two}x & x < 1 \\end{cases}`
      ]
    }
  },
  "function value": (random) => {
    const at = random.whole(2, 9)
    return {
      gold: `f(${at})`,
      right: [`f\\left(${at}\\right)`, `f( ${at} )`],
      wrong: [`${at}f`, `f(${at + 1})`, `g(${at})`]
    }
  },
  union: (random) => {
    const [low, high] = pairOf(random, -9, 9)
    return {
      gold: `(-\\infty, ${low}) \\cup (${high}, \\infty)`,
      right: [
        `x < ${low} \\text{ or } x > ${high}`,
        `x < ${low} \\lor x > ${high}`,
        `x > ${high} \\text{ or } x < ${low}`,
        `(${high}, +\\infty) \\cup (-\\infty, ${low})`,
        `\\mathbb{R} \\setminus [${low}, ${high}]`,
        `]-\\infty, ${low}[ \\cup ]${high}, \\infty[`
      ],
      wrong: [
        `${low} < x < ${high}`,
        `(-\\infty, ${low}] \\cup (${high}, \\infty)`,
        `x < ${low} \\text{ and } x > ${high}`
      ]
    }
  },
  "general solution": (random) => {
    const bottom = random.pick([3, 4, 6, 8])
    return {
      gold: `x = \\frac{\\pi}{${bottom}} + k\\pi`,
      right: [
        `x = \\frac{\\pi}{${bottom}} + n\\pi`,
        `x = \\frac{\\pi}{${bottom}} + k\\pi, k \\in \\mathbb{Z}`,
        `x = \\pi/${bottom} + \\pi n, \\quad n \\in \\mathbb{Z}`,
        `x = k\\pi + \\frac{\\pi}{${bottom}} \\text{ for any integer } k`
      ],
      wrong: [
        `x = \\frac{\\pi}{${bottom}} + 2k\\pi`,
        `x = \\frac{\\pi}{${bottom}}`,
        `x = -\\frac{\\pi}{${bottom}} + k\\pi`
      ]
    }
  },
  "all reals": () => ({
    gold: "\\mathbb{R}",
    right: [
      "(-\\infty, \\infty)",
      "\\text{all real numbers}",
      "\\R",
      "ℝ",
      "x \\in \\mathbb{R}",
      "(-\\infty; +\\infty)"
    ],
    wrong: ["\\mathbb{Q}", "\\mathbb{C}", "(0, \\infty)", "\\text{no real numbers}"]
  }),
  repeating: (random) => {
    const digit = random.pick([1, 2, 4, 5, 7, 8])
    return {
      gold: frac(digit, 9),
      right: [`0.\\overline{${digit}}`, `0.\\dot{${digit}}`, `0.(${digit})`, `0.${String(digit).repeat(3)}\\ldots`],
      wrong: [`0.${digit}`, `0.0\\overline{${digit}}`, `0.${digit}${digit}`]
    }
  },
  binomial: (random) => {
    const [above, below] = [random.whole(6, 11), random.whole(2, 3)]
    const value = below === 2 ? (above * (above - 1)) / 2 : (above * (above - 1) * (above - 2)) / 6
    return {
      gold: String(value),
      right: [
        `\\binom{${above}}{${below}}`,
        `{${above} \\choose ${below}}`,
        `\\dbinom{${above}}{${below}} = ${value}`,
        `\\frac{${above}!}{${below}! \\cdot ${above - below}!}`
      ],
      wrong: [`\\binom{${above + 1}}{${below}}`, `\\frac{${above}!}{${below}!}`]
    }
  },
  vector: (random) => {
    const [one, two, three] = tripleOf(random, -9, 9)
    return {
      gold: `\\begin{pmatrix} ${one} \\\\ ${two} \\\\ ${three} \\end{pmatrix}`,
      right: [
        `\\begin{bmatrix} ${one} \\\\ ${two} \\\\ ${three} \\end{bmatrix}`,
        `\\left(\\begin{array}{c} ${one} \\\\ ${two} \\\\ ${three} \\end{array}\\right)`,
        `\\left(\\begin{matrix} ${one} \\\\ ${two} \\\\ ${three} \\end{matrix}\\right)`
      ],
      wrong: [
        `\\begin{pmatrix} ${two} \\\\ ${one} \\\\ ${three} \\end{pmatrix}`,
        `\\begin{pmatrix} ${one} \\\\ ${two} \\end{pmatrix}`
      ]
    }
  },
  money: (random) => {
    const [whole, cents] = [random.whole(2, 90), random.whole(10, 99)]
    return {
      gold: `\\$${whole}.${cents}`,
      right: [
        `${whole}.${cents} \\text{ dollars}`,
        `${whole}.${cents}`,
        `\\text{USD } ${whole}.${cents}`,
        `\\$\\,${whole}.${cents}`
      ],
      wrong: [`${whole}.${cents} \\text{ euros}`, `\\$${whole}`, `${whole}${cents} \\text{ dollars}`]
    }
  },
  time: (random) => {
    const hours = random.whole(2, 9)
    return {
      gold: `${hours} \\text{ hours}`,
      right: [
        `${hours}\\text{ h}`,
        `${60 * hours} \\text{ minutes}`,
        `${hours}~\\mathrm{hours}`,
        `${hours}\\,\\text{hrs}`
      ],
      wrong: [`${hours} \\text{ minutes}`, `${hours + 1} \\text{ hours}`, `${60 * hours} \\text{ seconds}`]
    }
  },
  factored: (random) => {
    const [one, two] = pairOf(random, 1, 9)
    return {
      gold: `(x + ${one})(x - ${two})`,
      right: [
        `x^2 ${two > one ? "-" : "+"} ${Math.abs(one - two)}x - ${one * two}`,
        `(x - ${two})(x + ${one})`,
        `-(${two} - x)(x + ${one})`,
        `(x-${two}) \\cdot (x+${one})`
      ],
      wrong: [`(x - ${one})(x + ${two})`, `x^2 - ${one * two}`]
    }
  },
  logarithms: (random) => {
    const power = random.whole(2, 6)
    return {
      gold: `${power}\\ln 2`,
      right: [
        `\\ln ${2 ** power}`,
        `\\log_e ${2 ** power}`,
        `\\ln(2^{${power}})`,
        `${power}\\log_e(2)`,
        `-\\ln\\frac{1}{${2 ** power}}`
      ],
      wrong: [`\\log_{10} ${2 ** power}`, `\\ln ${2 * power + 1}`, `${power}\\log_2 2`]
    }
  },
  "decimal comma": (random) => {
    const [whole, tenths] = [random.whole(2, 90), random.pick([2, 4, 6, 8])]
    return {
      gold: `${whole}.${tenths}`,
      right: [
        `${whole}{,}${tenths}`,
        frac(whole * 10 + tenths, 10),
        `${whole}\\frac{${tenths / 2}}{5}`,
        `${whole}.${tenths}0`
      ],
      wrong: [`${whole}${tenths}`, `${whole} \\cdot \\frac{${tenths / 2}}{5}`, `0.${whole}${tenths}`]
    }
  },
  set: (random) => {
    const [one, two, three] = tripleOf(random, 1, 40)
    return {
      gold: `\\{${one}, ${two}, ${three}\\}`,
      right: [
        `\\{${three}, ${one}, ${two}\\}`,
        `\\lbrace ${one}, ${two}, ${three} \\rbrace`,
        `\\left\\{${one}; ${two}; ${three}\\right\\}`,
        `S = \\{${one}, ${two}, ${three}\\}`,
        `${one}, ${two} \\text{ and } ${three}`
      ],
      wrong: [
        `\\{${one}, ${two}\\}`,
        `\\{${one}, ${two}, ${three + 1}\\}`,
        `\\{${one}, ${two}, ${three}, ${three + 1}\\}`
      ]
    }
  },
  words: (random) => {
    const names = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    const at = random.whole(0, names.length - 2)
    return {
      gold: String(at + 2),
      right: [`The answer is ${names[at]}.`, `So there are ${names[at]} of them.`, `\\text{${names[at]}}`],
      wrong: [`The answer is ${names[at + 1]}.`, `\\text{${names[at + 1]}}`]
    }
  }
}
