/** The pages that display or start runs, bundled together because they share core's fold and the plan graph. */
export { ComparePage } from "./compare/Compare.tsx"
export { PlaygroundPage } from "./Playground.tsx"
export { RunPage } from "./Run.tsx"
