/**
 * Writes exported pages of the documentation again with the page of today and the data that they have:
 * `pnpm studio:exported`. `node scripts/check.ts studio` reports those of an earlier page.
 */
import fs from "node:fs"
import path from "node:path"
import * as Assets from "../src/Assets.ts"
import * as Export from "../src/Export.ts"
import { buildApp, pageVersion } from "./build.ts"

const root = path.join(import.meta.dirname, "../../..")

/** Exported pages, from the root of the repository. */
const pages = ["docs/recordings/run.html", "docs/evals-example/report.html", "docs/session-example/session.html"]

/** Returns the exported pages that were made by another version of the page. */
export const stalePages = async (): Promise<ReadonlyArray<string>> => {
  const generator = `content="Divisi studio ${await pageVersion()}"`
  return pages.filter((page) => !fs.readFileSync(path.join(root, page), "utf8").includes(generator))
}

if (import.meta.main) {
  await buildApp(Assets.folder)
  for (const page of await stalePages()) {
    const file = path.join(root, page)
    fs.writeFileSync(file, Export.again(fs.readFileSync(file, "utf8")))
    process.stdout.write(`${page}\n`)
  }
}
