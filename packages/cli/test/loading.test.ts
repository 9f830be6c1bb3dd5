/** The files that a command loads: its own flags and help, and those of no other command. */
import fs from "node:fs"
import path from "node:path"
import { pathToFileURL } from "node:url"
import { assert, describe, it } from "vitest"
import { source } from "./command.ts"
import { divisi, inFolder } from "./process.ts"

const sources = pathToFileURL(path.resolve(import.meta.dirname, "../src")).href

interface Coverage {
  readonly result: ReadonlyArray<{ readonly url: string }>
}

/** The commands whose `command.ts` a process loads. */
const commandsLoadedBy = async (args: ReadonlyArray<string>, cwd: string): Promise<ReadonlyArray<string>> => {
  const coverage = fs.mkdtempSync(path.join(cwd, "coverage-"))
  await divisi(args, { cwd, command: source, environment: { NODE_V8_COVERAGE: coverage } })
  const loaded = fs
    .readdirSync(coverage)
    .flatMap((file) => (JSON.parse(fs.readFileSync(path.join(coverage, file), "utf8")) as Coverage).result)
    .map(({ url }) => url)
    .filter((url) => url.startsWith(sources) && url.endsWith("/command.ts"))
  return [...new Set(loaded.map((url) => path.basename(path.dirname(url))))].sort()
}

describe("a command line", { concurrent: true }, () => {
  for (const [command, expected] of [
    ["run 2+2", ["run"]],
    ["--help", []],
    ["help train export", ["train"]],
    ["--help eval", ["eval"]],
    ["runs show", ["runs"]],
    ["rnu", []]
  ] as const) {
    it(`loads the flags of one command: ${command}`, () =>
      inFolder(async (cwd) => {
        assert.deepStrictEqual(await commandsLoadedBy(command.split(" "), cwd), expected)
      }))
  }

  it("lists all commands on one screen", async () => {
    const { output } = await divisi(["--help"])
    const folders = fs.readdirSync(new URL("../src", import.meta.url), { recursive: true, encoding: "utf8" })
    const commands = folders.filter((file) => path.basename(file) === "command.ts").map(path.dirname)
    const listed = [...output.matchAll(/^ {2}([a-z]+) {2,}[A-Z]/gm)].map(([, name]) => name)
    assert.sameMembers(listed, [...commands, "help"])
    assert.isAtMost(output.split("\n").length, 70)
  })
})
