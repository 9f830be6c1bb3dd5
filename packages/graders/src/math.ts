/** Strict and lenient graders of mathematical answers, and their building blocks. */
export * as Algebra from "./math/Algebra.ts"
export * as IntegerGrader from "./math/IntegerGrader.ts"
export * as MathAnswer from "./math/MathAnswer.ts"
export * as MathGrader from "./math/MathGrader.ts"
export * as RlprGrader from "./math/RlprGrader.ts"
