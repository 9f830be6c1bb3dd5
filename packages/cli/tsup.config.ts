import { build } from "../../tsup.base.ts"

// Only what is imported or run is an entry; commands are loaded when they are called, as chunks.
export default build({ entry: ["src/index.ts", "src/config.ts", "src/paperPool.ts", "src/main.ts"] })
