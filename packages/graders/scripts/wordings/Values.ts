/** Values of many kinds, each with its LaTeX, plain text, and a second value of the same kind that differs. */
import { frac, gcd } from "../pairs/Kind.ts"
import type { Random } from "../pairs/Random.ts"

/** A value in two notations. */
export interface Value {
  readonly latex: string
  readonly plain: string
}

type Make = (random: Random) => Value

const both = (text: string): Value => ({ latex: text, plain: text })

const reduced = (random: Random): readonly [number, number] => {
  for (;;) {
    const [top, bottom] = [random.whole(1, 40), random.whole(2, 30)]
    if (gcd(top, bottom) === 1) return [top, bottom]
  }
}

const squarefree = [2, 3, 5, 6, 7, 10, 11, 13]

const makers: Readonly<Record<string, Make>> = {
  whole: (random) => both(String(random.whole(14, 9876))),
  negative: (random) => both(String(-random.whole(2, 400))),
  fraction: (random) => {
    const [top, bottom] = reduced(random)
    return { latex: frac(top, bottom), plain: `${top}/${bottom}` }
  },
  decimal: (random) => both(`${random.whole(1, 90)}.${random.whole(1, 9)}${random.whole(1, 9)}`),
  surd: (random) => {
    const [factor, root] = [random.whole(2, 19), random.pick(squarefree)]
    return { latex: `${factor}\\sqrt{${root}}`, plain: `${factor}√${root}` }
  },
  circle: (random) => {
    const factor = random.whole(2, 60)
    return { latex: `${factor}\\pi`, plain: `${factor}π` }
  },
  point: (random) => both(`(${random.signed(20)}, ${random.signed(20)})`),
  interval: (random) => {
    const [low, high] = random.distinct(2, -20, 30)
    return both(`[${low}, ${high})`)
  },
  formula: (random) => {
    const [first, last] = [random.whole(2, 15), random.whole(1, 30)]
    return { latex: `x^{2} + ${first}x + ${last}`, plain: `x^2 + ${first}x + ${last}` }
  },
  percent: (random) => {
    const part = random.whole(2, 97)
    return { latex: `${part}\\%`, plain: `${part}%` }
  },
  complex: (random) => both(`${random.whole(2, 30)} + ${random.whole(2, 30)}i`),
  power: (random) => {
    const [base, exponent] = [random.pick([2, 3, 5, 7]), random.whole(31, 99)]
    return { latex: `${base}^{${exponent}}`, plain: `${base}^${exponent}` }
  },
  degrees: (random) => {
    const size = random.whole(3, 177)
    return { latex: `${size}^\\circ`, plain: `${size}°` }
  },
  logarithm: (random) => {
    const of = random.pick([2, 3, 5, 7, 11, 13, 17, 19])
    return { latex: `\\ln ${of}`, plain: `ln ${of}` }
  }
}

/** A value and another one of its kind. */
export const sample = (random: Random): readonly [value: Value, other: Value] => {
  const make = makers[random.pick(Object.keys(makers))]!
  const value = make(random)
  for (;;) {
    const other = make(random)
    if (other.latex !== value.latex) return [value, other]
  }
}
