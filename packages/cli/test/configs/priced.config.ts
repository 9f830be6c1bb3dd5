import { defineConfig } from "@divisi/cli/config"
import unpriced from "./recipes.config.ts"

export default defineConfig({ ...unpriced, prices: { "*": 0 } })
