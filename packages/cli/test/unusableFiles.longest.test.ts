/** Files and folders that cannot be used, given to every command that takes one: the answer is in words. */
import { mkdirSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "vitest"
import { divisi, inFolder } from "./process.ts"

/** Each command that takes a file or a folder, with a place that cannot be used for it. */
const commands: ReadonlyArray<readonly [name: string, args: (place: string) => ReadonlyArray<string>]> = [
  ["run --config", (place) => ["run", "Hi", "--config", place]],
  ["run --file", (place) => ["run", "--file", place]],
  ["run --transcript", (place) => ["run", "Hi", "--transcript", `${place}/below/run.json`]],
  ["run --profiles", (place) => ["run", "Hi", "--profiles", place]],
  ["run --check", (place) => ["run", "Hi", "--check", `form=schema:${place}`]],
  ["run --journal", (place) => ["run", "Hi", "--durable", "--journal", `${place}/below/runs.sqlite`]],
  ["run --pool", (place) => ["run", "Hi", "--pool", `llamacpp:${place}/model.gguf`]],
  ["chat --config", (place) => ["chat", "--config", place]],
  ["serve --config", (place) => ["serve", "--port", "0", "--config", place]],
  ["serve --journal", (place) => ["serve", "--port", "0", "--journal", `${place}/below/runs.sqlite`]],
  ["serve --keys", (place) => ["serve", "--port", "0", "--keys", place]],
  ["mcp --config", (place) => ["mcp", "--config", place]],
  ["key list", (place) => ["key", "list", "--keys", place]],
  ["key make", (place) => ["key", "make", "a", "--keys", `${place}/below/keys.json`]],
  ["replay", (place) => ["replay", place]],
  ["workflow check", (place) => ["workflow", "check", place]],
  ["workflow check --lines", (place) => ["workflow", "check", "--lines", place]],
  ["runs ls", (place) => ["runs", "ls", "--journal", `${place}/below/runs.sqlite`]],
  ["eval report", (place) => ["eval", "report", place]],
  ["eval diff", (place) => ["eval", "diff", place, place]],
  ["eval --ids", (place) => ["eval", "--ids", place, "--out", place]],
  ["grade --lines", (place) => ["grade", "--lines", place]],
  ["bench routing", (place) => ["bench", "routing", "--outcomes", place]],
  ["train export", (place) => ["train", "export", place, "--to", place]],
  ["train resume", (place) => ["train", "--resume", place]],
  ["gym sample", (place) => ["gym", "sample", "--count", "1", "--seed", place]]
]

/** Internal names of the system's errors, and code positions in a text: codes and stack traces are for programs. */
const raw =
  /\bE(?:NOENT|ISDIR|NOTDIR|ACCES|PERM|EXIST|ROFS)\b|no such file or directory|illegal operation|\n\s+at .+:\d+:\d+/

describe("a file that cannot be used", () => {
  it.concurrent.each(commands)("is named in words: %s", async (_, args) =>
    inFolder(async (folder) => {
      const places = {
        missing: path.join(folder, "missing"),
        folder: path.join(folder, "folder"),
        file: path.join(folder, "file")
      }
      mkdirSync(places.folder)
      writeFileSync(places.file, "not what is expected")
      for (const place of Object.values(places)) {
        const { errors, output } = await divisi(args(place), {
          cwd: folder,
          environment: { HOME: folder, DIVISI_OUTCOMES: "none" },
          onOutput: (output, child) => void (output.includes("Serving") && child.kill("SIGTERM"))
        })
        assert.notMatch(errors + output, raw)
      }
    })
  )
})
