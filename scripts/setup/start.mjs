import path from "node:path"
import { pathToFileURL } from "node:url"
import { setUp } from "./set-up.mjs"
import { closure, root } from "./workspace.mjs"

if (await setUp(closure("@divisi/cli"))) {
  const command = path.join(root, "packages/cli/bin/divisi.js")
  // The CLI takes this process over, so that signals, standard input and the exit code are its own. File names are
  // relative to where the person called npm.
  process.argv = [process.execPath, command, "run", ...process.argv.slice(2)]
  if (process.env.INIT_CWD) process.chdir(process.env.INIT_CWD)
  await import(pathToFileURL(command).href)
}
