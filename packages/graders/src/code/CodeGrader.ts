/**
 * Grades programs: runs an answer on its tests in a {@link Sandbox}.
 *
 * All behavior of a program affects its verdict, including an import of a missing package. If the sandbox itself fails,
 * there is no verdict.
 */
export { bigCodeBench } from "./bigCodeBench.ts"
export type { Options } from "./execution.ts"
export { liveCodeBench } from "./liveCodeBench.ts"
