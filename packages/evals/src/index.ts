export * as Algebra from "./Algebra.ts"
export * as MathAnswer from "./MathAnswer.ts"
export * as MathGrader from "./MathGrader.ts"
export * as Verdict from "./Verdict.ts"
