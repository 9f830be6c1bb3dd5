/** The commands and names that the parser supports. */
import type { Comparison, FunctionName } from "./Expression.ts"

export const comparisons: Readonly<Record<string, Comparison>> = {
  "=": "=",
  "<": "<",
  ">": ">",
  "≤": "<=",
  "≥": ">=",
  "≠": "!=",
  "≈": "~"
}

export const functions: Readonly<Record<string, FunctionName>> = {
  sin: "sin",
  cos: "cos",
  tan: "tan",
  cot: "cot",
  sec: "sec",
  csc: "csc",
  arcsin: "arcsin",
  arccos: "arccos",
  arctan: "arctan",
  asin: "arcsin",
  acos: "arccos",
  atan: "arctan",
  sinh: "sinh",
  cosh: "cosh",
  tanh: "tanh",
  ln: "ln",
  exp: "exp",
  abs: "abs",
  floor: "floor",
  ceil: "ceil"
}

export const symbolCommands: Readonly<Record<string, string>> = {
  pi: "pi",
  infty: "infinity",
  infinity: "infinity",
  inf: "infinity",
  oo: "infinity",
  top: "T",
  intercal: "T",
  emptyset: "empty",
  nothing: "empty",
  vectori: "vector i",
  vectorj: "vector j",
  vectork: "vector k"
}

export const greek = new Set(
  "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega ell".split(
    " "
  )
)

/** Words that scale the preceding number. */
export const scales: Readonly<Record<string, bigint>> = {
  dozen: 12n,
  hundred: 100n,
  thousand: 1_000n,
  million: 1_000_000n,
  billion: 1_000_000_000n,
  trillion: 1_000_000_000_000n
}

export const baseNames =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split(" ")

export const environments = new Set([
  "pmatrix",
  "bmatrix",
  "Bmatrix",
  "matrix",
  "smallmatrix",
  "array",
  "vmatrix",
  "cases"
])

/** Symbols that turn their argument into a name. A segment, for example, is not a number. */
export const accents = new Set(["overline", "arrow", "angle", "triangle"])

/** Commands that start a factor, so that `2\sqrt{3}` is a product. */
export const startsAtom = (command: string): boolean =>
  command === "frac" ||
  command === "sqrt" ||
  command === "log" ||
  command === "binom" ||
  command === "perm" ||
  command === "repeating" ||
  accents.has(command) ||
  command === "begin" ||
  command === "lfloor" ||
  command === "lceil" ||
  command in functions ||
  command in symbolCommands ||
  greek.has(command)
