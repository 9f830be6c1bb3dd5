import { build } from "../tsup.base.ts"

// The contenders are measured as plain JavaScript: stripping types would count as import time.
export default build({ entry: ["src/*.ts", "src/contenders/*.ts"], dts: false, sourcemap: false })
