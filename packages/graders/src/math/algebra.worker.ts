/** The worker thread of `Algebra`. It tries to prove that two formulas are equal with a computer algebra library. */
import { parentPort } from "node:worker_threads"
import type { Expression } from "@cortex-js/compute-engine"
import { ComputeEngine } from "@cortex-js/compute-engine"

const engine = new ComputeEngine()

/** Generic sample points for unknowns, of both signs and various sizes. */
const samples = [0.7318, -1.9137, 2.6521, 13.4173, -37.219]

/** Sample points for unknowns that are used for counting. */
const counts = [2, 3, 5, 8, 12]

/** Piecewise operations. A few sample points cannot prove formulas with them equal. */
const pieced = new Set(
  "Abs Sqrt Root Floor Ceil Ceiling Round Mod Sign Max Min Ln Log Arcsin Arccos Arctan Arcsec Arccsc Arccot Heaviside".split(
    " "
  )
)

const isPieced = (expression: Expression): boolean => {
  const json = JSON.stringify(expression.json)
  const hasName = (expression.symbols ?? []).length > 0
  return hasName && [...json.matchAll(/\["(\w+)"/g)].some(([, head]) => pieced.has(head!))
}

/** Returns unknowns that are bounds of sums or products, or arguments of factorials. */
const counted = (...latex: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(
    latex.flatMap((text) =>
      [
        ...text.matchAll(
          /\^\s*\{?\s*([a-zA-Z])\s*(?:[-+]\s*\d+)?\s*\}?|([a-zA-Z])\s*\)?\s*!|\\binom\s*\{\s*([a-zA-Z])/g
        )
      ].flatMap(([, bound, factorial, binomial]) => [bound ?? factorial ?? binomial ?? ""])
    )
  )

const isReadable = (expression: Expression): boolean =>
  expression.isValid && !/"(?:Error|Sequence|Tuple|Nothing|Hold|Missing)"/.test(JSON.stringify(expression.json))

const numberOf = (expression: Expression): number | undefined => {
  const { im, re } = expression.N()
  return Number.isFinite(re) && (im === 0 || Number.isNaN(im)) ? re : undefined
}

const isClose = (a: Expression, b: Expression): boolean => {
  const [x, y] = [numberOf(a), numberOf(b)]
  if (x === undefined || y === undefined) return false
  return Math.abs(x - y) <= 1e-12 * Math.max(Math.abs(x), Math.abs(y))
}

const isEqualAtPoints = (
  a: Expression,
  b: Expression,
  unknowns: ReadonlyArray<string>,
  whole: ReadonlySet<string>
): boolean =>
  samples.every((_, round) => {
    const values = Object.fromEntries(
      unknowns.map((name, at) => {
        const points = whole.has(name) ? counts : samples
        return [name, points[(round + at) % points.length]! + (whole.has(name) ? 0 : at / 7)]
      })
    )
    return isClose(a.subs(values), b.subs(values))
  })

const isEqual = (gold: string, answer: string): boolean => {
  const [a, b] = [engine.parse(gold), engine.parse(answer)]
  if (!isReadable(a) || !isReadable(b)) return false
  const unknowns = [...a.unknowns].sort()
  if (unknowns.join() !== [...b.unknowns].sort().join() || unknowns.length > 4) return false
  if (unknowns.length > 0 && (isPieced(a) || isPieced(b))) return false
  const [x, y] = [a.simplify(), b.simplify()]
  if (x.isSame(y)) return true
  return unknowns.length === 0 ? isClose(a, b) : isEqualAtPoints(x, y, unknowns, counted(gold, answer))
}

const attempt = (gold: string, answer: string): boolean => {
  try {
    return isEqual(gold, answer)
  } catch {
    // Formulas that the library cannot handle are not proven.
    return false
  }
}

parentPort?.on(
  "message",
  ({ answer, gold, id }: { readonly id: number; readonly gold: string; readonly answer: string }) => {
    parentPort?.postMessage({ id, isEqual: attempt(gold, answer) })
  }
)
parentPort?.postMessage({ id: 0, isEqual: true })
