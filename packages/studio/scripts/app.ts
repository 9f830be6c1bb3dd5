/** Writes the page into `dist/app`: one script, one style sheet, one document, each with its compressed form. */
import path from "node:path"
import { buildApp } from "./build.ts"

await buildApp(path.join(import.meta.dirname, "../dist/app"))
