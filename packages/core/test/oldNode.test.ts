import { spawnSync } from "node:child_process"
import path from "node:path"
import { assert, it } from "vitest"

it.each(["index", "promise"])("names the Node that is needed if it is too old: %s", (entry) => {
  const file = path.resolve(import.meta.dirname, `../src/${entry}.ts`)
  const code = `delete Promise.withResolvers; await import(${JSON.stringify(file)}).catch((e) => console.log(e.message))`
  const { stderr, stdout } = spawnSync(
    process.execPath,
    ["--conditions=@divisi/source", "--input-type=module", "--eval", code],
    { encoding: "utf8" }
  )
  assert.match(stdout, /^Divisi requires Node 22\.19 or newer, but this is v\d+\./, stderr)
})
