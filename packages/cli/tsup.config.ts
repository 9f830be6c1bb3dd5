import { build } from "../../tsup.base.ts"

// Commands are loaded when they are called, as chunks.
export default build({ main: "src/main.ts" })
