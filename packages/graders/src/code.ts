/** Graders of programs, and the supported problem formats. */
export * as BigCodeBenchProblem from "./code/BigCodeBenchProblem.ts"
export * as CodeGrader from "./code/CodeGrader.ts"
export * as LiveCodeBenchProblem from "./code/LiveCodeBenchProblem.ts"
