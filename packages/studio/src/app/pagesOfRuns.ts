/** The pages that read or start runs, bundled together because they share core's fold and the plan graph. */
export { ComparePage } from "./compare/Compare.tsx"
export { OperatePage } from "./operate/Operate.tsx"
export { PlaygroundPage } from "./Playground.tsx"
export { RunPage } from "./Run.tsx"
