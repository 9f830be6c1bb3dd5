/**
 * Grades programs by running them on their tests in a {@link Sandbox}.
 *
 * Any behavior of the program counts towards its verdict, including importing a package that is not installed. If the
 * sandbox itself fails, there is no verdict.
 */
export { bigCodeBench } from "./bigCodeBench.ts"
export type { Options } from "./execution.ts"
export { liveCodeBench } from "./liveCodeBench.ts"
