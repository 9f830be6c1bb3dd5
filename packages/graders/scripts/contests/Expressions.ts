/** Golds with unknowns: formulas, equations, vectors, sets. */
import { type Kinds, plus, times } from "../pairs/Kind.ts"

const column = (...entries: ReadonlyArray<string | number>) => `\\begin{pmatrix}${entries.join("\\\\")}\\end{pmatrix}`

const table = (rows: ReadonlyArray<ReadonlyArray<string | number>>, kind = "pmatrix") =>
  `\\begin{${kind}}${rows.map((row) => row.join(" & ")).join(" \\\\ ")}\\end{${kind}}`

export const expressions: Kinds = {
  "several letters": (random) => {
    const a = random.whole(2, 9)
    return {
      gold: `${a}RC+R+C`,
      right: [`R+C+${a}RC`, `${a}CR + C + R`, `C + R(1 + ${a}C)`, `C(${a}R+1)+R`],
      wrong: [`${a}RC+R`, `${a + 1}RC+R+C`, `${a}rc+r+c`, `${a}R+C+RC`]
    }
  },
  "sum of wholes": (random) => {
    const shift = random.whole(1, 4)
    return {
      gold: `\\frac{n(n+${shift})}{2}`,
      right: [
        `\\frac{n^2+${times(shift, "n")}}{2}`,
        `\\frac{1}{2}n(n+${shift})`,
        `n(n+${shift})/2`,
        `\\frac{n}{2}(${shift}+n)`
      ],
      wrong: [`\\frac{n(n-${shift})}{2}`, `n(n+${shift})`, `\\frac{n(n+${shift})}{3}`, `\\frac{n+n+${shift}}{2}`]
    }
  },
  "binomial of a letter": () => ({
    gold: "\\binom{n+1}{2}",
    right: ["\\frac{n(n+1)}{2}", "\\frac{n^2+n}{2}", "\\binom{n}{2}+n"],
    wrong: ["\\binom{n}{2}", "\\frac{n(n-1)}{2}", "\\frac{n+1}{2}", "n(n+1)"]
  }),
  "power of a letter": (random) => {
    const [a, base] = [random.whole(3, 9), random.pick([2, 3, 5])]
    return {
      gold: `${a} \\cdot ${base}^{n-1}`,
      right: [
        `\\frac{${a}}{${base}} \\cdot ${base}^n`,
        `${base}^{n-1} \\cdot ${a}`,
        `\\frac{${a} \\cdot ${base}^{n}}{${base}}`
      ],
      wrong: [`${a * base}^{n-1}`, `${a} \\cdot ${base}^{n}`, `${a} \\cdot ${base}^{n}-1`, `${a}(n-1)^{${base}}`]
    }
  },
  ceiling: (random) => {
    const a = random.whole(1, 5)
    return {
      gold: `\\lceil n / 2\\rceil+${a}`,
      right: [
        `${a}+\\lceil \\frac{n}{2}\\rceil`,
        `\\left\\lceil \\frac{n}{2} \\right\\rceil + ${a}`,
        `\\left\\lfloor \\frac{n+1}{2} \\right\\rfloor + ${a}`
      ],
      wrong: [`\\lfloor n/2\\rfloor+${a}`, `\\frac{n}{2}+${a}`, `\\lceil n/2+${a}\\rceil+1`, `\\lceil n/3\\rceil+${a}`]
    }
  },
  "roots of a letter": (random) => {
    const [p, q] = random.pick([
      [2, 3],
      [2, 5],
      [3, 4],
      [3, 5],
      [4, 5]
    ] as const)
    return {
      gold: `x^{${p + q}/${p * q}}`,
      right: [
        `x^{\\frac{${p + q}}{${p * q}}}`,
        `${p === 2 ? "\\sqrt{x}" : `\\sqrt[${p}]{x}`}\\sqrt[${q}]{x}`,
        `\\sqrt[${p * q}]{x^{${p + q}}}`,
        `x^{1/${p}}x^{1/${q}}`
      ],
      wrong: [`x^{1/${p * q}}`, `x^{${p * q}/${p + q}}`, `\\sqrt[${p + q}]{x}`, `\\sqrt[${p}]{x}+\\sqrt[${q}]{x}`]
    }
  },
  derivative: (random) => {
    const n = random.whole(2, 6)
    const less = n === 2 ? "x" : `x^{${n - 1}}`
    return {
      gold: `${n}${less}\\cos x - x^{${n}}\\sin x`,
      right: [
        `${less}(${n}\\cos x - x\\sin x)`,
        `-x^{${n}}\\sin x + ${n}${less}\\cos x`,
        `${n}${less}\\cos(x) - x^${n}\\sin(x)`,
        `-${less}\\left(x\\sin{x} - ${n}\\cos{x}\\right)`
      ],
      wrong: [
        `${n}${less}\\cos x + x^{${n}}\\sin x`,
        `${n}${less}\\cos x`,
        `-${n}${less}\\sin x`,
        `${n}${less}\\cos x - ${less}\\sin x`
      ]
    }
  },
  antiderivative: (random) => {
    const n = random.whole(2, 7)
    return {
      gold: `\\frac{x^{${n + 1}}}{${n + 1}}+C`,
      right: [
        `\\frac{1}{${n + 1}}x^{${n + 1}}+C`,
        `C + \\frac{x^{${n + 1}}}{${n + 1}}`,
        `\\frac{x^${n + 1}}{${n + 1}} + C`
      ],
      wrong: [`\\frac{x^{${n + 1}}}{${n}}+C`, `x^{${n + 1}}+C`, `${n}x^{${n - 1}}+C`]
    }
  },
  function: (random) => {
    const [a, b] = [random.whole(2, 9), random.signed(9)]
    return {
      gold: `f(x)=${a}x${plus(b)}`,
      right: [
        `f(x) = ${b}+${a}x`,
        `f(x)= ${a}\\left(x${b < 0 ? "-" : "+"}\\frac{${Math.abs(b)}}{${a}}\\right)`,
        `f(x) = x \\cdot ${a}${plus(b)}`
      ],
      wrong: [`f(x)=${a}x${plus(-b)}`, `f(x)=${a + 1}x${plus(b)}`, `f(x)=${a}x`, `f(x)=${a}x^2${plus(b)}`]
    }
  },
  "several functions": (random) => {
    const a = random.whole(1, 9)
    return {
      gold: `$f(x)=-${a}$, $f(x)=x+${a}$`,
      right: [
        `f(x)=-${a}, f(x)=x+${a}`,
        `f(x) = -${a} \\text{ and } f(x) = ${a}+x`,
        `f(x)=-${a}\\text{ or }f(x)=x+${a}`
      ],
      wrong: [`f(x)=-${a}`, `f(x)=${a}, f(x)=x+${a}`, `f(x)=-${a}, f(x)=x-${a}`]
    }
  },
  circle: (random) => {
    const [a, b, r] = [random.signed(6), random.signed(6), random.whole(2, 9)]
    const rest = a * a + b * b - r * r
    return {
      gold: `(x${plus(-a)})^2+(y${plus(-b)})^2=${r * r}`,
      right: [
        `(y${plus(-b)})^2+(x${plus(-a)})^2=${r}^2`,
        `x^2+y^2${plus(-2 * a, "x")}${plus(-2 * b, "y")}${plus(rest)}=0`,
        `x^2${plus(-2 * a, "x")}+y^2${plus(-2 * b, "y")}=${-rest}`
      ],
      wrong: [
        `(x${plus(a)})^2+(y${plus(b)})^2=${r * r}`,
        `(x${plus(-a)})^2+(y${plus(-b)})^2=${r * r + 1}`,
        `(x${plus(-a)})^2-(y${plus(-b)})^2=${r * r}`
      ]
    }
  },
  ellipse: (random) => {
    const [a, b] = random.distinct(2, 2, 7) as [number, number]
    return {
      gold: `\\frac{x^2}{${b * b}}+\\frac{y^2}{${a * a}}=1`,
      right: [
        `${a * a}x^2+${b * b}y^2=${a * a * b * b}`,
        `\\frac{y^2}{${a * a}}+\\frac{x^2}{${b * b}}=1`,
        `\\left(\\frac{x}{${b}}\\right)^2+\\left(\\frac{y}{${a}}\\right)^2=1`
      ],
      wrong: [
        `\\frac{x^2}{${a * a}}+\\frac{y^2}{${b * b}}=1`,
        `\\frac{x^2}{${b * b}}-\\frac{y^2}{${a * a}}=1`,
        `\\frac{x^2}{${b}}+\\frac{y^2}{${a}}=1`
      ]
    }
  },
  line: (random) => {
    const [a, b] = [random.whole(2, 9), random.signed(9)]
    return {
      gold: `y = ${a}x${plus(b)}`,
      right: [
        `${a}x - y${plus(b)} = 0`,
        `y - ${a}x = ${b}`,
        `${2 * a}x - 2y = ${-2 * b}`,
        `x = \\frac{y${plus(-b)}}{${a}}`
      ],
      wrong: [`y = ${a}x${plus(-b)}`, `y = -${a}x${plus(b)}`, `x = ${a}y${plus(b)}`, `${a}x + y${plus(b)} = 0`]
    }
  },
  vector: (random) => {
    const [a, b, c] = random.distinct(3, -9, 9) as [number, number, number]
    const [p, q, r] = [random.signed(5), random.signed(5), random.signed(5)]
    return {
      gold: column(a, b, c),
      right: [
        table([[a], [b], [c]], "bmatrix"),
        `(${a}, ${b}, ${c})`,
        `\\langle ${a}, ${b}, ${c} \\rangle`,
        `${column(a - p, b - q, c - r)}+${column(p, q, r)}`,
        `${column(a + p, b + q, c + r)} - ${column(p, q, r)}`,
        `\\frac{1}{2}${column(2 * a, 2 * b, 2 * c)}`,
        `\\mathbf{v} = ${column(a, b, c)}`
      ],
      wrong: [
        column(a, c, b),
        column(a, b),
        `(${c}, ${b}, ${a})`,
        `${column(a - p, b - q, c - r)}-${column(p, q, r)}`,
        `2${column(a, b, c + 1)}`,
        `${a}${plus(b)}${plus(c)}`
      ]
    }
  },
  "vector as a sum": (random) => {
    const [a, b, p, q] = [random.signed(9), random.signed(9), random.signed(9), random.signed(9)]
    const k = random.whole(2, 5)
    return {
      gold: `${column(a, b)}+${k}${column(p, q)}`,
      right: [column(a + k * p, b + k * q), `${k}${column(p, q)}+${column(a, b)}`, `(${a + k * p}, ${b + k * q})`],
      wrong: [
        column(a + p, b + q),
        column(a + k * p, b + k * q + 1),
        column(a - k * p, b - k * q),
        `${k}${column(a, b)}`
      ]
    }
  },
  table: (random) => {
    const [a, b, c, d] = random.distinct(4, -9, 9) as [number, number, number, number]
    const half = (value: number) =>
      value % 2 === 0 ? `${value / 2}` : `${value < 0 ? "-" : ""}\\frac{${Math.abs(value)}}{2}`
    return {
      gold: table([
        [half(a), half(b)],
        [half(c), half(d)]
      ]),
      right: [
        `\\frac{1}{2}${table([
          [a, b],
          [c, d]
        ])}`,
        table(
          [
            [a / 2, b / 2],
            [c / 2, d / 2]
          ],
          "bmatrix"
        ),
        `A = ${table([
          [half(a), half(b)],
          [half(c), half(d)]
        ])}`
      ],
      wrong: [
        table([
          [half(a), half(c)],
          [half(b), half(d)]
        ]),
        `\\frac{1}{4}${table([
          [a, b],
          [c, d]
        ])}`,
        table([[half(a), half(b), half(c), half(d)]])
      ]
    }
  },
  "unit vectors": (random) => {
    const [a, b, c] = [random.whole(2, 9), random.whole(2, 9), random.whole(2, 9)]
    return {
      gold: `${a}\\mathbf{i} - ${b}\\mathbf{j} + ${c}\\mathbf{k}`,
      right: [
        `-${b}\\mathbf{j} + ${a}\\mathbf{i} + ${c}\\mathbf{k}`,
        `${a}\\mathbf{i}+${c}\\mathbf{k}-${b}\\mathbf{j}`
      ],
      wrong: [
        `${a}\\mathbf{i} + ${b}\\mathbf{j} + ${c}\\mathbf{k}`,
        `${a}\\mathbf{i} - ${b}\\mathbf{j}`,
        `${a + 1}\\mathbf{i} - ${b}\\mathbf{j} + ${c}\\mathbf{k}`
      ]
    }
  },
  set: (random) => {
    const [a, b, c] = random.distinct(3, -9, 20) as [number, number, number]
    return {
      gold: `\\{${a}, ${b}, ${c}\\}`,
      right: [
        `\\left\\{${c}, ${a}, ${b}\\right\\}`,
        `\\{${a},${b},${c}\\}`,
        `S = \\{${b}, ${a}, ${c}\\}`,
        `\\lbrace ${a}, ${b}, ${c} \\rbrace`
      ],
      wrong: [
        `\\{${a}, ${b}\\}`,
        `\\{${a}, ${b}, ${c + 1}\\}`,
        `\\{${a}, ${b}, ${c}, ${c + 2}\\}`,
        `(${b}, ${a}, ${c})`
      ]
    }
  },
  "allowed values": (random) => {
    const [a, b] = random.distinct(2, -9, 9) as [number, number]
    return {
      gold: `a < ${a} \\text{ or } a > ${b}`,
      right: [
        `a > ${b} \\text{ or } a < ${a}`,
        `a \\in (-\\infty, ${a}) \\cup (${b}, \\infty)`,
        `${a} > a \\text{ or } ${b} < a`
      ],
      wrong: [`${a} < a < ${b}`, `a \\le ${a} \\text{ or } a \\ge ${b}`, `a < ${a}`, `a < ${a} \\text{ and } a > ${b}`]
    }
  },
  factored: (random) => {
    const [a, b] = [random.whole(2, 9), random.whole(2, 9)]
    return {
      gold: `(x+${a})(x^2+${b})`,
      right: [`(x^2+${b})(x+${a})`, `x^3+${a}x^2+${b}x+${a * b}`, `(${b} + x^2)(${a} + x)`],
      wrong: [`(x-${a})(x^2+${b})`, `x^3+${b}x^2+${a}x+${a * b + 1}`, `x(x+${a})+${b}`]
    }
  }
}
