/** Graders of mathematical answers, strict ones and lenient ones, and what they are made of. */
export * as Algebra from "./math/Algebra.ts"
export * as IntegerGrader from "./math/IntegerGrader.ts"
export * as MathAnswer from "./math/MathAnswer.ts"
export * as MathGrader from "./math/MathGrader.ts"
export * as RlprGrader from "./math/RlprGrader.ts"
