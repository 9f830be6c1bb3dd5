/**
 * Records a run on a terminal that is stopped with Ctrl-C and resumed:
 *
 *     node --conditions=@divisi/source packages/cli/scripts/durable.ts docs/recordings
 *
 * writes `durable.svg`, what a person saw. The models are scripts behind a local server that speaks the format of OpenAI,
 * and takes two seconds for each answer. All else is as it is.
 */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { OpenAiResponses, Script, WireServer } from "@divisi/testkit/providers"
import * as PseudoTerminal from "../test/pseudoTerminal.ts"
import { columns, draw, type Frame } from "./picture.ts"
import * as Screen from "./screen.ts"

const question = "Name a ferry."
const team = "--pool openai:gpt-5 --policy openai:gpt-5-mini"

/** Answers by a text that the request contains; the first match applies. */
const answers = [
  ["Choose the best name.", "Kittiwake"],
  ["Which of these names are taken?", "Solveig, Nordlys and Tidewater are taken."],
  ["Propose ten names.", "Kittiwake, Skerry, Solveig, Spindrift, Tern, Havbris, Fulmar, Nordlys, Tidewater, Eider"],
  [
    question,
    `model_id = [0, 0, 0]
subtasks = ["Propose ten names.", "Which of these names are taken?", "Choose the best name."]
access_list = [[], [0], [0, 1]]`
  ]
] as const

const answerMillis = 2_000
const readingMillis = 700
const frameMillis = 300

let asked = 0
const model = await WireServer.start(OpenAiResponses.dialect, async (request) => {
  asked += 1
  const text = JSON.stringify(request.body)
  const [, answer] = answers.find(([part]) => text.includes(part))!
  await new Promise((resolve) => setTimeout(resolve, answerMillis))
  return Script.answer(answer, { usage: { inputTokens: 210 + 90 * asked, outputTokens: 28 } })
})

const [target = "."] = process.argv.slice(2)
const cwd = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-"))
const screen = Screen.make()
const frames: Array<Frame> = [{ at: 0, lines: [] }]
let since: number | undefined
const show = (text: string) => {
  screen.write(text)
  since ??= Date.now() - 500
  const lines = screen.lines()
  const last = frames.at(-1)!
  if (JSON.stringify(lines) === JSON.stringify(last.lines)) return
  const at = Date.now() - since
  // Of what follows within an instant, the last is shown.
  if (at - last.at < frameMillis && frames.length > 1) frames[frames.length - 1] = { at: last.at, lines }
  else frames.push({ at, lines })
}

const play = (args: ReadonlyArray<string>, steps: ReadonlyArray<PseudoTerminal.Step>) =>
  PseudoTerminal.play([...args, ...team.split(" ")], steps, cwd, {
    environment: {
      OPENAI_API_KEY: "sk-recorded",
      OPENAI_BASE_URL: `${model.url}/v1`,
      DIVISI_OUTCOMES: "none",
      DIVISI_RUNS: path.join(cwd, "runs.sqlite")
    },
    columns: columns + 1,
    readingMillis,
    onOutput: show
  })

/** Ctrl-C, while the third of the four calls is under way. */
const stopped = await play(["run", "--durable", question], [["Solveig", "\u0003"]])
const before = asked
const [, id = ""] = /divisi runs resume (\S{4})/.exec(stopped) ?? []
show(`\r\n$ divisi runs resume ${id} ${team}\r\n`)
await new Promise((resolve) => setTimeout(resolve, readingMillis))
await play(["runs", "resume", id], [])
await model.close()

const picture = draw(frames, `divisi run --durable ${team} "${question}"`)
if (asked - before > 2) throw new Error("Something was paid for again.")
if ([cwd, "127.0.0.1", "sk-recorded"].some((secret) => picture.includes(secret)))
  throw new Error("The recording says something of this machine.")
fs.writeFileSync(path.resolve(target, "durable.svg"), picture)
fs.rmSync(cwd, { recursive: true })
process.stdout.write(`${frames.length} frames\n`)
