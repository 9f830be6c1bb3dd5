/** Two workers over HTTP that each know one kind of question, and questions of both kinds. */
import { writeFileSync } from "node:fs"
import path from "node:path"
import { OpenAiChat, Script, WireServer } from "@divisi/testkit/providers"
import { divisi, inFolder } from "./process.ts"

const topics = ["moon", "sea", "rain", "wind", "forest", "city", "river", "snow", "desert", "garden", "road", "star"]

/** Sums, which one worker answers, and colours of things, which the other one answers. */
export const questions = Array.from({ length: 40 }, (_, index) => [
  { question: `Add the numbers ${index} and ${index + 3}.`, answer: `${2 * index + 3}` },
  { question: `Name the colour of the ${topics[index % 12]} in poem number ${index + 1}.`, answer: "blue" }
]).flat()

const answerOf = new Map(questions.map(({ answer, question }) => [question, answer]))

/** A server whose model knows the answers to questions that begin with a word. */
const serverOf = (word: string, onCall: () => void) =>
  WireServer.start(OpenAiChat.compatible({ name: word, usage: "final" }), (request) => {
    onCall()
    const text = JSON.stringify(request.body)
    const known = [...answerOf].find(([question]) => text.includes(question))
    return Script.answer([text.includes(word) ? known![1] : "I do not know."], {
      usage: { inputTokens: 20, outputTokens: 10 }
    })
  })

const price = "adder:sums=1/2,painter:colours=10/20"
export const pool = "adder:sums,painter:colours"

interface World {
  readonly ask: (...args: ReadonlyArray<string>) => ReturnType<typeof divisi>
  readonly folder: string
  readonly calls: () => number
}

export const inWorld = (use: (world: World) => Promise<void>) =>
  inFolder(async (folder) => {
    let calls = 0
    const count = () => void calls++
    await using adder = await serverOf("Add the numbers", count)
    await using painter = await serverOf("Name the colour", count)
    writeFileSync(path.join(folder, "questions.jsonl"), questions.map((one) => `${JSON.stringify(one)}\n`).join(""))
    const environment = {
      ADDER_BASE_URL: `${adder.url}/v1`,
      PAINTER_BASE_URL: `${painter.url}/v1`,
      DIVISI_OUTCOMES: "none",
      DIVISI_CONFIG: "none"
    }
    await use({
      ask: (...args) => divisi(args, { cwd: folder, environment }),
      folder,
      calls: () => calls
    })
  })

export const team = ["--pool", pool, "--price", price] as const
