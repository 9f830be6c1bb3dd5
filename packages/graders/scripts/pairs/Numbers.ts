/** Pairs of numbers: fractions, decimals, roots, units, money, angles. */
import { frac, gcd, grouped, type Kinds } from "./Kind.ts"

/** A fraction in lowest terms that is no whole number. */
const fraction = (random: Parameters<Kinds[string]>[0], most = 12): readonly [number, number] => {
  for (;;) {
    const [top, bottom] = [random.whole(1, 3 * most), random.whole(2, most)]
    if (gcd(top, bottom) === 1) return [top, bottom]
  }
}

export const numbers: Kinds = {
  whole: (random) => {
    const n = random.signed(900)
    const part = random.whole(1, 50)
    return {
      gold: `${n}`,
      right: [
        `${n}.0`,
        `\\frac{${3 * n}}{3}`,
        `x = ${n}`,
        `${n - part} + ${part}`,
        `${n - part} + ${part} = ${n}`,
        `\\text{${n}}`
      ],
      wrong: [
        `${n + 1}`,
        `${-n}`,
        `${n}0`,
        `${n}.5`,
        `|${n}|+1`,
        `${n}x`,
        `\\frac{1}{${n}}`,
        `${n} \\text{ or } ${n + 1}`
      ]
    }
  },
  fraction: (random) => {
    const [a, b] = fraction(random)
    const k = random.whole(2, 7)
    return {
      gold: frac(a, b),
      right: [
        `\\dfrac{${a}}{${b}}`,
        `${a}/${b}`,
        `\\frac{${k * a}}{${k * b}}`,
        `\\tfrac{${a}}{${b}}`,
        `\\left(\\frac{${a}}{${b}}\\right)`,
        `\\frac{-${a}}{-${b}}`
      ],
      wrong: [
        frac(-a, b),
        frac(b, a),
        frac(a + 1, b),
        `${a}`,
        `\\frac{${a}}{${b}}x`,
        `${a}.${b}`,
        ...(a < b ? [`\\frac{${a}}{${b}}\\%`] : [])
      ]
    }
  },
  "mixed number": (random) => {
    const [n, b] = [random.whole(1, 9), random.whole(2, 9)]
    const a = random.whole(1, b - 1)
    return {
      gold: `${n}\\frac{${a}}{${b}}`,
      right: [
        `\\frac{${n * b + a}}{${b}}`,
        `${n} + \\frac{${a}}{${b}}`,
        `${n} ${a}/${b}`,
        `${n}\\,\\dfrac{${a}}{${b}}`
      ],
      wrong: [
        `\\frac{${n * a}}{${b}}x`,
        `\\frac{${n * b + a + 1}}{${b}}`,
        `${n + 1}\\frac{${a}}{${b}}`,
        `-${n}\\frac{${a}}{${b}}`
      ]
    }
  },
  decimal: (random) => {
    const n = random.whole(1, 99) * 10 + random.whole(1, 9)
    const text = (n / 100).toFixed(2)
    return {
      gold: text,
      right: [
        `${text}0`,
        `\\frac{${n}}{100}`,
        `${n}/100`,
        text.replace(".", "{,}"),
        `${text.replace(".", ",")}`,
        `${n} \\times 10^{-2}`
      ],
      wrong: [
        `-${text}`,
        (n / 10).toFixed(1),
        ((n + 1) / 100).toFixed(2),
        `${n}`,
        `\\overline{${text}}`,
        `${text.slice(0, -1)}\\overline{${text.slice(-1)}}`
      ]
    }
  },
  "repeating decimal": (random) => {
    const d = random.whole(1, 8)
    const e = random.whole(1, 9)
    return {
      gold: `0.\\overline{${d}${e}}`,
      right: [
        `\\frac{${d * 10 + e}}{99}`,
        `0.${d}${e}\\overline{${d}${e}}`,
        `0.${d}${e}${d}${e}${d}${e}\\ldots`,
        `0.(${d}${e})`
      ],
      wrong: [
        `0.${d}${e}`,
        `0.${d}\\overline{${e}}`.replace(`${d}\\overline{${d}}`, "9"),
        `\\frac{${d * 10 + e}}{100}`,
        `${d}.\\overline{${e}}`,
        `\\overline{${d}${e}}`
      ]
    }
  },
  percent: (random) => {
    const n = random.whole(2, 98)
    return {
      gold: `${n}\\%`,
      right: [`${n}`, `${n} \\text{ percent}`, `${n}\\,\\%`, `${(n / 100).toFixed(2)}`, `\\frac{${n}}{100}`],
      wrong: [`${n + 1}\\%`, `-${n}\\%`, `${n * 100}`, `${(n / 10000).toFixed(4)}`, `${n}^\\circ`, `0.${n}\\%`]
    }
  },
  money: (random) => {
    const [n, c] = [random.whole(2, 900), random.whole(10, 98)]
    const amount = `${n}.${c}`
    return {
      gold: `\\$${amount}`,
      right: [amount, `\\$${amount}`, `${amount}\\text{ dollars}`, `${n * 100 + c}\\text{ cents}`, `\\$ ${n}.${c}`],
      wrong: [
        `\\$${n}.${c + 1}`,
        `${amount}\\text{ cents}`,
        `\\$${n + 1}.${c}`,
        `${amount}\\text{ euros}`,
        `-\\$${amount}`,
        `\\$${amount}\\text{ million}`
      ]
    }
  },
  thousands: (random) => {
    const n = random.whole(1001, 9_999_999)
    return {
      gold: grouped(n, ","),
      right: [`${n}`, grouped(n, "{,}"), grouped(n, ",\\!"), grouped(n, "\\,"), `${n}.0`],
      wrong: [
        `${n + 1}`,
        `${n}0`,
        grouped(n, ",").replace(",", "."),
        `(${grouped(n, ", ")}, 1)`,
        `${Math.floor(n / 1000)}`
      ]
    }
  },
  length: (random) => {
    const n = random.whole(2, 80)
    const power = random.whole(1, 3)
    const exponent = power === 1 ? "" : `^${power}`
    const word = ["", "square ", "cubic "][power - 1]!
    const other = power === 1 ? "^2" : power === 2 ? "^3" : "^2"
    return {
      gold: `${n}\\text{ cm}${exponent}`,
      right: [
        `${n}`,
        `${n}\\,\\mathrm{cm}${exponent}`,
        `${n}\\text{ ${word}centimeters}`,
        `${n} \\text{ cm}${power === 1 ? "" : `^{${power}}`}`,
        `${n * 100 ** power}\\text{ mm}${exponent}`.replace(`${n * 100 ** power}`, `${n * 10 ** power}`)
      ],
      wrong: [
        `${n}\\text{ cm}${other}`,
        `${n}\\text{ m}${exponent}`,
        `${n + 1}\\text{ cm}${exponent}`,
        `${n}\\text{ ${power === 2 ? "cubic" : "square"} centimeters}`,
        `${n}\\text{ inches}${exponent}`
      ]
    }
  },
  speed: (random) => {
    const n = random.whole(2, 40)
    return {
      gold: `${n}\\text{ m/s}`,
      right: [
        `${n}`,
        `${n}\\text{ meters per second}`,
        `${n}\\,\\mathrm{m/s}`,
        `${n} \\text{ m}/\\text{s}`,
        `${n * 36}/10 \\text{ km/h}`,
        `${n}\\text{ m s}^{-1}`
      ],
      wrong: [`${n}\\text{ m/s}^2`, `${n}\\text{ km/h}`, `${n}\\text{ m}`, `${n + 1}\\text{ m/s}`, `${n}\\text{ s/m}`]
    }
  },
  duration: (random) => {
    const n = random.whole(2, 30)
    return {
      gold: `${n}\\text{ hours}`,
      right: [`${n}`, `${n}\\text{ hr}`, `${n * 60}\\text{ minutes}`, `${n}\\text{ h}`, `${n}\\,\\text{hours}`],
      wrong: [
        `${n}\\text{ minutes}`,
        `${n}\\text{ days}`,
        `${n * 60}\\text{ seconds}`,
        `${n * 60}`,
        `${n + 1}\\text{ hours}`,
        `${n}\\text{ halves}`
      ]
    }
  },
  prefix: (random) => {
    const n = random.whole(2, 80)
    const unit = random.pick(["W", "N", "J", "Pa", "V"])
    return {
      gold: `${n}\\text{ m${unit}}`,
      right: [`${n}\\,\\mathrm{m${unit}}`, `${n} \\text{ m${unit}}`, `\\frac{${n}}{1000}\\text{ ${unit}}`],
      wrong: [`${n}\\text{ M${unit}}`, `${n}\\text{ k${unit}}`, `${n}\\text{ ${unit}}`, `${n}\\text{ m${unit}}^2`]
    }
  },
  angle: (random) => {
    const n = random.whole(10, 170)
    return {
      gold: `${n}^\\circ`,
      right: [`${n}`, `${n}^{\\circ}`, `${n}\\text{ degrees}`, `${n}°`, `\\frac{${n}\\pi}{180}\\text{ radians}`],
      wrong: [`${n}'`, `${n}''`, `${n}\\text{ radians}`, `${n + 1}^\\circ`, `${n}\\%`, `${n}^2`]
    }
  },
  radical: (random) => {
    const [a, b] = [random.whole(2, 9), random.pick([2, 3, 5, 6, 7, 10])]
    return {
      gold: `${a}\\sqrt{${b}}`,
      right: [
        `\\sqrt{${a * a * b}}`,
        `${a} \\cdot \\sqrt{${b}}`,
        `${a}*sqrt(${b})`,
        `\\frac{${a * b}}{\\sqrt{${b}}}`,
        `${a} \\cdot ${b}^{1/2}`,
        `\\sqrt{${b}} \\cdot ${a}`
      ],
      wrong: [
        `${a}\\sqrt{${b + 1}}`,
        `\\sqrt{${a * b}}`,
        `-${a}\\sqrt{${b}}`,
        `${a}\\sqrt[3]{${b}}`,
        `${a} + \\sqrt{${b}}`,
        `\\pm ${a}\\sqrt{${b}}`
      ]
    }
  },
  power: (random) => {
    const [a, n] = [random.whole(2, 9), random.whole(3, 9)]
    return {
      gold: `${a}^{${n}}`,
      right: [`${a ** n}`, `${a}^${n}`, `${a} \\cdot ${a}^{${n - 1}}`, `\\frac{1}{${a}^{-${n}}}`],
      wrong: [
        `${a}^{${n + 1}}`,
        `${a * n}`,
        `${n}^{${a}}`.replace(`${a}^{${n}}`, "1"),
        `-${a}^{${n}}`,
        `${a}_{${n}}`,
        `${a}^{-${n}}`
      ].filter((one) => !(a === n || (a === 2 && n === 4) || (a === 4 && n === 2)) || one !== `${n}^{${a}}`)
    }
  },
  scientific: (random) => {
    const [a, b, n] = [random.whole(1, 9), random.whole(1, 9), random.whole(3, 8)]
    return {
      gold: `${a}.${b} \\times 10^{${n}}`,
      right: [
        `${a}${b}${"0".repeat(n - 1)}`,
        `${a}.${b} \\cdot 10^${n}`,
        `${a}.${b}e${n}`,
        `${a}${b} \\times 10^{${n - 1}}`
      ],
      wrong: [
        `${a}.${b} \\times 10^{${n + 1}}`,
        `${a}.${b} \\times 10^{-${n}}`,
        `${b}.${a} \\times 10^{${n}}`.replace(`${a}.${b} `, "7.77 "),
        `${a}.${b}`,
        `-${a}.${b} \\times 10^{${n}}`
      ]
    }
  },
  "multiple of pi": (random) => {
    const [a, b] = fraction(random, 8)
    return {
      gold: `\\frac{${a}\\pi}{${b}}`,
      right: [`\\frac{${a}}{${b}}\\pi`, `${a}\\pi/${b}`, `\\dfrac{${a}}{${b}} \\pi`, `\\frac{${2 * a}\\pi}{${2 * b}}`],
      wrong: [
        `\\frac{${a}}{${b}}`,
        `-\\frac{${a}\\pi}{${b}}`,
        `\\frac{${a + 1}\\pi}{${b}}`,
        `\\frac{${b}\\pi}{${a}}`,
        `\\frac{${a}\\pi^2}{${b}}`
      ]
    }
  },
  complex: (random) => {
    const [a, b] = [random.signed(9), random.whole(2, 9)]
    return {
      gold: `${a} + ${b}i`,
      right: [
        `${b}i + ${a}`.replace("+ -", "- "),
        `\\overline{${a} - ${b}i}`,
        `${a} + ${b}\\mathrm{i}`,
        `${a} - \\frac{${b}}{i}`,
        `i(${b} - ${a}i)`.replace("- -", "+ ")
      ],
      wrong: [
        `${a} - ${b}i`,
        `\\overline{${a} + ${b}i}`,
        `${-a} + ${b}i`,
        `${b} + ${a}i`.replace(`${a} + ${b}i`, "99i"),
        `(${a}, ${b})`,
        `${a} + ${b}`
      ].filter((one) => !(a === b && one === `${b} + ${a}i`))
    }
  },
  logarithm: (random) => {
    const [a, n] = [random.pick([2, 3, 5, 7]), random.whole(2, 6)]
    return {
      gold: `${n}\\ln ${a}`,
      right: [`\\ln ${a ** n}`, `\\ln(${a}^{${n}})`, `${n} \\log_e ${a}`, `\\frac{${n}}{\\log_{${a}} e}`],
      wrong: [`\\log ${a ** n}`, `${n}\\ln ${a + 1}`, `\\ln ${a * n + 100}`, `(\\ln ${a})^{${n}}`, `-${n}\\ln ${a}`]
    }
  },
  factorial: (random) => {
    const n = random.whole(4, 8)
    const k = random.whole(2, n - 2)
    const product = (from: number, step: number): number => (from <= 1 ? 1 : from * product(from - step, step))
    const choose = product(n, 1) / (product(k, 1) * product(n - k, 1))
    return random.pick([
      {
        gold: `${product(n, 2)}`,
        right: [`${n}!!`, `${n} \\cdot ${n - 2}!!`],
        wrong: [`${n}!`, `(${n}!)!`, `${n - 1}!!`]
      },
      {
        gold: `${n}!`,
        right: [`${product(n, 1)}`, `${n} \\cdot ${n - 1}!`],
        wrong: [`${n}!!`, `(${n}!)!`, `${n}`, `${n + 1}!`]
      },
      {
        gold: `\\binom{${n}}{${k}}`,
        right: [
          `${choose}`,
          `{${n} \\choose ${k}}`,
          `_{${n}}C_{${k}}`,
          `\\frac{${n}!}{${k}!\\,${n - k}!}`,
          `\\binom{${n}}{${n - k}}`
        ],
        wrong: [`_{${n}}P_{${k}}`, `\\frac{${n}}{${k}}`, `\\binom{${n + 1}}{${k}}`, `${choose + 1}`]
      }
    ])
  },
  base: (random) => {
    const [base, n] = [random.whole(3, 9), random.whole(20, 400)]
    const digits = n.toString(base)
    return {
      gold: `${digits}_{${base}}`,
      right: [`(${digits})_{${base}}`, `${digits}_${base}`, `${digits}_{(${base})}`],
      wrong: [digits, `${digits}_{${base + 1}}`, `${(n + 1).toString(base)}_{${base}}`, `${digits}^{${base}}`]
    }
  },
  residue: (random) => {
    const m = random.whole(5, 13)
    const r = random.whole(1, m - 1)
    return {
      gold: `${r} \\pmod{${m}}`,
      right: [
        `${r} \\pmod ${m}`.replace(/ (\d+)$/, "{$1}"),
        `${r}\\ (\\mathrm{mod}\\ ${m})`,
        `x \\equiv ${r} \\pmod{${m}}`
      ],
      wrong: [`${r}`, `${r} \\pmod{${m + 1}}`, `${r - 1} \\pmod{${m}}`, `${m}`.concat(` \\pmod{${r + 1}}`)]
    }
  },
  ratio: (random) => {
    const [a, b] = fraction(random, 9)
    const k = random.whole(2, 4)
    return {
      gold: `${a}:${b}`,
      right: [
        `${a} : ${b}`,
        `${a * k}:${b * k}`.replace(/^(\d+):(\d\d)$/, `${a} : ${b}`),
        `x : y = ${a} : ${b}`,
        `\\frac{${a}}{${b}}`
      ],
      wrong: [`${b}:${a}`, `${a}:${b + 1}`, `${a}`, `${a}.${b}`, `${a}:${b}:1`]
    }
  },
  "plus or minus": (random) => {
    const [a, b] = [random.whole(1, 9), random.pick([2, 3, 5, 7])]
    return {
      gold: `${a} \\pm \\sqrt{${b}}`,
      right: [
        `${a} + \\sqrt{${b}}, ${a} - \\sqrt{${b}}`,
        `${a} \\mp \\sqrt{${b}}`,
        `x = ${a} \\pm \\sqrt{${b}}`,
        `\\{${a} - \\sqrt{${b}}, ${a} + \\sqrt{${b}}\\}`
      ],
      wrong: [`${a} + \\sqrt{${b}}`, `${a + 1} \\pm \\sqrt{${b}}`, `-${a} \\pm \\sqrt{${b}}`, `${a} \\pm ${b}`]
    }
  }
}
