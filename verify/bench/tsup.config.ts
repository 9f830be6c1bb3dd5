import { defineConfig } from "tsup"
import { base } from "../../tsup.base.ts"

// Contenders are measured as plain JavaScript, because type stripping would add to the import time.
export default defineConfig({ ...base, entry: ["src/*.ts", "src/contenders/*.ts"], sourcemap: false })
