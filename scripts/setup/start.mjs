import path from "node:path"
import { pathToFileURL } from "node:url"
import { setUp } from "./set-up.mjs"
import { closure, root } from "./workspace.mjs"

if (await setUp(closure("@divisi/cli"))) {
  const command = path.join(root, "packages/cli/bin/divisi.js")
  // The CLI runs in this process, so that it receives signals and standard input and sets the exit code. File names
  // are relative to the folder from which npm was called.
  process.argv = [process.execPath, command, "run", ...process.argv.slice(2)]
  if (process.env.INIT_CWD) process.chdir(process.env.INIT_CWD)
  await import(pathToFileURL(command).href)
}
