/** The runs of a folder as `divisi studio` reads them. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { conduct, policy, worker } from "@divisi/core/promise"
import { afterAll, beforeAll, expect, it } from "vitest"
import * as Folders from "../src/studio/Folders.ts"
import * as Recordings from "../src/studio/Recordings.ts"

let folder: string

const write = async (name: string): Promise<string> => {
  const { transcript } = await conduct({
    question: "Which?",
    pool: [worker({ id: "a", answer: () => name })],
    policy: policy("p", () => ({ steps: [{ worker: 0, subtask: "", access: [] }] }))
  })
  fs.writeFileSync(path.join(folder, `${name}.json`), JSON.stringify(transcript))
  return transcript.runId
}

beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-folder-"))
})

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

it("lists the folder again only for a run that no known file has", async () => {
  let listings = 0
  const recordings = Recordings.open(folder, () => {
    listings += 1
    return Recordings.filesIn(folder, /\.json$/)
  })
  const ids = await Promise.all(["one", "two", "three"].map(write))
  expect((await recordings.list()).map(({ summary }) => summary.id).sort()).toEqual([...ids].sort())
  for (const id of ids) expect((await recordings.find(id))?.summary.id).toBe(id)
  expect(listings).toBe(1)
  const later = await write("four")
  expect((await recordings.find(later))?.file).toBe(path.join(folder, "four.json"))
  expect(listings).toBe(2)
})

it("finds a run whose file was moved, and not one whose file was removed", async () => {
  const recordings = Recordings.open(folder)
  const [moved, removed] = [await write("five"), await write("six")]
  await recordings.list()
  fs.renameSync(path.join(folder, "five.json"), path.join(folder, "seven.json"))
  fs.rmSync(path.join(folder, "six.json"))
  expect((await recordings.find(moved))?.file).toBe(path.join(folder, "seven.json"))
  expect(await recordings.find(removed)).toBeUndefined()
})

const transcript = (): string => fs.readFileSync(path.join(folder, "one.json"), "utf8")

const damagedRuns = {
  "that is truncated": [(text: string) => text.slice(0, 200), "It may be truncated. Restore it from a backup"],
  "that another version wrote": [
    (text: string) => text.replace('"version":1', '"version":99'),
    "has version 99, but only version 1 is supported. Use the release of Divisi that wrote it, or a newer one."
  ]
} as const

it.each(Object.entries(damagedRuns))("lists a run %s, with the file and a remedy", async (name, [damage, problem]) => {
  const place = path.join(folder, name)
  fs.mkdirSync(place)
  fs.writeFileSync(path.join(place, "damaged.json"), damage(transcript()))
  fs.writeFileSync(path.join(place, "other.json"), '{"runId": 1, "about": "no run"}')
  const [listed, ...others] = await Recordings.open(place).list()
  expect(others).toEqual([])
  expect(listed?.summary).toMatchObject({ id: "damaged.json", state: "damaged" })
  expect(listed?.summary.damaged).toContain(path.join(place, "damaged.json"))
  expect(listed?.summary.damaged).toContain(problem)
})

const example = path.join(import.meta.dirname, "../../../docs/evals-example/results.json")

/** Creates the folder of an evaluation, and returns the answer of the studio for it. */
const evaluation = async (name: string, write: (place: string) => void) => {
  const place = path.join(folder, name, "evaluation")
  fs.mkdirSync(place, { recursive: true })
  fs.copyFileSync(example, path.join(place, "results.json"))
  write(place)
  const route = Folders.route(path.dirname(place))
  return {
    place,
    list: () => route(new URL("http://localhost/v1/evaluations")),
    open: () => route(new URL("http://localhost/v1/evaluations/evaluation"))
  }
}

it("opens an evaluation without its samples, and reports the missing file with a remedy", async () => {
  const { open, place } = await evaluation("no-samples", () => {})
  const problem = `Cannot use the evaluation "${path.join(place, "samples.jsonl")}": the file does not exist. Rerun the evaluation in the same folder to rewrite it; no answer is paid for twice.`
  expect(await open()).toMatchObject({ questions: [], profiles: [], problem })
})

it("lists an evaluation with damaged results, and rejects opening it with the same message", async () => {
  const { list, open } = await evaluation("damaged-results", (place) => {
    fs.truncateSync(path.join(place, "results.json"), 1_000)
    fs.writeFileSync(path.join(place, "samples.jsonl"), "")
  })
  const { data } = (await list()) as { readonly data: ReadonlyArray<{ readonly damaged: string }> }
  expect(data[0]?.damaged).toContain("Rerun the evaluation in the same folder")
  await expect(open()).rejects.toThrow(data[0]!.damaged)
})

it("lists a training run without its configuration", async () => {
  const place = path.join(folder, "trainings", "toy")
  fs.mkdirSync(path.join(place, "checkpoints"), { recursive: true })
  fs.writeFileSync(path.join(place, "metrics.jsonl"), "")
  const listed = await Folders.route(path.dirname(place))(new URL("http://localhost/v1/trainings"))
  expect(listed).toMatchObject({
    data: [{ id: "toy", damaged: expect.stringContaining("has no config.json. Restore it") }]
  })
})
