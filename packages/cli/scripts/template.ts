/**
 * Puts the template of `divisi provider new` into `dist`: the example of a provider, as it is. Part of the build.
 */
import fs from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"

const from = fileURLToPath(new URL("../../../examples/provider-plugin", import.meta.url))
const to = fileURLToPath(new URL("../dist/templates/provider", import.meta.url))

/** Whether a file is a product of installing or building. */
const isLeftover = (file: string) => ["node_modules", "dist", "package-lock.json"].includes(path.basename(file))

fs.rmSync(to, { recursive: true, force: true })
fs.cpSync(from, to, { recursive: true, filter: (file) => !isLeftover(file) })
// A `package.json` inside of a package would be taken for one of its own; `New.ts` knows it by this name.
fs.renameSync(path.join(to, "package.json"), path.join(to, "package.json.template"))
