/** Strict and lenient graders for mathematical answers, and the functions that they are built from. */
export * as Algebra from "./math/Algebra.ts"
export * as IntegerGrader from "./math/IntegerGrader.ts"
export * as MathAnswer from "./math/MathAnswer.ts"
export * as MathGrader from "./math/MathGrader.ts"
export * as RlprGrader from "./math/RlprGrader.ts"
