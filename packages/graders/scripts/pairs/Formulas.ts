/** Pairs of formulas, and of what is said with them: equations, inequalities, intervals, sets, points, matrices. */
import { type Kinds, plus, shifted, times } from "./Kind.ts"

const matrix = (name: string, rows: ReadonlyArray<ReadonlyArray<string | number>>): string =>
  `\\begin{${name}} ${rows.map((row) => row.join(" & ")).join(" \\\\ ")} \\end{${name}}`

const array = (rows: ReadonlyArray<ReadonlyArray<string | number>>): string =>
  `\\left[\\begin{array}{${"c".repeat(rows[0]!.length)}} ${rows.map((row) => row.join(" & ")).join(" \\\\ ")} \\end{array}\\right]`

export const formulas: Kinds = {
  polynomial: (random) => {
    const [a, b] = [random.signed(9), random.signed(9)]
    const expanded = `x^2${plus(a + b, "x")}${plus(a * b)}`
    return {
      gold: expanded,
      right: [
        `(${shifted(a)})(${shifted(b)})`,
        `x(x${plus(a + b)})${plus(a * b)}`,
        `f(x) = ${expanded}`,
        expanded.replace("x^2", "x \\cdot x"),
        expanded.replaceAll(" ", "")
      ],
      wrong: [
        `x^2${plus(a + b + 1, "x")}${plus(a * b)}`,
        `(${shifted(-a)})(${shifted(b)})`,
        expanded.replaceAll("x", "y"),
        `${expanded} + 1`,
        ...(a === b ? [] : [`|${expanded}|`]),
        `x^3${plus(a + b, "x")}${plus(a * b)}`
      ]
    }
  },
  "several variables": (random) => {
    const [a, b] = [random.whole(2, 9), random.whole(2, 9)]
    return {
      gold: `${a}x^2y + ${b}xy^2`,
      right: [`xy(${a}x + ${b}y)`, `${b}y^2x + ${a}yx^2`, `${a} x^{2} y + ${b} x y^{2}`],
      wrong: [`${a}xy^2 + ${b}x^2y + 1`, `xy(${a}x - ${b}y)`, `${a}x^2y`, `xy(${a}x + ${b + 1}y)`]
    }
  },
  "rational function": (random) => {
    const [a, b] = random.distinct(2, 1, 9) as [number, number]
    return {
      gold: `\\frac{x + ${a}}{x + ${b}}`,
      right: [
        `\\frac{2x + ${2 * a}}{2x + ${2 * b}}`,
        `1 + \\frac{${a - b}}{x + ${b}}`,
        `(x+${a})/(x+${b})`,
        `\\dfrac{${a} + x}{${b} + x}`
      ],
      wrong: [
        `\\frac{x + ${b}}{x + ${a}}`,
        `\\frac{${a}}{${b}}`,
        `\\frac{x + ${a}}{x - ${b}}`,
        `x + \\frac{${a}}{x} + ${b}`
      ]
    }
  },
  "absolute value": (random) => {
    const a = random.whole(2, 400)
    return {
      gold: `|x - ${a}|`,
      right: [`|${a} - x|`, `\\sqrt{(x - ${a})^2}`, `\\left|x - ${a}\\right|`, `\\lvert x - ${a} \\rvert`],
      wrong: [`x - ${a}`, `${a} - x`, `|x + ${a}|`, `|x| - ${a}`, `|x| + ${a}`, `(x - ${a})^2`]
    }
  },
  pieces: (random) => {
    const a = random.whole(2, 300)
    return random.pick([
      {
        gold: `${a} - x`,
        right: [`-(x - ${a})`],
        wrong: [`|x - ${a}|`, `\\sqrt{x^2 - ${2 * a}x + ${a * a}}`, `|${a} - x|`]
      },
      { gold: `\\sqrt{(x + ${a})^2}`, right: [`|x + ${a}|`], wrong: [`x + ${a}`, `-x - ${a}`] },
      { gold: `2\\ln(${a} - x)`, right: [`2 \\ln(-x + ${a})`], wrong: [`\\ln((x - ${a})^2)`, `2\\ln(x - ${a})`] },
      {
        gold: `|x - ${a}| + |x - ${a + 2}|`,
        right: [`|x - ${a + 2}| + |${a} - x|`],
        wrong: [`${2 * a + 2} - 2x`, `2|x - ${a + 1}|`, `|2x - ${2 * a + 2}|`]
      },
      { gold: `\\arcsin(\\sin x)`, right: [`\\sin^{-1}(\\sin x)`], wrong: ["x", "|x|"] },
      {
        gold: `\\lfloor x \\rfloor`,
        right: [`\\lfloor x + 1 \\rfloor - 1`],
        wrong: ["x", `\\lceil x \\rceil`, `\\lfloor x + 0.01 \\rfloor`]
      },
      { gold: `|x| n!`, right: [`n! \\cdot |x|`, `n |x| (n-1)!`], wrong: [`x n!`, `|x| (n+1)!`] },
      { gold: `\\frac{|x - ${a}|}{x - ${a}}`, right: [`\\frac{x - ${a}}{|x - ${a}|}`], wrong: ["1", "-1"] },
      { gold: `|\\cos x|`, right: [`\\sqrt{\\cos^2 x}`, `\\sqrt{1 - \\sin^2 x}`], wrong: [`\\cos x`] }
    ])
  },
  trigonometry: (random) => {
    const a = random.whole(2, 9)
    return {
      gold: `${a}\\sin 2x`,
      right: [`${2 * a}\\sin x \\cos x`, `${a} \\sin(2x)`, `\\frac{${2 * a}\\tan x}{1 + \\tan^2 x}`],
      wrong: [`${a}\\sin^2 x`, `${2 * a}\\sin x`, `${a}\\cos 2x`, `${a}\\sin(x^2)`, `${2 * a}|\\sin x| \\cos x`]
    }
  },
  line: (random) => {
    const [m, b] = [random.whole(2, 9), random.signed(9)]
    return {
      gold: `y = ${shifted(b, `${m}x`)}`,
      right: [
        `${shifted(b, `${m}x`)} = y`,
        `y - ${m}x = ${b}`,
        `${m}x - y${plus(b)} = 0`,
        `2y = ${shifted(2 * b, `${2 * m}x`)}`
      ],
      wrong: [
        `y = ${shifted(-b, `${m}x`)}`,
        `x = ${shifted(b, `${m}y`)}`,
        `y = ${shifted(b, `${m + 1}x`)}`,
        `y > ${shifted(b, `${m}x`)}`
      ]
    }
  },
  inequality: (random) => {
    const [a, k] = [random.signed(9), random.whole(2, 5)]
    return {
      gold: `x \\le ${a}`,
      right: [
        `${a} \\ge x`,
        `${k}x \\le ${k * a}`,
        `x${plus(k)} \\le ${a + k}`,
        `-x \\ge ${-a}`,
        `(-\\infty, ${a}]`,
        `x \\in (-\\infty, ${a}]`,
        `x \\leq ${a}`
      ],
      wrong: [
        `x < ${a}`,
        `x \\ge ${a}`,
        `${k}x \\ge ${k * a}`,
        `-x \\le ${-a}`,
        `x \\le ${a + 1}`,
        `(-\\infty, ${a})`,
        `x = ${a}`,
        `y \\le ${a}`
      ]
    }
  },
  "two inequalities": (random) => {
    const [a, b] = random.distinct(2, -9, 9) as [number, number]
    return random.pick([
      {
        gold: `${a} < x \\le ${b}`,
        right: [`x > ${a} \\text{ and } x \\le ${b}`, `(${a}, ${b}]`, `x \\in (${a}, ${b}]`, `${b} \\ge x > ${a}`],
        wrong: [
          `x > ${a} \\text{ or } x \\le ${b}`,
          `${a} \\le x \\le ${b}`,
          `${a} < x < ${b}`,
          `[${a}, ${b})`,
          `x \\le ${b}`
        ]
      },
      {
        gold: `x < ${a} \\text{ or } x > ${b}`,
        right: [
          `x > ${b} \\text{ or } x < ${a}`,
          `(-\\infty, ${a}) \\cup (${b}, \\infty)`,
          `${b} < x \\text{ or } x < ${a}`
        ],
        wrong: [
          `x < ${a} \\text{ and } x > ${b}`,
          `${a} < x < ${b}`,
          `x \\le ${a} \\text{ or } x > ${b}`,
          `(-\\infty, ${a}] \\cup (${b}, \\infty)`
        ]
      }
    ])
  },
  interval: (random) => {
    const [a, b] = random.distinct(2, -9, 20) as [number, number]
    return {
      gold: `[${a}, ${b})`,
      right: [`\\left[${a}, ${b}\\right)`, `[${a}.0, \\frac{${2 * b}}{2})`, `[${a},${b})`, `[${a}, ${b}[`],
      wrong: [
        `(${a}, ${b})`,
        `[${a}, ${b}]`,
        `(${a}, ${b}]`,
        `[${a}, ${b + 1})`,
        `[${b}, ${a})`,
        `${a}, ${b}`,
        `\\{${a}, ${b}\\}`
      ]
    }
  },
  union: (random) => {
    const [a, b, c] = random.distinct(3, -9, 20) as [number, number, number]
    return {
      gold: `(-\\infty, ${a}) \\cup (${b}, ${c}]`,
      right: [`(${b}, ${c}] \\cup (-\\infty, ${a})`, `\\left(-\\infty, ${a}\\right) \\cup \\left(${b}, ${c}\\right]`],
      wrong: [
        `(-\\infty, ${c}]`,
        `(-\\infty, ${a}] \\cup (${b}, ${c}]`,
        `(-\\infty, ${a}) \\cup (${b}, ${c})`,
        `(-\\infty, ${a})`,
        `(${a}, \\infty) \\cup (${b}, ${c}]`
      ]
    }
  },
  reals: (random) => {
    const a = random.signed(9)
    return random.pick([
      {
        gold: "\\mathbb{R}",
        right: ["(-\\infty, \\infty)", "\\mathbb R", "x \\in \\mathbb{R}"],
        wrong: [
          `(${a}, \\infty)`,
          `(-\\infty, ${a})`,
          `(${a}, ${a + 3})`,
          "\\mathbb{Z}",
          `\\mathbb{R} \\setminus \\{${a}\\}`
        ]
      },
      {
        gold: "x \\in \\mathbb{R}",
        right: ["x \\in (-\\infty, \\infty)", "(-\\infty,\\infty)"],
        wrong: [`x < ${a}`, `x > ${a}`, `x \\ne ${a}`, "x \\in \\mathbb{Q}"]
      },
      {
        gold: `\\mathbb{R} \\setminus \\{${a}\\}`,
        right: [`(-\\infty, ${a}) \\cup (${a}, \\infty)`],
        wrong: ["\\mathbb{R}", `(${a}, \\infty)`, `(-\\infty, ${a}) \\cup [${a}, \\infty)`]
      }
    ])
  },
  set: (random) => {
    const items = random.distinct(3, -9, 30)
    const [a, b, c] = items as [number, number, number]
    return {
      gold: `\\{${items.join(", ")}\\}`,
      right: [`\\{${random.shuffle(items).join(",")}\\}`, `\\left\\{ ${c}, ${a}, ${b} \\right\\}`, `${a}, ${b}, ${c}`],
      wrong: [
        `\\{${a}, ${b}\\}`,
        `\\{${a}, ${b}, ${c}, ${c + 1}\\}`,
        `\\{${a}, ${b}, ${c + 1}\\}`,
        `(${a}, ${b}, ${c})`,
        `\\{\\{${a}, ${b}, ${c}\\}\\}`
      ]
    }
  },
  "empty set": (random) => {
    const a = random.whole(0, 9)
    return {
      gold: "\\emptyset",
      right: ["\\varnothing", "\\{\\}", "\\{ \\}"],
      wrong: ["\\{\\emptyset\\}", `\\{${a}\\}`, "0", "\\{0\\}"]
    }
  },
  list: (random) => {
    const [a, b, c] = random.shuffle(random.distinct(3, -9, 40)) as [number, number, number]
    return {
      gold: `${a}, ${b}, ${c}`,
      right: [`${a},${b},${c}`, `${a},\\ ${b},\\ ${c}`, `${a}, ${b} \\text{ and } ${c}`],
      wrong: [`${a}, ${b}`, `${a}, ${b}, ${c + 1}`, `${a}, ${b}, ${c}, ${a}`, `${a + b + c}`]
    }
  },
  alternatives: (random) => {
    const [a, b] = random.distinct(2, -9, 20) as [number, number]
    return {
      gold: `x = ${a} \\text{ or } x = ${b}`,
      right: [
        `x = ${b} \\text{ or } x = ${a}`,
        `x = ${a}, x = ${b}`,
        `x = ${b}, ${a}`.replace(/, /, " \\text{ or } x = ")
      ],
      wrong: [`x = ${a}`, `x = ${a} \\text{ or } x = ${b + 1}`, `x = ${a} \\text{ or } y = ${b}`]
    }
  },
  statements: (random) => {
    const [a, b] = random.distinct(2, 1, 20) as [number, number]
    return {
      gold: `a = ${a} \\text{ and } b = ${b}`,
      right: [`b = ${b} \\text{ and } a = ${a}`, `a = ${a}, b = ${b}`, `(a, b) = (${a}, ${b})`],
      wrong: [`a = ${a} \\text{ or } b = ${b}`, `a = ${b} \\text{ and } b = ${a}`, `a = ${a}`]
    }
  },
  point: (random) => {
    const [a, b] = random.distinct(2, -9, 9) as [number, number]
    return {
      gold: `(${a}, ${b})`,
      right: [
        `\\left(${a}, ${b}\\right)`,
        `(${a}, \\frac{${2 * b}}{2})`,
        `x = ${a}, y = ${b}`,
        `y = ${b}, x = ${a}`,
        `(x, y) = (${a}, ${b})`,
        `x = ${a} \\text{ and } y = ${b}`
      ],
      wrong: [
        `(${b}, ${a})`,
        `(${a}, ${b + 1})`,
        `(${a}, ${b}, 0)`,
        `x = ${b}, y = ${a}`,
        `[${a}, ${b}]`,
        `x = ${a} \\text{ or } y = ${b}`,
        `\\{${a}, ${b}\\}`
      ]
    }
  },
  matrix: (random) => {
    const [a, b, c, d] = [random.signed(9), random.signed(9), random.signed(9), random.signed(9)]
    const rows = [
      [a, b],
      [c, d]
    ]
    return {
      gold: matrix("pmatrix", rows),
      right: [
        matrix("bmatrix", rows),
        array(rows),
        `[[${a}, ${b}], [${c}, ${d}]]`,
        matrix("pmatrix", [
          [`\\frac{${2 * a}}{2}`, b],
          [c, d]
        ])
      ],
      wrong: [
        matrix("pmatrix", [
          [a, b],
          [c, d + 1]
        ]),
        array([
          [a, b + 1],
          [c, d]
        ]),
        matrix("pmatrix", [[a, b]]),
        matrix("vmatrix", rows),
        `${a * d - b * c}`,
        ...(b === c
          ? []
          : [
              matrix("pmatrix", [
                [a, c],
                [b, d]
              ])
            ])
      ]
    }
  },
  determinant: (random) => {
    const [a, b, c, d] = [random.whole(1, 9), random.whole(1, 9), random.whole(1, 9), random.whole(1, 9)]
    return {
      gold: `${a * d - b * c}`,
      right: [
        matrix("vmatrix", [
          [a, b],
          [c, d]
        ])
      ],
      wrong: [
        matrix("pmatrix", [
          [a, b],
          [c, d]
        ]),
        matrix("vmatrix", [
          [a, b],
          [c, d + 1]
        ]),
        `${a * d + b * c}`
      ]
    }
  },
  "sums and products": (random) => {
    const n = random.whole(4, 12)
    return {
      gold: `${(n * (n + 1)) / 2}`,
      right: [`\\sum_{k=1}^{${n}} k`, `\\frac{${n}(${n + 1})}{2}`],
      wrong: [`\\sum_{k=0}^{${n - 1}} k`, `\\prod_{k=1}^{${n}} k`, `\\sum_{k=1}^{${n}} k^2`]
    }
  },
  name: (random) => {
    const letter = random.pick(["f", "g", "y", "A", "P"])
    return {
      gold: `${letter}'`,
      right: [`${letter}^{\\prime}`, `${letter}^\\prime`],
      wrong: [letter, `${letter}''`, `-${letter}'`]
    }
  },
  conjugate: (random) => {
    const [z, k] = [random.pick(["z", "w"]), random.whole(2, 9)]
    return {
      gold: times(k, `\\overline{${z}}`),
      right: [`\\overline{${z}} \\cdot ${k}`, `${k} \\, \\bar{${z}}`],
      wrong: [`${k}${z}`, `${k}|${z}|`, `${k + 1}\\overline{${z}}`]
    }
  },
  figure: (random) => {
    const name = random
      .shuffle([..."ABCDPQR"])
      .slice(0, 3)
      .join("")
    return random.pick([
      {
        gold: `\\angle ${name}`,
        right: [`\\angle{${name}}`.replace("{", " ").replace("}", ""), `\\angle ${[...name].reverse().join("")}`],
        wrong: [`\\triangle ${name}`, `\\overline{${name.slice(0, 2)}}`]
      },
      {
        gold: `\\overline{${name.slice(0, 2)}}`,
        right: [`\\overline{${name[1]}${name[0]}}`, `\\overline{ ${name.slice(0, 2)} }`],
        wrong: [
          `\\overrightarrow{${name.slice(0, 2)}}`,
          `\\overline{${name.slice(1)}}`,
          `\\overrightarrow{${name[1]}${name[0]}}`
        ]
      },
      {
        gold: `\\triangle ${name}`,
        right: [`\\triangle ${name}`],
        wrong: [`\\angle ${name}`, `\\overline{${name.slice(0, 2)}}`]
      }
    ])
  },
  word: (random) => {
    const [word, other] = random.shuffle([
      "ellipse",
      "hyperbola",
      "circle",
      "parabola",
      "even",
      "odd",
      "east",
      "west"
    ]) as [string, string]
    return {
      gold: `\\text{${word}}`,
      right: [word, `\\text{${word[0]!.toUpperCase()}${word.slice(1)}}`, `\\textbf{${word}}`, `\\mathrm{${word}}`],
      wrong: [`\\text{${other}}`, `\\text{not ${word}}`, `\\text{${word} or ${other}}`, `\\text{${word.slice(1)}}`]
    }
  },
  choice: (random) => {
    const [letter, other] = random.shuffle([..."ABCDE"]) as [string, string]
    return {
      gold: `\\text{(${letter})}`,
      right: [letter, `(${letter})`, `\\textbf{(${letter})}`, `\\text{${letter}}`],
      wrong: [other, `(${other})`, `${letter}, ${other}`, `${letter} \\text{ or } ${other}`, letter.toLowerCase()]
    }
  }
}
