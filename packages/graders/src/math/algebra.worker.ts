/** The thread of `Algebra`: proves two formulas equal with a computer-algebra library, or says that it cannot. */
import { parentPort } from "node:worker_threads"
import type { Expression } from "@cortex-js/compute-engine"
import { ComputeEngine } from "@cortex-js/compute-engine"

const engine = new ComputeEngine()

/** Points at which unknowns are tried; none is special. */
const samples = [0.7318, 1.9137, 2.6521, 3.4173]

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

const isEqualAtPoints = (a: Expression, b: Expression, unknowns: ReadonlyArray<string>): boolean =>
  samples.every((_, round) => {
    const values = Object.fromEntries(unknowns.map((name, at) => [name, samples[(round + at) % samples.length]! + at]))
    return isClose(a.subs(values), b.subs(values))
  })

const isEqual = (gold: string, answer: string): boolean => {
  const [a, b] = [engine.parse(gold), engine.parse(answer)]
  if (!isReadable(a) || !isReadable(b)) return false
  const unknowns = [...a.unknowns].sort()
  if (unknowns.join() !== [...b.unknowns].sort().join() || unknowns.length > 4) return false
  const [x, y] = [a.simplify(), b.simplify()]
  if (x.isSame(y)) return true
  return unknowns.length === 0 ? isClose(a, b) : isEqualAtPoints(x, y, unknowns)
}

const attempt = (gold: string, answer: string): boolean => {
  try {
    return isEqual(gold, answer)
  } catch {
    // What the library cannot cope with is not proven.
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
