/** The runs of a folder as `divisi studio` reads them. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { conduct, policy, worker } from "@divisi/core/promise"
import { afterAll, beforeAll, expect, it } from "vitest"
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
