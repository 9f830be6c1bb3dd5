/** Golds that are numbers or lists of them, as contests have them. */
import { frac, gcd, type Kinds } from "../pairs/Kind.ts"
import type { Random } from "../pairs/Random.ts"

const factorial = (value: number): number => (value < 2 ? 1 : value * factorial(value - 1))

const binomial = (n: number, k: number): number => Math.round(factorial(n) / factorial(k) / factorial(n - k))

/** Whole numbers that no square divides. */
const squareFree = [2, 3, 5, 6, 7, 10, 11, 13, 14, 15]

const isSquare = (value: number) => Number.isInteger(Math.sqrt(value))

/** A fraction in its lowest terms, with a denominator above 1. */
const fraction = (random: Random, most = 30): readonly [number, number] => {
  const [top, bottom] = [random.whole(1, most), random.whole(2, most)]
  const factor = gcd(top, bottom)
  return bottom === factor ? fraction(random, most) : [top / factor, bottom / factor]
}

export const values: Kinds = {
  "three digits": (random) => {
    const value = random.whole(10, 99)
    return {
      gold: `0${value}`,
      right: [`${value}`, `0${value}`, `${value}.`, `\\mathbf{0${value}}`, `N = ${value}`],
      wrong: [`${value}0`, `${value + 100}`, `0.${value}`, `0${value + 1}`]
    }
  },
  "product of wholes": (random) => {
    const [a, b, c] = random.distinct(3, 11, 60) as [number, number, number]
    return {
      gold: `${a} \\cdot ${b} \\cdot ${c}`,
      right: [`${a * b * c}`, `${c} \\times ${a} \\times ${b}`, `${a}(${b})(${c})`, `${a * b} \\cdot ${c}`],
      wrong: [`${a * b * c + 1}`, `${a} \\cdot ${b} + ${c}`, `${a} \\cdot ${b}`, `${a}, ${b}, ${c}`]
    }
  },
  "prime factors": (random) => {
    const [a, b] = [random.whole(2, 6), random.whole(2, 4)]
    const prime = random.pick([5, 7, 11, 13])
    return {
      gold: `2^{${a}} \\cdot 3^{${b}} \\cdot ${prime}`,
      right: [
        `${2 ** a * 3 ** b * prime}`,
        `3^${b} \\times 2^${a} \\times ${prime}`,
        `${2 ** a} \\cdot ${3 ** b * prime}`
      ],
      wrong: [`2^{${b}} \\cdot 3^{${a}} \\cdot ${prime * 2}`, `${2 ** a * 3 ** b}`, `6^{${a + b}} \\cdot ${prime}`]
    }
  },
  "count by formula": (random) => {
    const [n, k] = [random.whole(6, 12), random.whole(2, 4)]
    const value = binomial(n, k)
    return {
      gold: `\\binom{${n}}{${k}}`,
      right: [
        `${value}`,
        `\\dbinom{${n}}{${n - k}}`,
        `{${n} \\choose ${k}}`,
        `\\frac{${n}!}{${k}!\\,${n - k}!}`,
        `\\frac{${n}!}{${k}! \\cdot ${n - k}!}`
      ],
      wrong: [`${value + 1}`, `\\frac{${n}!}{${n - k}!}`, `\\binom{${n + 1}}{${k}}`, `\\frac{${n}}{${k}}`]
    }
  },
  "power less one": (random) => {
    const [base, exponent] = [random.whole(2, 5), random.whole(6, 14)]
    return {
      gold: `${base}^{${exponent}} - 1`,
      right: [`${base ** exponent - 1}`, `-1 + ${base}^{${exponent}}`, `${base} \\cdot ${base}^{${exponent - 1}} - 1`],
      wrong: [
        `${base}^{${exponent - 1}}`,
        `${base ** exponent}`,
        `${base}^{${exponent}} + 1`,
        `${base ** exponent - 2}`
      ]
    }
  },
  nines: (random) => {
    const count = random.whole(12, 40)
    return {
      gold: `10^{${count}} - 1`,
      right: ["9".repeat(count), `${"9".repeat(count - 1)}0 + 9`],
      wrong: ["9".repeat(count + 1), "9".repeat(count - 1), `1${"0".repeat(count)}`]
    }
  },
  "named quantity": (random) => {
    const [top, bottom] = fraction(random)
    const root = random.pick(squareFree)
    const name = random.pick(["M", "S", "k", "P", "d"])
    return {
      gold: `${name}=\\frac{${top}}{${bottom}} \\sqrt{${root}}`,
      right: [
        `${name}=\\frac{${top}\\sqrt{${root}}}{${bottom}}`,
        `${name} = ${top}\\sqrt{${root}}/${bottom}`,
        `\\frac{${top * root}}{${bottom}\\sqrt{${root}}} = ${name}`
      ],
      wrong: [
        `${name}=\\frac{${top + bottom}\\sqrt{${root}}}{${bottom}}`,
        `${name}=\\frac{${top}}{${bottom}}`,
        `${name}=\\frac{${top}\\sqrt{${root + 1}}}{${bottom}}`
      ]
    }
  },
  "points in dollars": (random) => {
    const [a, b, c, d] = random.distinct(4, -9, 9) as [number, number, number, number]
    return {
      gold: `$(${a},${b})$, $(${c},${d})$`,
      right: [
        `(${a}, ${b}), (${c}, ${d})`,
        `(${a},${b}) \\text{ and } (${c},${d})`,
        `\\left(${a},${b}\\right), \\left(${c},${d}\\right)`,
        `$(${a},${b})$ and $(${c},${d})$`
      ],
      wrong: [`(${b},${a}), (${d},${c})`, `(${a},${b})`, `(${a},${b}), (${c},${d + 1})`, `(${a},${b},${c},${d})`]
    }
  },
  angles: (random) => {
    const [a, b] = random.distinct(2, 10, 170) as [number, number]
    return {
      gold: `${a}^{\\circ}, ${b}^{\\circ}`,
      right: [
        `${a}^\\circ, ${b}^\\circ`,
        `${a}°, ${b}°`,
        `${a}^\\circ \\text{ and } ${b}^\\circ`,
        `${a}\\degree, ${b}\\degree`
      ],
      wrong: [`${a}^\\circ`, `${a}^\\circ, ${b + 1}^\\circ`, `${a}', ${b}'`, `${a + b}^\\circ`]
    }
  },
  "closed interval": (random) => {
    const [top, bottom] = fraction(random, 9)
    const end = random.whole(10, 20)
    return {
      gold: `[\\frac{${top}}{${bottom}}, ${end}]`,
      right: [
        `\\left[\\frac{${top}}{${bottom}}, ${end}\\right]`,
        `[${top}/${bottom}, ${end}]`,
        `\\left[\\dfrac{${2 * top}}{${2 * bottom}},\\,${end}\\right]`
      ],
      wrong: [
        `\\left(\\frac{${top}}{${bottom}}, ${end}\\right]`,
        `\\left[\\frac{${top}}{${bottom}}, ${end}\\right)`,
        `[\\frac{${bottom}}{${top + bottom}}, ${end + 1}]`,
        `\\left\\{\\frac{${top}}{${bottom}}, ${end}\\right\\}`
      ]
    }
  },
  "cube root below": (random) => {
    const [a, b] = [random.whole(2, 9), random.pick([2, 3, 5, 7])]
    return {
      gold: `\\frac{${a}}{\\sqrt[3]{${b}}}`,
      right: [
        `\\frac{${a}\\sqrt[3]{${b * b}}}{${b}}`,
        `${a} \\cdot ${b}^{-1/3}`,
        `${a}${b === 2 ? "\\cdot " : "\\cdot"} ${b}^{-\\frac{1}{3}}`,
        `\\sqrt[3]{\\frac{${a ** 3}}{${b}}}`
      ],
      wrong: [`\\frac{${a}}{\\sqrt{${b}}}`, `${a}\\sqrt[3]{${b}}`, `\\frac{${a}\\sqrt[3]{${b}}}{${b}}`]
    }
  },
  "root of a sum": (random) => {
    const [a, b] = random.distinct(2, 2, 15) as [number, number]
    const within = isSquare(a * b) ? `${2 * Math.sqrt(a * b)}` : `2\\sqrt{${a * b}}`
    return {
      gold: `\\sqrt{${a}}+\\sqrt{${b}}`,
      right: [`\\sqrt{${b}}+\\sqrt{${a}}`, `\\sqrt{${a + b}+${within}}`, `\\sqrt{${a}} + ${b}^{1/2}`],
      wrong: [`\\sqrt{${a + b}}`, `\\sqrt{${b}}-\\sqrt{${a}}`, `\\sqrt{${a}}\\sqrt{${b}}`, `\\sqrt{${a + b}-${within}}`]
    }
  },
  "root taken from below": (random) => {
    const [a, b] = [random.pick([2, 3, 5, 7]), random.pick([11, 13, 17])]
    return {
      gold: `\\frac{${b - a}}{\\sqrt{${b}}+\\sqrt{${a}}}`,
      right: [`\\sqrt{${b}}-\\sqrt{${a}}`, `-\\sqrt{${a}}+\\sqrt{${b}}`],
      wrong: [`\\sqrt{${b}}+\\sqrt{${a}}`, `\\sqrt{${a}}-\\sqrt{${b}}`, `\\sqrt{${b - a}}`]
    }
  },
  "common factor": (random) => {
    const [a, b, root] = [random.whole(2, 6), random.whole(1, 7), random.pick(squareFree)]
    const factor = random.whole(2, 5)
    return {
      gold: `${a * factor} \\sqrt{${root}}-${b * factor}`,
      right: [
        `${factor}(${a}\\sqrt{${root}}-${b})`,
        `-${b * factor}+${a * factor}\\sqrt{${root}}`,
        `${factor}\\left(${a}\\sqrt{${root}}-${b}\\right)`
      ],
      wrong: [
        `${a * factor}-${b * factor}\\sqrt{${root}}`,
        `${factor}(${a}\\sqrt{${root}}+${b})`,
        `${a * factor}\\sqrt{${root}-${b * factor}}`
      ]
    }
  },
  logarithm: (random) => {
    const [base, of] = random.pick([
      [2, 3],
      [3, 5],
      [10, 2],
      [5, 7],
      [2, 7]
    ] as const)
    return {
      gold: `\\log_{${base}} ${of}`,
      right: [
        `\\frac{\\ln ${of}}{\\ln ${base}}`,
        `\\frac{\\log ${of}}{\\log ${base}}`,
        `\\log_{${base}}(${of})`,
        `\\log_${base === 10 ? "{10}" : base}{${of}}`,
        `\\frac{1}{\\log_{${of}} ${base}}`,
        `\\frac{1}{2}\\log_{${base}} ${of * of}`
      ],
      wrong: [`\\log_{${of}} ${base}`, `\\frac{\\ln ${base}}{\\ln ${of}}`, `\\log_{${base}} ${of + 1}`, `\\ln ${of}`]
    }
  },
  "angle functions": (random) =>
    random.pick([
      {
        gold: "\\frac{1+\\sqrt{5}}{4}",
        right: ["\\cos 36^\\circ", "\\cos\\frac{\\pi}{5}", "\\sin 54^{\\circ}", "\\cos(36°)"],
        wrong: ["\\cos 72^\\circ", "\\sin 36^\\circ", "\\cos 36"]
      },
      {
        gold: "2-\\sqrt{3}",
        right: [
          "\\tan 15^\\circ",
          "\\tan\\left(\\frac{\\pi}{12}\\right)",
          "\\cot 75^{\\circ}",
          "\\frac{1}{2+\\sqrt{3}}"
        ],
        wrong: ["\\tan 75^\\circ", "\\tan 15", "\\sqrt{3}-2"]
      },
      {
        gold: "\\frac{\\sqrt{6}+\\sqrt{2}}{4}",
        right: [
          "\\sin 75^\\circ",
          "\\cos 15^\\circ",
          "\\frac{\\sqrt{2}(\\sqrt{3}+1)}{4}",
          "\\frac{1+\\sqrt3}{2\\sqrt2}"
        ],
        wrong: ["\\sin 15^\\circ", "\\frac{\\sqrt{6}-\\sqrt{2}}{4}", "\\frac{\\sqrt{8}}{4}"]
      }
    ]),
  "mixed number": (random) => {
    const [top, bottom] = fraction(random, 9)
    const [part, whole] = [top % bottom, random.whole(1, 9)]
    return {
      gold: `${whole}\\frac{${part}}{${bottom}}`,
      right: [
        `\\frac{${whole * bottom + part}}{${bottom}}`,
        `${whole} ${part}/${bottom}`,
        `${whole}+\\frac{${part}}{${bottom}}`,
        `${whole}\\tfrac{${part}}{${bottom}}`
      ],
      wrong: [
        `\\frac{${whole * bottom + part + 1}}{${bottom}}`,
        `\\frac{${part}}{${bottom}}`,
        `${whole + 1}\\frac{${part}}{${bottom}}`
      ]
    }
  },
  "small constant": (random) => {
    const [a, b, exponent] = [random.whole(1, 9), random.whole(1, 9), random.whole(5, 25)]
    return {
      gold: `${a}.${b} \\times 10^{-${exponent}}`,
      right: [
        `${a}.${b}e-${exponent}`,
        `${a}.${b}0 \\cdot 10^{-${exponent}}`,
        `${a}${b} \\times 10^{-${exponent + 1}}`
      ],
      wrong: [
        `${a}.${b} \\times 10^{${exponent}}`,
        `${a}.${b} \\times 10^{-${exponent - 1}}`,
        `${b}.${a + b} \\times 10^{-${exponent}}`,
        `${a}.${b}`
      ]
    }
  },
  "complex by angle": (random) => {
    const size = random.whole(2, 9)
    return {
      gold: `${size}+${size}\\sqrt{3}i`,
      right: [
        `${2 * size}e^{i\\pi/3}`,
        `${2 * size}(\\cos 60^\\circ + i\\sin 60^\\circ)`,
        `${size}(1+i\\sqrt{3})`,
        `${size} + i${size}\\sqrt{3}`
      ],
      wrong: [`${size}-${size}\\sqrt{3}i`, `${2 * size}e^{i\\pi/6}`, `${size}\\sqrt{3}+${size}i`, `${2 * size}`]
    }
  },
  "multiple of pi": (random) => {
    const [top, bottom] = fraction(random, 12)
    return {
      gold: `\\frac{${top === 1 ? "" : top}\\pi}{${bottom}}`,
      right: [
        `\\frac{${top}}{${bottom}}\\pi`,
        `${top}\\pi/${bottom}`,
        `\\pi \\cdot \\frac{${top}}{${bottom}}`,
        `\\frac{${2 * top}π}{${2 * bottom}}`
      ],
      wrong: [
        `\\frac{${top}}{${bottom}}`,
        `\\frac{${bottom}\\pi}{${top + bottom}}`,
        `\\frac{${top}\\pi^2}{${bottom}}`,
        `\\frac{${top}}{${bottom}\\pi}`
      ]
    }
  },
  "list of roots": (random) => {
    const [a, b, c] = random.distinct(3, -9, 9) as [number, number, number]
    return {
      gold: `${a},${b},${c}`,
      right: [
        `${a}, ${b}, ${c}`,
        `${a}, ${b}, \\text{ and } ${c}`,
        `${a},\\ ${b},\\ ${c}`,
        `x = ${a}, x = ${b}, x = ${c}`
      ],
      wrong: [`${a}, ${b}`, `${a}, ${b}, ${c + 1}`, `${a}, ${b}, ${c}, ${c + 1}`, `${a + b + c + 30}`]
    }
  },
  ratio: (random) => {
    // No two digits behind the colon, which would be a time as well.
    const [a, b] = fraction(random, 9)
    return {
      gold: `${a}:${b}`,
      right: [`${a} : ${b}`, `${3 * a}:${3 * b}`, `${a}\\colon ${b}`],
      wrong: [`${b}:${a}`, `${a}:${b + a}`, `${a}, ${b}`]
    }
  },
  money: (random) => {
    const [dollars, cents] = [random.whole(2, 60), random.whole(11, 99)]
    return {
      gold: `\\$${dollars}.${cents}`,
      right: [
        `${dollars}.${cents}`,
        `\\$ ${dollars}.${cents}`,
        `${dollars}.${cents} \\text{ dollars}`,
        `\\text{\\$${dollars}.${cents}}`
      ],
      wrong: [
        `\\$${dollars}${cents}`,
        `${dollars}.${cents} \\text{ cents}`,
        `\\$${dollars + 1}.${cents}`,
        `\\$${dollars}`
      ]
    }
  },
  "negative fraction": (random) => {
    const [top, bottom] = fraction(random)
    return {
      gold: frac(-top, bottom),
      right: [
        `\\frac{-${top}}{${bottom}}`,
        `\\frac{${top}}{-${bottom}}`,
        `-${top}/${bottom}`,
        `-\\left(\\frac{${top}}{${bottom}}\\right)`
      ],
      wrong: [frac(top, bottom), frac(-top - bottom, bottom), `-\\frac{-${top}}{${bottom}}`]
    }
  },
  "limits of reckoning": (random) => {
    const [a, b] = [random.whole(2, 9), random.whole(2, 9)]
    return {
      gold: `${a}e^{${b}}`,
      right: [`${a} e^{${b}}`, `e^{${b}} \\cdot ${a}`, `${a}\\exp(${b})`, `\\frac{${a * 2}e^{${b}}}{2}`],
      wrong: [`${a}e^{-${b}}`, `(${a}e)^{${b}}`, `e^{${a * b}}`, `${a}e${b}`]
    }
  }
}
