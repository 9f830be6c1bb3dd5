/**
 * Grades programs: runs an answer on its tests in a {@link Sandbox}.
 *
 * Everything that a program does counts for or against it, including a missing package. A sandbox that fails gives no
 * verdict.
 */
export { bigCodeBench } from "./bigCodeBench.ts"
export type { Options } from "./execution.ts"
export { liveCodeBench } from "./liveCodeBench.ts"
