/**
 * Damages persistent data at random, from a seed, and then uses it. The data must be recovered unchanged or rejected
 * with a message.
 */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { Seed } from "@divisi/core"
import * as Evaluations from "./bytes/evaluations.ts"
import * as Models from "./bytes/models.ts"
import * as Records from "./bytes/records.ts"
import type { Outcome, Subject } from "./bytes/Subject.ts"
import * as Trainings from "./bytes/trainings.ts"
import * as Damage from "./Damage.ts"

export const subjects: ReadonlyArray<Subject> = [
  Evaluations.journal,
  Evaluations.answers,
  Evaluations.report,
  Records.cache,
  Records.transcript,
  Trainings.training,
  Models.header,
  Models.model,
  Models.weights,
  Models.adapter,
  Models.tokenizer,
  Records.events
]

/** A subject that is there whole, to be copied and damaged. */
export interface Prepared {
  readonly subject: Subject
  readonly folder: string
}

/** A case that failed. */
export interface Problem {
  readonly subject: string
  readonly seed: number
  readonly how: string
  readonly problem: string
}

/** A copy of a subject's folder, to be used up. */
const copyOf = (folder: string): string => {
  const copy = `${folder}-damaged`
  fs.rmSync(copy, { recursive: true, force: true })
  fs.cpSync(folder, copy, { recursive: true })
  return copy
}

/** Creates all subjects in a temporary folder and uses each one undamaged; {@link close} removes the folder. */
export const prepare = async (): Promise<ReadonlyArray<Prepared>> => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-bytes-"))
  const prepared: Array<Prepared> = []
  for (const [index, subject] of subjects.entries()) {
    const folder = path.join(root, String(index))
    fs.mkdirSync(folder)
    await subject.make(folder)
    if ((await subject.use(copyOf(folder))) !== "right") throw new Error(`${subject.name} is refused undamaged`)
    prepared.push({ subject, folder })
  }
  return prepared
}

/** Removes what {@link prepare} made. */
export const close = (prepared: ReadonlyArray<Prepared>): void => {
  for (const { folder } of prepared.slice(0, 1)) fs.rmSync(path.dirname(folder), { recursive: true, force: true })
}

/** Damages a copy of one file of a subject, and uses it. */
export const run = async ({ folder, subject }: Prepared, seed: number): Promise<Outcome | Problem> => {
  const copy = copyOf(folder)
  const name = Seed.pick(Seed.draw(Seed.spread(seed, "file")), subject.files)
  const file = path.join(copy, name)
  const { bytes, how } = Damage.make(fs.readFileSync(file), seed)
  fs.writeFileSync(file, bytes)
  try {
    return await subject.use(copy)
  } catch (error) {
    const problem = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    return { subject: subject.name, seed, how: `${name}: ${how}`, problem }
  }
}
