/**
 * Grades programs: runs an answer on its tests in a {@link Sandbox}.
 *
 * Whatever a program does counts for or against it, a package that it lacks, too. A sandbox that fails gives no verdict.
 */
export { bigCodeBench } from "./bigCodeBench.ts"
export type { Options } from "./execution.ts"
export { liveCodeBench } from "./liveCodeBench.ts"
