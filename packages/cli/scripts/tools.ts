/**
 * Records a run on a terminal that reads and writes files through the official MCP file server, which npx fetches:
 *
 *     node --conditions=@divisi/source packages/cli/scripts/tools.ts docs/recordings
 *
 * writes `tools.svg`, what a person saw, who allowed the writing, and `tools.json`, the transcript. The model is a script
 * behind a local server that speaks the format of OpenAI, and takes a second for each turn. All else is as it is.
 */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { OpenAiResponses, Script, WireServer } from "@divisi/testkit/providers"
import * as PseudoTerminal from "../test/pseudoTerminal.ts"
import { columns, draw, type Frame } from "./picture.ts"
import * as Screen from "./screen.ts"

const question = "Put the dates of notes.md into calendar.md."

const config = `export default {
  mcpServers: {
    files: {
      command: "npx",
      args: ["-y", "@modelcontextprotocol/server-filesystem", "."],
      tools: ["list_directory", "read_text_file", "write_file"]
    }
  }
}
`

const files: Readonly<Record<string, string>> = {
  "divisi.config.mjs": config,
  "notes.md": "The church fair of Ulm is on 12 June.\nThe boat to Oslo leaves on 3 July.\n"
}

/** The model's turns. */
const turns = [
  { name: "files__list_directory", arguments: { path: "." } },
  { name: "files__read_text_file", arguments: { path: "notes.md" } },
  {
    name: "files__write_file",
    arguments: { path: "calendar.md", content: "12 June: church fair, Ulm\n3 July: boat to Oslo\n" }
  },
  "calendar.md has two dates now: the church fair of Ulm on 12 June, and the boat to Oslo on 3 July."
] as const

const turnMillis = 1_000
const readingMillis = 2_500

const model = await WireServer.start(OpenAiResponses.dialect, async (_, index) => {
  await new Promise((resolve) => setTimeout(resolve, turnMillis))
  const usage = { inputTokens: 310 + 90 * index, outputTokens: 28 }
  const turn = turns[Math.min(index, turns.length - 1)]!
  return typeof turn === "string"
    ? Script.answer(turn, { usage })
    : Script.answer(Script.call(`call_${index}`, turn.name, JSON.stringify(turn.arguments)), {
        usage,
        ending: "tool-calls"
      })
})

const [target = "."] = process.argv.slice(2)
const cwd = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-"))
for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(cwd, name), text)

const screen = Screen.make()
const frames: Array<Frame> = [{ at: 0, lines: [] }]
let since: number | undefined
const show = (text: string) => {
  screen.write(text)
  since ??= Date.now() - 500
  const lines = screen.lines()
  if (JSON.stringify(lines) !== JSON.stringify(frames.at(-1)!.lines)) frames.push({ at: Date.now() - since, lines })
}

const transcript = path.join(cwd, "run.json")
await PseudoTerminal.play(
  ["run", "--pool", "openai:gpt-5-mini", "--transcript", transcript, question],
  [["(a)lways this tool: ", "y\r"]],
  cwd,
  {
    environment: { OPENAI_API_KEY: "sk-recorded", OPENAI_BASE_URL: `${model.url}/v1`, DIVISI_OUTCOMES: "none" },
    columns: columns + 1,
    readingMillis,
    onOutput: show
  }
)
await model.close()

const kept = fs.readFileSync(transcript, "utf8")
const picture = draw(frames, `divisi run --pool openai:gpt-5-mini "${question}"`)
if (!fs.readFileSync(path.join(cwd, "calendar.md"), "utf8").includes("12 June")) throw new Error("Nothing was written.")
if ([cwd, "127.0.0.1", "sk-recorded"].some((secret) => `${kept}${picture}`.includes(secret)))
  throw new Error("The recording says something of this machine.")
fs.writeFileSync(path.resolve(target, "tools.json"), `${JSON.stringify(JSON.parse(kept), null, 2)}\n`)
fs.writeFileSync(path.resolve(target, "tools.svg"), picture)
fs.rmSync(cwd, { recursive: true })
process.stdout.write(`${frames.length} frames\n`)
