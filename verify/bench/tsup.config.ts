import { defineConfig } from "tsup"
import { base } from "../../tsup.base.ts"

// The contenders are measured as plain JavaScript: stripping types would count as import time.
export default defineConfig({ ...base, entry: ["src/*.ts", "src/contenders/*.ts"], sourcemap: false })
