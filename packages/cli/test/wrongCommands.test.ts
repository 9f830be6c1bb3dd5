/** Wrong command lines, each with its message: what is wrong, and what to do. */
import fs from "node:fs"
import path from "node:path"
import { assert, describe, it } from "vitest"
import { divisi, inFolder } from "./process.ts"

const rows: ReadonlyArray<readonly [command: string, message: string | RegExp]> = [
  ["run 2+2 --max-cost abc", 'flag --max-cost: "abc". Expected an amount in USD of at least 0, such as 0.50.'],
  ["run 2+2 --max-cost 5EUR", 'flag --max-cost: "5EUR". Expected an amount in USD of at least 0, such as 0.50.'],
  ["run 2+2 --max-cost -1", "Expected an amount in USD of at least 0"],
  ["run 2+2 --max-cost 1 --max-cost 2", "--max-cost was passed 2 times. Pass it once."],
  ["run 2+2 --max-steps 1.5", 'flag --max-steps: "1.5". Expected a whole number.'],
  ["run 2+2 --max-steps x", 'flag --max-steps: "x". Expected a number.'],
  ["run 2+2 --timeout 5x", "Expected a duration such as 500ms, 30s, 2m or 1h."],
  ["run 2+2 --timeout -1s", /^divisi: Missing value for flag --timeout\. [^\n]*\nUsage: /],
  ["run 2+2 --polcy x", /^divisi: Unknown flag --polcy\. Did you mean --policy\?\nUsage: /],
  ["run 2+2 --json --quiet", "Use either --json or --quiet."],
  ["run --file missing.txt", "Cannot read the question in missing.txt: the file or folder does not exist."],
  ["run --file .", "Cannot read the question in .: it is a folder."],
  ["run 2+2 --journal .", /The journal .* cannot be written \(it is a folder\)/],
  [
    "runs list",
    "Subcommands: show, resume, fork, compare, report, delete, purge. Without a subcommand, divisi runs does this: List"
  ],
  ["runs show x --journal j.sqlite", "List its runs with: divisi runs --journal j.sqlite\n"],
  ["runs delete", "Pass run ids"],
  ["replay .", "Cannot read the run in .: it is a folder."],
  ["workflow draw", "Subcommands: "],
  ["gym --policy x", /^divisi: Unknown flag --policy\.\nUsage: /],
  ["studio --port 99999", 'flag --port: "99999". Expected a port from 0 to 65535.'],
  ["serve --port -5", 'flag --port: "-5". Expected a port from 0 to 65535.'],
  ["key revoke x --keys k.json", /List keys with: divisi key list --keys \S+k\.json\n/],
  ["models inspect x", "There is no such model."],
  ["frobnicate", 'Unknown subcommand "frobnicate" of divisi.'],
  ["rnu", "Did you mean run or runs?"]
]

describe("a wrong command line", { concurrent: true }, () => {
  it.each(rows)("%s", (command, message) =>
    inFolder(async (cwd) => {
      const environment = { DIVISI_OUTCOMES: "none", XDG_DATA_HOME: cwd }
      const ended = await divisi(command.split(" "), { cwd, environment })
      assert.strictEqual(ended.code, 2, ended.errors)
      if (typeof message === "string") assert.include(ended.errors, message)
      else assert.match(ended.errors, message)
      assert.notMatch(ended.errors, /^ +at |unexpected error|string representing|occurrences/m)
    })
  )
})

describe("a hint", () => {
  it("repeats the file of keys", () =>
    inFolder(async (cwd) => {
      const { output } = await divisi(["key", "list", "--keys", "my keys.json"], { cwd })
      assert.include(output, "Create one with: divisi key make <name> --keys 'my keys.json'\n")
    }))

  it("repeats the journal, which stores a run without --durable", () =>
    inFolder(async (cwd) => {
      const journal = path.join(cwd, "runs.sqlite")
      const empty = await divisi(["runs", "--journal", journal], { cwd })
      assert.include(empty.output, `Store a run with: divisi run --durable --journal ${journal}\n`)
      await divisi(["run", "2+2", "--journal", journal], { cwd, environment: { DIVISI_OUTCOMES: "none" } })
      assert.isTrue(fs.existsSync(journal))
      assert.include((await divisi(["runs", "--journal", journal], { cwd })).output, "answered")
    }))
})

describe("a config in UTF-16", () => {
  const source = "export default { maxSteps: 0 as number }\n"
  it.each([
    ["typescript.ts", source],
    ["module.mjs", source.replace(" as number", "")],
    ["common.cts", source.replace("export default", "module.exports =")]
  ])("%s is read", (name, text) =>
    inFolder(async (cwd) => {
      fs.writeFileSync(path.join(cwd, name), Buffer.from(`\ufeff${text}`, "utf16le"))
      const { code, errors } = await divisi(["run", "2+2", "--config", name], { cwd })
      assert.strictEqual(code, 2, errors)
      assert.include(errors, `${name}: maxSteps: `)
    })
  )
})
