/** Graders of programs, and the problems that they know. */
export * as BigCodeBenchProblem from "./code/BigCodeBenchProblem.ts"
export * as CodeGrader from "./code/CodeGrader.ts"
export * as LiveCodeBenchProblem from "./code/LiveCodeBenchProblem.ts"
