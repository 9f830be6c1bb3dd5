import path from "node:path"
import { pathToFileURL } from "node:url"
import { setUp } from "./set-up.mjs"
import { closure, root } from "./workspace.mjs"

if (await setUp(closure("@divisi/cli"))) {
  // The command that hints show. npx calls it through a link in its cache.
  process.argv[1] = path.join(root, "scripts/divisi.mjs")
  // The CLI runs in this process, so that it receives signals and standard input and sets the exit code.
  await import(pathToFileURL(path.join(root, "packages/cli/bin/divisi.js")).href)
}
