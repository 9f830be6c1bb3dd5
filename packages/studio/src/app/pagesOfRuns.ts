/** Pages that show or make runs, which are loaded together: they share the fold of core and the drawing of plans. */
export { ComparePage } from "./compare/Compare.tsx"
export { PlaygroundPage } from "./Playground.tsx"
export { RunPage } from "./Run.tsx"
