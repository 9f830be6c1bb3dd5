/** Graders for programs, and the problem formats that they support. */
export * as BigCodeBenchProblem from "./code/BigCodeBenchProblem.ts"
export * as CodeGrader from "./code/CodeGrader.ts"
export * as LiveCodeBenchProblem from "./code/LiveCodeBenchProblem.ts"
