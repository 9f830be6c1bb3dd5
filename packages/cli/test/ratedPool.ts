/** A pool of two workers with files of its own, and graded answers of both. */
import { writeFileSync } from "node:fs"
import path from "node:path"
import { divisi, inFolder } from "./process.ts"

export const config = `
import { worker } from "@divisi/core/promise"
export default { pool: [
  worker({ id: "calculator", description: "Sums", answer: () => "42" }),
  worker({ id: "poet", description: "Poems", answer: () => "The moon!" })
] }
`

/** Runs \`divisi\` in a folder with files of its own. */
export const inOwn = (
  use: (ask: (...args: ReadonlyArray<string>) => ReturnType<typeof divisi>, folder: string) => Promise<void>
) =>
  inFolder((folder) => {
    writeFileSync(path.join(folder, "divisi.config.mjs"), config)
    const environment = {
      DIVISI_OUTCOMES: path.join(folder, "outcomes.jsonl"),
      DIVISI_ROUTER: path.join(folder, "router.json"),
      DIVISI_HEAD: path.join(folder, "head.json"),
      DIVISI_CONFIG: path.join(folder, "divisi.config.mjs")
    }
    return use((...args) => divisi(args, { environment }), folder)
  })

const forms = ["sonnet", "haiku", "ballad", "limerick", "poem"]
const topics = ["moon", "sea", "rain", "wind", "forest", "city", "river", "snow", "desert", "garden", "road", "star"]
const times = ["night", "dawn", "noon", "dusk", "midnight", "Christmas", "harvest"]

export const graded = ["sums", "poems"].flatMap((kind) =>
  Array.from({ length: 60 }, (_, index) =>
    JSON.stringify({
      kind,
      question:
        kind === "sums"
          ? `Add the number ${index} to ${index * 3}.`
          : `Write a ${forms[index % 5]} on the ${topics[index % 12]} at ${times[index % 7]}.`,
      scores: kind === "sums" ? { calculator: 1, poet: 0 } : { calculator: index % 5 === 0 ? 1 : 0, poet: 1 }
    })
  )
)
