/**
 * Other spellings of values for parts 3 and 4. A spelling is the content of a formula, or with `=` in front plain text
 * or Markdown.
 */
import { frac, gcd, grouped, type Kinds, plus, shifted, times } from "../pairs/Kind.ts"
import type { Random } from "../pairs/Random.ts"

const fraction = (random: Random): readonly [number, number] => {
  for (;;) {
    const [top, bottom] = [random.whole(1, 60), random.whole(3, 40)]
    if (gcd(top, bottom) === 1) return [top, bottom]
  }
}

const superscript = (value: number): string =>
  String(value).replace(/\d|-/g, (mark) => (mark === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(mark)]!))

const subscript = (value: number): string => String(value).replace(/\d/g, (mark) => "₀₁₂₃₄₅₆₇₈₉"[Number(mark)]!)

const small = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
const teens = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(" ")
const tens = ". . twenty thirty forty fifty sixty seventy eighty ninety".split(" ")
const spelled = (value: number): string => {
  if (value < 10) return small[value]!
  if (value < 20) return teens[value - 10]!
  if (value < 100) return tens[Math.floor(value / 10)]! + (value % 10 === 0 ? "" : `-${small[value % 10]}`)
  return `${small[Math.floor(value / 100)]} hundred${value % 100 === 0 ? "" : ` ${spelled(value % 100)}`}`
}

export const thirdForms: Kinds = {
  "thousands, third": (random) => {
    const value = random.whole(1_200_000, 98_000_000)
    return {
      gold: String(value),
      right: [
        grouped(value, ","),
        grouped(value, "{,}"),
        grouped(value, "\\,"),
        grouped(value, "\\;"),
        `=${grouped(value, "\u202f")}`,
        `=${grouped(value, "\u00a0")}`,
        `=${grouped(value, "'")}`,
        `=${grouped(value, "’")}`,
        `=${grouped(value, "_")}`,
        `=${grouped(value, ".")}`,
        `\\text{${grouped(value, ",")}}`,
        `\\num{${value}}`,
        `${value}.0`,
        `=**${grouped(value, ",")}**`
      ],
      wrong: [grouped(value + 1, ","), grouped(value * 10, ","), grouped(value, ",").slice(0, -4), `-${value}`]
    }
  },
  "fractions, third": (random) => {
    const [top, bottom] = fraction(random)
    return {
      gold: frac(top, bottom),
      right: [
        `{${top} \\over ${bottom}}`,
        `\\nicefrac{${top}}{${bottom}}`,
        `\\sfrac{${top}}{${bottom}}`,
        `\\cfrac{${top}}{${bottom}}`,
        `\\dfrac{${2 * top}}{${2 * bottom}}`,
        `${top}/${bottom}`,
        `${top} \\div ${bottom}`,
        `=${top}⁄${bottom}`,
        `=${superscript(top)}⁄${subscript(bottom)}`,
        `${top} \\cdot \\frac{1}{${bottom}}`,
        `${top}\\cdot ${bottom}^{-1}`,
        `\\left(\\frac{${bottom}}{${top}}\\right)^{-1}`,
        `\\frac{-${top}}{-${bottom}}`,
        `\\mathbf{\\frac{${top}}{${bottom}}}`,
        `\\frac{\\mathrm{${top}}}{\\mathrm{${bottom}}}`
      ],
      wrong: [frac(bottom, top + bottom), `${top + 1}/${bottom}`, `-\\frac{${top}}{${bottom}}`, `${top}${bottom}`]
    }
  },
  "mixed percent": (random) => {
    const [whole, bottom] = [random.whole(4, 90), random.pick([3, 7, 9, 11])]
    const top = random.whole(1, bottom - 1)
    const common = gcd(top, bottom)
    const [a, b] = [top / common, bottom / common]
    return {
      gold: `${whole}\\frac{${a}}{${b}}\\%`,
      right: [
        `${whole} \\tfrac{${a}}{${b}} \\%`,
        `\\frac{${whole * b + a}}{${b}}\\%`,
        `${whole}\\frac{${a}}{${b}}\\text{ percent}`,
        `=${whole} ${a}/${b} %`,
        `=${whole} ${a}/${b} percent`
      ],
      wrong: [
        `${frac(whole * a, b)}\\%`,
        `${whole}\\%`,
        `${whole}\\frac{${b}}{${a + b}}\\%`,
        `${whole + 1}\\frac{${a}}{${b}}\\%`
      ]
    }
  },
  "scientific, third": (random) => {
    const [head, exponent] = [random.whole(11, 98), random.whole(4, 9)]
    if (head % 10 === 0) return thirdForms["scientific, third"]!(random)
    const text = `${Math.floor(head / 10)}.${head % 10}`
    return {
      gold: `${text} \\times 10^{${exponent}}`,
      right: [
        `${text} \\cdot 10^{${exponent}}`,
        `=${text} × 10${superscript(exponent)}`,
        `=${text}e${exponent}`,
        `=${text}E+${exponent}`,
        `=${text}*10^${exponent}`,
        `${head} \\times 10^{${exponent - 1}}`,
        String(head * 10 ** (exponent - 1)),
        `=${grouped(head * 10 ** (exponent - 1), ",")}`,
        `0.${head} \\times 10^{${exponent + 1}}`
      ],
      wrong: [
        `${text} \\times 10^{${exponent + 1}}`,
        `${text} \\times 10^{-${exponent}}`,
        `=${text}e${exponent - 1}`,
        `${text} + 10^{${exponent}}`
      ]
    }
  },
  "plus or minus": (random) => {
    const [middle, root] = [random.whole(1, 12), random.pick([2, 3, 5, 7, 11])]
    return {
      gold: `${middle} \\pm \\sqrt{${root}}`,
      right: [
        `x = ${middle} \\pm \\sqrt{${root}}`,
        `\\{${middle} - \\sqrt{${root}}, ${middle} + \\sqrt{${root}}\\}`,
        `${middle} + \\sqrt{${root}} \\text{ or } ${middle} - \\sqrt{${root}}`,
        `x = ${middle} + \\sqrt{${root}} \\lor x = ${middle} - \\sqrt{${root}}`,
        `x \\in \\{${middle} + \\sqrt{${root}}, ${middle} - \\sqrt{${root}}\\}`,
        `=$x_1 = ${middle} + \\sqrt{${root}}$ and $x_2 = ${middle} - \\sqrt{${root}}$`,
        `=${middle} ± √${root}`,
        `${middle} \\mp \\sqrt{${root}}`,
        `x_{1,2} = ${middle} \\pm \\sqrt{${root}}`
      ],
      wrong: [
        `${middle} + \\sqrt{${root}}`,
        `-${middle} \\pm \\sqrt{${root}}`,
        `${middle} \\pm ${root}`,
        `${middle} \\pm \\sqrt{${root + 1}}`
      ]
    }
  },
  "intervals, third": (random) => {
    const [low, high] = random.distinct(2, -30, 40)
    return {
      gold: `(${low}, ${high})`,
      right: [
        `]${low}, ${high}[`,
        `\\left(${low}, ${high}\\right)`,
        `(${low};${high})`,
        `${low} < x < ${high}`,
        `x \\in (${low}, ${high})`,
        `\\{x \\mid ${low} < x < ${high}\\}`,
        `\\{x \\in \\mathbb{R} : ${low} < x < ${high}\\}`,
        `x > ${low} \\text{ and } x < ${high}`,
        `${high} > x > ${low}`,
        `=${low} < x < ${high}`
      ],
      wrong: [
        `[${low}, ${high}]`,
        `(${low}, ${high}]`,
        `${low} \\le x \\le ${high}`,
        `(${low}, ${high! + 1})`,
        `x > ${low}`
      ]
    }
  },
  "unions, third": (random) => {
    const [low, high] = random.distinct(2, -20, 20)
    return {
      gold: `(-\\infty, ${low}) \\cup (${high}, \\infty)`,
      right: [
        `(${high}, \\infty) \\cup (-\\infty, ${low})`,
        `x < ${low} \\text{ or } x > ${high}`,
        `x < ${low} \\lor x > ${high}`,
        `=(-∞, ${low}) ∪ (${high}, ∞)`,
        `=(-∞, ${low}) ∪ (${high}, +∞)`,
        `\\mathbb{R} \\setminus [${low}, ${high}]`,
        `x \\in (-\\infty, ${low}) \\cup (${high}, +\\infty)`,
        `]-\\infty, ${low}[ \\cup ]${high}, +\\infty[`
      ],
      wrong: [
        `(-\\infty, ${low}] \\cup [${high}, \\infty)`,
        `(${low}, ${high})`,
        `(-\\infty, ${low})`,
        `x < ${low} \\text{ and } x > ${high}`
      ]
    }
  },
  "matrices, third": (random) => {
    const [a, b, c, d] = [random.signed(9), random.signed(9), random.signed(9), random.signed(9)]
    return {
      gold: `\\begin{pmatrix} ${a} & ${b} \\\\ ${c} & ${d} \\end{pmatrix}`,
      right: [
        `\\begin{bmatrix} ${a} & ${b} \\\\ ${c} & ${d} \\end{bmatrix}`,
        `\\left[\\begin{array}{cc} ${a} & ${b} \\\\ ${c} & ${d} \\end{array}\\right]`,
        `\\left(\\begin{matrix} ${a} & ${b} \\\\ ${c} & ${d} \\end{matrix}\\right)`,
        `A = \\begin{pmatrix} ${a} & ${b} \\\\ ${c} & ${d} \\end{pmatrix}`,
        `\\begin{pmatrix}${a}&${b}\\\\[2pt]${c}&${d}\\end{pmatrix}`
      ],
      wrong: [
        `\\begin{pmatrix} ${a} & ${b} \\\\ ${c} & ${d + 1} \\end{pmatrix}`,
        `\\begin{pmatrix} ${a} & ${b} & ${c} & ${d} \\end{pmatrix}`,
        `\\begin{vmatrix} ${a} & ${b} \\\\ ${c} & ${d} \\end{vmatrix}`
      ]
    }
  },
  "polynomials, third": (random) => {
    const [p, q] = random.distinct(2, 1, 14)
    return {
      gold: `x^2 + ${p! + q!}x + ${p! * q!}`,
      right: [
        `(x + ${p})(x + ${q})`,
        `(x+${q})\\cdot(x+${p})`,
        `${p! * q!} + ${p! + q!}x + x^2`,
        `=x² + ${p! + q!}x + ${p! * q!}`,
        `=x^2 + ${p! + q!}*x + ${p! * q!}`,
        `=x**2 + ${p! + q!}*x + ${p! * q!}`,
        `x(x + ${p! + q!}) + ${p! * q!}`,
        `\\left(x + ${p}\\right)\\left(x + ${q}\\right)`
      ],
      wrong: [
        `(x - ${p})(x - ${q})`,
        `x^2 + ${p! + q! + 1}x + ${p! * q!}`,
        `x^2 + ${p! + q!}x`,
        `x^3 + ${p! + q!}x + ${p! * q!}`
      ]
    }
  },
  "integrals, third": (random) => {
    const [a, n] = [random.whole(2, 9), random.whole(2, 6)]
    return {
      gold: `${a}x^{${n}} + \\sin x + C`,
      right: [
        `\\sin x + ${a}x^{${n}} + C`,
        `${a}x^{${n}} + \\sin(x) + K`,
        `${a}x^${n} + \\sin x + c`,
        `${a}x^{${n}} + \\sin x + \\text{const}`,
        `=${a}x^${n} + sin(x) + C`,
        `${a}x^{${n}} + \\sin x + C, \\quad C \\in \\mathbb{R}`
      ],
      wrong: [`${a}x^{${n}} - \\sin x + C`, `${a}x^{${n + 1}} + \\sin x + C`, `${a}x^{${n}} + \\cos x + C`]
    }
  },
  "congruences, third": (random) => {
    const modulus = random.whole(5, 40)
    const rest = random.whole(1, modulus - 1)
    return {
      gold: `x \\equiv ${rest} \\pmod{${modulus}}`,
      right: [
        `x \\equiv ${rest} \\mod ${modulus}`,
        `x \\equiv ${rest} \\ (\\mathrm{mod}\\ ${modulus})`,
        `=x ≡ ${rest} (mod ${modulus})`,
        `x \\equiv ${rest} \\bmod ${modulus}`,
        `x \\equiv ${rest + modulus} \\pmod{${modulus}}`
      ],
      wrong: [
        `x \\equiv ${rest} \\pmod{${modulus + 1}}`,
        `x \\equiv ${rest - 1} \\pmod{${modulus}}`,
        `x \\equiv -${rest} \\pmod{${2 * modulus + 1}}`
      ]
    }
  },
  "ratios, third": (random) => {
    const [a, b] = random.distinct(2, 2, 25)
    const common = gcd(a!, b!)
    const [p, q] = [a! / common, b! / common]
    return {
      gold: `${p}:${q}`,
      right: [`${p} : ${q}`, `${3 * p}:${3 * q}`, `${p}\\colon ${q}`, `=${p} to ${q}`, `=${p}:${q}`, `${p}\\!:\\!${q}`],
      wrong: [`${q}:${p}`, `${p}:${q + 1}`, `${p + 1}:${q}`]
    }
  },
  "units, third": (random) => {
    const value = random.whole(3, 300)
    return {
      gold: `${value}\\text{ cm}^2`,
      right: [
        `${value}~\\text{cm}^2`,
        `${value}\\,\\mathrm{cm}^2`,
        `${value}\\ \\mathrm{cm^{2}}`,
        `=${value} cm²`,
        `=${value} cm^2`,
        `=${value} square centimeters`,
        `=${value} sq cm`,
        `${value}\\text{ square centimetres}`,
        `\\qty{${value}}{cm^2}`,
        String(value)
      ],
      wrong: [`${value}\\text{ cm}`, `${value}\\text{ m}^2`, `${value}\\text{ cm}^3`, `${value + 1}\\text{ cm}^2`]
    }
  },
  "money, third": (random) => {
    const [whole, cents] = [random.whole(2, 900), random.whole(11, 98)]
    return {
      gold: `\\$${whole}.${cents}`,
      right: [
        `=$${whole}.${cents}`,
        `=\\$${whole}.${cents}`,
        `=${whole}.${cents} dollars`,
        `=USD ${whole}.${cents}`,
        `=${whole}.${cents} USD`,
        `=**$${whole}.${cents}**`,
        `${whole}.${cents}`,
        `\\text{\\$}${whole}.${cents}`
      ],
      wrong: [`=$${whole}.${cents + 1}`, `=$${whole}`, `=${whole}.${cents} cents`, `=€${whole}.${cents}`]
    }
  },
  "words, third": (random) => {
    const value = random.whole(11, 990)
    return {
      gold: String(value),
      right: [
        `=${spelled(value)}`,
        `=**${spelled(value)}**`,
        `\\text{${spelled(value)}}`,
        `=${value} (${spelled(value)})`
      ],
      wrong: [`=${spelled(value + 1)}`, `=${spelled(value - 1)}`, `\\text{${spelled(value + 2)}}`]
    }
  },
  "bases, third": (random) => {
    const value = random.whole(17, 500)
    const base = random.pick([2, 3, 5, 8])
    const digits = value.toString(base)
    return {
      gold: `${digits}_{${base}}`,
      right: [
        `${digits}_${base}`,
        `(${digits})_{${base}}`,
        `\\text{${digits}}_{${base}}`,
        `=${digits}${subscript(base)}`,
        `${digits}_{\\text{${["", "", "two", "three", "", "five", "", "", "eight"][base]}}}`
      ],
      wrong: [`${(value + 1).toString(base)}_{${base}}`, `${digits}_{${base === 8 ? 9 : base + 4}}`]
    }
  },
  "nothing, third": () => ({
    gold: "\\emptyset",
    right: [
      "\\varnothing",
      "\\{\\}",
      "\\{\\,\\}",
      "=no solution",
      "=No solution",
      "\\text{no solutions}",
      "=∅",
      "\\text{No real solution}"
    ],
    wrong: ["\\{0\\}", "0", "\\{\\emptyset\\}", "\\mathbb{R}"]
  }),
  "surds, third": (random) => {
    const [a, root] = [random.whole(2, 12), random.pick([2, 3, 5, 6, 7])]
    return {
      gold: `${a}\\sqrt{${root}}`,
      right: [
        `\\sqrt{${a * a * root}}`,
        `${a}\\cdot\\sqrt{${root}}`,
        `${a} \\times \\sqrt ${root}`,
        `${a}\\cdot ${root}^{1/2}`,
        `${a}\\cdot ${root}^{0.5}`,
        `=${a}√${root}`,
        `=${a}*sqrt(${root})`,
        `=${a}√(${root})`,
        `\\frac{${a * root}}{\\sqrt{${root}}}`,
        `${a}\\,\\sqrt{${root}}`,
        `\\sqrt[2]{${a * a * root}}`
      ],
      wrong: [
        `\\sqrt{${a * root}}`,
        `${a}\\sqrt{${root + 1}}`,
        `${a} + \\sqrt{${root}}`,
        `\\sqrt[3]{${a * a * root}}`,
        `-${a}\\sqrt{${root}}`
      ]
    }
  },
  "points, third": (random) => {
    const [x, y] = [random.signed(20), random.signed(20)]
    if (x === y) return thirdForms["points, third"]!(random)
    return {
      gold: `(${x}, ${y})`,
      right: [
        `\\left(${x}, ${y}\\right)`,
        `x = ${x}, y = ${y}`,
        `(x, y) = (${x}, ${y})`,
        `=x = ${x} and y = ${y}`,
        `(${x}; ${y})`,
        `P(${x}, ${y})`,
        `\\begin{cases} x = ${x} \\\\ y = ${y} \\end{cases}`,
        `y = ${y}, x = ${x}`
      ],
      wrong: [`(${y}, ${x})`, `(${x}, ${y + 1})`, `(${-x}, ${y})`, `x = ${y}, y = ${x}`, `\\{${x}, ${y}\\}`]
    }
  },
  "repeating, third": (random) => {
    const digits = random.whole(12, 98)
    if (digits % 11 === 0) return thirdForms["repeating, third"]!(random)
    return {
      gold: `0.\\overline{${digits}}`,
      right: [
        `\\frac{${digits}}{99}`,
        `0.${digits}\\overline{${digits}}`,
        `0.(${digits})`,
        `\\dfrac{${2 * digits}}{198}`,
        `0.\\dot{${Math.floor(digits / 10)}}\\dot{${digits % 10}}`
      ],
      wrong: [`0.${digits}`, `\\frac{${digits}}{100}`, `0.\\overline{${digits + 1}}`, `0.0\\overline{${digits}}`]
    }
  },
  "complex, third": (random) => {
    const [a, b] = [random.whole(2, 20), random.whole(2, 20)]
    return {
      gold: `${a} - ${b}i`,
      right: [
        `-${b}i + ${a}`,
        `${a} - ${b}\\mathrm{i}`,
        `${a} - i${b}`,
        `${a} - ${b}\\cdot i`,
        `z = ${a} - ${b}i`,
        `${a} + (-${b})i`,
        `=${a} - ${b}*i`
      ],
      wrong: [`${a} + ${b}i`, `-${a} - ${b}i`, `${b} - ${a + 1}i`, `${a} - ${b}`]
    }
  },
  "angles, third": (random) => {
    const size = random.whole(10, 170)
    return {
      gold: `${size}^\\circ`,
      right: [
        `${size}^{\\circ}`,
        `=${size}°`,
        `=${size} degrees`,
        `${size}\\text{ degrees}`,
        `${size}\\degree`,
        `\\ang{${size}}`,
        `\\theta = ${size}^\\circ`
      ],
      wrong: [
        `${size + 1}^\\circ`,
        `${180 - size === size ? size + 2 : 180 - size}^\\circ`,
        `${size}\\text{ rad}`,
        `${size}\\%`
      ]
    }
  }
}

export const fourthForms: Kinds = {
  "logarithms, fourth": (random) => {
    const [a, b] = [random.whole(2, 9), random.pick([3, 5, 7, 11])]
    return {
      gold: `${a}\\ln ${b}`,
      right: [
        `${a}\\ln(${b})`,
        `\\ln(${b}^{${a}})`,
        `\\ln ${b ** a}`,
        `${a}\\log_e ${b}`,
        `=${a} ln ${b}`,
        `=${a}*ln(${b})`,
        `${a}\\,\\ln{${b}}`,
        `\\ln\\left(${b ** a}\\right)`
      ],
      wrong: [`${a}\\ln ${b + 1}`, `${a}\\log_{10} ${b}`, `\\ln ${a * b}`, `(\\ln ${b})^{${a}}`]
    }
  },
  "powers, fourth": (random) => {
    const [base, exponent] = [random.pick([2, 3, 5]), random.whole(12, 40)]
    return {
      gold: `${base}^{${exponent}}`,
      right: [
        `=${base}^${exponent}`,
        `=${base}**${exponent}`,
        `=${base}${superscript(exponent)}`,
        `${base} \\cdot ${base}^{${exponent - 1}}`,
        `(${base}^{${exponent}})`,
        String(BigInt(base) ** BigInt(exponent)),
        `${base * base}^{${exponent % 2 === 0 ? exponent / 2 : `${exponent}/2`}}`,
        `=${base}<sup>${exponent}</sup>`
      ],
      wrong: [
        `${base}^{${exponent + 1}}`,
        `${exponent}^{${base}}`,
        `${base}\\cdot ${exponent}`,
        `${base}^{-${exponent}}`,
        `${base}${exponent}`
      ]
    }
  },
  "sets, fourth": (random) => {
    const [a, b, c] = random.distinct(3, -20, 60)
    return {
      gold: `\\{${a}, ${b}, ${c}\\}`,
      right: [
        `\\{${c}, ${a}, ${b}\\}`,
        `\\left\\{${a},${b},${c}\\right\\}`,
        `={${a}, ${b}, ${c}}`,
        `=$${b}$, $${a}$ and $${c}$`,
        `${a} \\text{ or } ${c} \\text{ or } ${b}`,
        `x \\in \\{${b}, ${a}, ${c}\\}`,
        `x = ${a} \\text{ or } x = ${b} \\text{ or } x = ${c}`,
        `\\lbrace ${a}, ${b}, ${c} \\rbrace`,
        `\\{${a}; ${b}; ${c}\\}`
      ],
      wrong: [
        `\\{${a}, ${b}\\}`,
        `\\{${a}, ${b}, ${c! + 1}\\}`,
        `\\{${a}, ${b}, ${c}, ${c! + 2}\\}`,
        `${a}`,
        `${a}${b}${c}`
      ]
    }
  },
  "lines, fourth": (random) => {
    const [slope, cut] = [random.whole(2, 9), random.whole(1, 20)]
    return {
      gold: `y = ${slope}x + ${cut}`,
      right: [
        `${slope}x + ${cut} = y`,
        `y - ${slope}x = ${cut}`,
        `${slope}x - y + ${cut} = 0`,
        `y = ${cut} + ${slope}x`,
        `2y = ${2 * slope}x + ${2 * cut}`,
        `=y = ${slope}x + ${cut}`,
        `y=${slope}\\cdot x+${cut}`
      ],
      wrong: [
        `y = ${slope}x - ${cut}`,
        `y = -${slope}x + ${cut}`,
        `x = ${slope}y + ${cut}`,
        `y = ${slope + 1}x + ${cut}`
      ]
    }
  },
  "inequalities, fourth": (random) => {
    const bound = random.signed(30)
    return {
      gold: `x \\ge ${bound}`,
      right: [
        `x \\geq ${bound}`,
        `x \\geqslant ${bound}`,
        `${bound} \\le x`,
        `[${bound}, \\infty)`,
        `x \\in [${bound}, +\\infty)`,
        `=x ≥ ${bound}`,
        `=x >= ${bound}`,
        `[${bound}, \\infty[`,
        `\\{x : x \\ge ${bound}\\}`
      ],
      wrong: [`x > ${bound}`, `x \\le ${bound}`, `(${bound}, \\infty)`, `x = ${bound}`, `x \\ge ${bound + 1}`]
    }
  },
  "families, fourth": (random) => {
    const part = random.whole(3, 9)
    return {
      gold: `x = \\frac{\\pi}{${part}} + 2k\\pi, k \\in \\mathbb{Z}`,
      right: [
        `x = \\frac{\\pi}{${part}} + 2n\\pi, n \\in \\mathbb{Z}`,
        `x = 2k\\pi + \\frac{\\pi}{${part}}, k \\in \\mathbb{Z}`,
        `x = \\frac{\\pi}{${part}} + 2\\pi k \\quad (k \\in \\mathbb{Z})`,
        `x = \\frac{\\pi}{${part}} + 2\\pi m,\\ m \\in \\mathbf{Z}`,
        `=x = π/${part} + 2kπ, k ∈ ℤ`,
        `x = \\frac{\\pi}{${part}} + 2\\pi n, \\text{ where } n \\in \\mathbb{Z}`,
        `x = \\frac{\\pi}{${part}} + 2\\pi n, \\text{ for any integer } n`
      ],
      wrong: [
        `x = \\frac{\\pi}{${part}} + k\\pi, k \\in \\mathbb{Z}`,
        `x = \\frac{\\pi}{${part}}`,
        `x = -\\frac{\\pi}{${part}} + 2k\\pi, k \\in \\mathbb{Z}`,
        `x = \\frac{\\pi}{${part}} + 2k\\pi, k \\in \\mathbb{N}`
      ]
    }
  },
  "functions, fourth": (random) => {
    const [a, b] = [random.whole(2, 9), random.signed(12)]
    return {
      gold: `f(x) = ${times(a, "x")}${plus(b)}`,
      right: [
        `f(x)=${shifted(b, `${a}x`)}`,
        `f(x) = ${b} + ${a}x`,
        `f(t) = ${a}t${plus(b)}`,
        `=f(x) = ${a}x${plus(b)}`,
        `f : x \\mapsto ${a}x${plus(b)}`
      ],
      wrong: [`f(x) = ${a + 1}x${plus(b)}`, `f(x) = ${a}x${plus(-b)}`, `f(x) = ${a}x^2${plus(b)}`]
    }
  },
  "vectors, fourth": (random) => {
    const [a, b, c] = [random.signed(9), random.signed(9), random.signed(9)]
    return {
      gold: `\\begin{pmatrix} ${a} \\\\ ${b} \\\\ ${c} \\end{pmatrix}`,
      right: [
        `\\begin{bmatrix}${a}\\\\${b}\\\\${c}\\end{bmatrix}`,
        `\\left(\\begin{array}{c} ${a} \\\\ ${b} \\\\ ${c} \\end{array}\\right)`,
        `\\vec{v} = \\begin{pmatrix} ${a} \\\\ ${b} \\\\ ${c} \\end{pmatrix}`,
        `\\mathbf{v} = \\begin{pmatrix} ${a} \\\\ ${b} \\\\ ${c} \\end{pmatrix}`
      ],
      wrong: [
        `\\begin{pmatrix} ${a} \\\\ ${b} \\\\ ${c + 1} \\end{pmatrix}`,
        `\\begin{pmatrix} ${a} \\\\ ${b} \\end{pmatrix}`,
        `\\begin{pmatrix} ${-a} \\\\ ${b} \\\\ ${c} \\end{pmatrix}`
      ]
    }
  },
  "decimals, fourth": (random) => {
    const [whole, part] = [random.whole(1, 90), random.pick([125, 375, 625, 875])]
    return {
      gold: `${whole}.${part}`,
      right: [
        `${whole}.${part}0`,
        frac((whole * 1000 + part) / 125, 8),
        `=${whole}.${part}`,
        `${whole} \\frac{${part / 125}}{8}`,
        `=${(whole * 1000 + part) / 125}/8`,
        `\\text{${whole}.${part}}`,
        `+${whole}.${part}`,
        `\\mathbf{${whole}.${part}}`
      ],
      wrong: [
        `${whole}.${part + 1}`,
        `${whole}.${String(part).slice(0, 2)}`,
        `-${whole}.${part}`,
        `${whole + 1}.${part}`,
        `${whole}${part}`
      ]
    }
  },
  "trigonometry, fourth": (random) => {
    const [a, b] = random.distinct(2, 2, 9)
    return {
      gold: `${a}\\sin x + ${b}\\cos x`,
      right: [
        `${b}\\cos x + ${a}\\sin x`,
        `${a}\\sin(x) + ${b}\\cos(x)`,
        `=${a} sin x + ${b} cos x`,
        `=${a}*sin(x) + ${b}*cos(x)`,
        `${a}\\cos\\left(\\frac{\\pi}{2} - x\\right) + ${b}\\cos x`,
        `${a}\\mathrm{sin}\\,x + ${b}\\mathrm{cos}\\,x`
      ],
      wrong: [`${b}\\sin x + ${a}\\cos x`, `${a}\\sin x - ${b}\\cos x`, `${a}\\sin x \\cdot ${b}\\cos x`]
    }
  },
  "exponentials, fourth": (random) => {
    const [a, k] = [random.whole(2, 20), random.whole(2, 9)]
    return {
      gold: `${a}e^{${k}x}`,
      right: [
        `${a}\\cdot e^{${k}x}`,
        `${a}\\exp(${k}x)`,
        `${a}\\mathrm{e}^{${k}x}`,
        `=${a}e^(${k}x)`,
        `${a}(e^{x})^{${k}}`,
        `${a}\\exp\\left(${k}x\\right)`,
        `\\frac{${a}}{e^{-${k}x}}`
      ],
      wrong: [`${a}e^{-${k}x}`, `${a}e^{${k + 1}x}`, `${a}e^{${k}}x`, `${a + 1}e^{${k}x}`]
    }
  },
  "binomials, fourth": (random) => {
    const n = random.whole(12, 22)
    const k = random.whole(2, 5)
    let value = 1
    for (let step = 1; step <= k; step++) value = (value * (n - k + step)) / step
    return {
      gold: `\\binom{${n}}{${k}}`,
      right: [
        `\\dbinom{${n}}{${k}}`,
        `{${n} \\choose ${k}}`,
        String(value),
        `\\frac{${n}!}{${k}!\\,${n - k}!}`,
        `\\frac{${n}!}{${k}!(${n}-${k})!}`,
        `\\binom{${n}}{${n - k}}`,
        `=C(${n}, ${k})`,
        `=${grouped(value, ",")}`
      ],
      wrong: [
        `\\binom{${n}}{${k + 1}}`,
        `\\binom{${n + 1}}{${k}}`,
        String(value + 1),
        `\\frac{${n}}{${k}}`,
        `\\frac{${n}!}{${n - k}!}`
      ]
    }
  },
  "truth, fourth": (random) => {
    const isTrue = random.pick([true, false])
    return isTrue
      ? {
          gold: "\\text{Yes}",
          right: ["=Yes", "=**Yes**", "\\text{yes}", "\\textbf{Yes}", "=yes"],
          wrong: ["=No", "\\text{no}", "\\text{maybe}"]
        }
      : {
          gold: "\\text{No}",
          right: ["=No", "=**No**", "\\text{no}", "\\textbf{No}", "=no"],
          wrong: ["=Yes", "\\text{yes}", "\\text{unknown}"]
        }
  },
  "limits, fourth": (random) =>
    random.pick([true, false])
      ? {
          gold: "\\infty",
          right: ["+\\infty", "=∞", "=+∞", "\\text{infinity}", "=infinity", "=Infinity"],
          wrong: ["-\\infty", "0", "1", "=-∞"]
        }
      : {
          gold: "\\text{DNE}",
          right: ["\\text{does not exist}", "=does not exist", "=DNE", "\\text{Does not exist.}"],
          wrong: ["0", "\\infty", "1"]
        },
  "probabilities, fourth": (random) => {
    const bottom = random.pick([4, 5, 8, 20, 25])
    const top = random.whole(1, bottom - 1)
    const common = gcd(top, bottom)
    const [a, b] = [top / common, bottom / common]
    return {
      gold: frac(a, b),
      right: [
        String(a / b),
        `=${a}/${b}`,
        `=${a / b}`,
        `P = ${frac(a, b)}`,
        `P(A) = ${frac(a, b)}`,
        `=a probability of $${frac(a, b)}$`,
        `${frac(a, b)} = ${a / b}`,
        `=$${frac(a, b)}$ (or ${a / b})`
      ],
      wrong: [frac(b - a === a ? a + b : b - a, b), frac(b, a), String((a + 0.1) / b), `1 + ${frac(a, b)}`]
    }
  },
  "times, fourth": (random) => {
    const [hours, minutes] = [random.whole(1, 11), random.whole(11, 58)]
    return {
      gold: `${hours}:${minutes}\\text{ p.m.}`,
      right: [
        `=${hours}:${minutes} p.m.`,
        `=${hours}:${minutes} PM`,
        `=${hours}:${minutes}pm`,
        `${hours}:${minutes}\\text{ PM}`,
        `${hours}:${minutes} \\text{ pm}`
      ],
      wrong: [`=${hours}:${minutes} a.m.`, `=${hours}:${minutes + 1} p.m.`, `=${hours + 1}:${minutes} p.m.`]
    }
  },
  "roots, fourth": (random) => {
    const of = random.pick([2, 3, 5, 6, 7, 10])
    return {
      gold: `\\sqrt[3]{${of}}`,
      right: [
        `${of}^{1/3}`,
        `${of}^{\\frac{1}{3}}`,
        `=∛${of}`,
        `=cbrt(${of})`,
        `\\sqrt[3] ${of}`,
        `=${of}^(1/3)`,
        `\\sqrt[6]{${of * of}}`
      ],
      wrong: [`3\\sqrt{${of}}`, `\\sqrt{${of}}`, `\\sqrt[3]{${of + 1}}`, `\\frac{${of}}{3}`, `${of}^{3}`]
    }
  },
  "circles, fourth": (random) => {
    const [x, y, r] = [random.whole(1, 9), random.whole(1, 9), random.whole(2, 9)]
    return {
      gold: `(x - ${x})^2 + (y + ${y})^2 = ${r * r}`,
      right: [
        `(y + ${y})^2 + (x - ${x})^2 = ${r * r}`,
        `(x-${x})^2+(y+${y})^2=${r}^2`,
        `=(x - ${x})² + (y + ${y})² = ${r * r}`,
        `(x - ${x})^2 + (y + ${y})^2 - ${r * r} = 0`,
        `x^2 - ${2 * x}x + y^2 + ${2 * y}y${plus(x * x + y * y - r * r)} = 0`
      ],
      wrong: [
        `(x + ${x})^2 + (y + ${y})^2 = ${r * r}`,
        `(x - ${x})^2 + (y + ${y})^2 = ${r}`,
        `(x - ${x})^2 - (y + ${y})^2 = ${r * r}`
      ]
    }
  },
  "piecewise, fourth": (random) => {
    const [a, b] = [random.whole(2, 9), random.whole(2, 9)]
    return {
      gold: `\\begin{cases} ${a}x & x \\ge 0 \\\\ -${b}x & x < 0 \\end{cases}`,
      right: [
        `\\begin{cases} -${b}x & x < 0 \\\\ ${a}x & x \\ge 0 \\end{cases}`,
        `\\begin{cases} ${a}x, & \\text{if } x \\geq 0, \\\\ -${b}x, & \\text{if } x < 0. \\end{cases}`,
        `\\begin{cases} ${a}x & \\text{if } x \\geq 0 \\\\ -${b}x & \\text{otherwise} \\end{cases}`,
        `f(x) = \\begin{cases} ${a}x & x \\ge 0 \\\\ -${b}x & x < 0 \\end{cases}`
      ],
      wrong: [
        `\\begin{cases} ${a}x & x \\ge 0 \\\\ ${b}x & x < 0 \\end{cases}`,
        `\\begin{cases} ${a}x & x < 0 \\\\ -${b}x & x \\ge 0 \\end{cases}`,
        `${a}x`
      ]
    }
  },
  "percent, fourth": (random) => {
    const [whole, part] = [random.whole(2, 97), random.whole(1, 9)]
    return {
      gold: `${whole}.${part}\\%`,
      right: [
        `=${whole}.${part}%`,
        `=${whole}.${part} %`,
        `=${whole}.${part} percent`,
        `${whole}.${part}\\text{ percent}`,
        `${whole}.${part}\\,\\%`,
        `=**${whole}.${part}%**`,
        `\\text{${whole}.${part}\\%}`
      ],
      wrong: [`${whole}.${part + 1}\\%`, `${whole}\\%`, `${whole}${part}\\%`, `${whole}.${part}‰`]
    }
  },
  "sequences, fourth": (random) => {
    const [a, d] = [random.whole(2, 20), random.whole(2, 9)]
    return {
      gold: `a_n = ${a + d} + ${d}(n-1)`,
      right: [`a_n = ${d}n + ${a}`, `a_{n} = ${a} + ${d}n`, `=a_n = ${d}n + ${a}`, `a_n=${a}+${d}\\cdot n`],
      wrong: [`a_n = ${d}n + ${a + 1}`, `a_n = ${d + 1}n + ${a}`, `a_n = ${a}n + ${a + d}`]
    }
  },
  "lists, fourth": (random) => {
    const [a, b, c] = [random.whole(1, 60), random.whole(61, 120), random.whole(121, 180)]
    return {
      gold: `${a}, ${b}, ${c}`,
      right: [
        `=${a}, ${b}, ${c}`,
        `=${a}, ${b} and ${c}`,
        `=${a}, ${b}, and ${c}`,
        `=$${a}$, $${b}$, $${c}$`,
        `${a},\\ ${b},\\ ${c}`,
        `${a},${b},${c}`.replaceAll(",", ", "),
        `=**${a}, ${b}, ${c}**`
      ],
      wrong: [`${a}, ${b}`, `${a}, ${b}, ${c + 1}`, `${a + 1}, ${b}, ${c}`, `${a} + ${b} + ${c}`]
    }
  }
}
