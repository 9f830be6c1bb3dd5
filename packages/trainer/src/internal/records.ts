/** Reads the small files of a run folder, verifying their checksum and structure. */
import * as fs from "node:fs"
import * as path from "node:path"
import { Sealed } from "@divisi/files"
import * as Layout from "../RunLayout.ts"
import { grpo, type TrainingConfig, version, warmStart } from "../TrainingConfig.ts"
import * as Shape from "./shape.ts"

/** File written by a different version. */
export class OtherVersion {
  readonly found: unknown
  constructor(found: unknown) {
    this.found = found
  }
}

/** Reads a file of the run folder. Throws a description of the problem, or `OtherVersion`. */
const read = (
  folder: string,
  name: string,
  flawOf: (value: object) => string | undefined,
  isVersioned = false
): object => {
  const wrong = (detail: string) => new Error(`${name} cannot be used: ${detail}`)
  try {
    const value: unknown = JSON.parse(fs.readFileSync(path.join(folder, name), "utf8"))
    const { version: found } = Sealed.open(value, { isOptional: true }) as { readonly version?: unknown }
    if (isVersioned && found !== version) throw new OtherVersion(found)
    const opened = Sealed.open(value)
    const flaw = flawOf(opened)
    if (flaw === undefined) return opened
    throw wrong(flaw)
  } catch (error) {
    if (error instanceof SyntaxError) throw wrong(`it is not JSON (${error.message})`)
    throw error instanceof Sealed.DamageError ? wrong(error.message) : error
  }
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

/** Whether a reference points outside the folder in which the engine saves its state. */
const leadsAway = (reference: string): boolean =>
  path.posix.isAbsolute(reference) || path.win32.isAbsolute(reference) || reference.split(/[\\/]/).includes("..")

const exampleConfig = {
  name: "",
  seed: 1,
  engine: { name: "", model: "" },
  pool: [],
  grader: "",
  phases: [],
  checkpoints: { every: 1, keep: 1 },
  evaluateEvery: 0,
  recordRollouts: true,
  versions: {}
}

const defaults = grpo()

/** All settings of the Conductor's runs are optional. */
const exampleGrpo = { ...defaults, rollouts: { ...defaults.rollouts, run: {} } }

const configFlaw = (value: object): string | undefined => {
  const { phases, pool } = value as TrainingConfig
  const exampleOf = (phase: unknown) =>
    (phase as { readonly type?: unknown } | null)?.type === "warm-start" ? warmStart() : exampleGrpo
  return (
    Shape.flaw(value, exampleConfig, "") ??
    Shape.flawOfEach(pool, () => ({ id: "" }), "pool") ??
    Shape.flawOfEach(phases, exampleOf, "phases")
  )
}

/** Reads the configuration of a run. */
export const config = (folder: string): TrainingConfig =>
  read(folder, Layout.config, configFlaw, true) as TrainingConfig

const saved = { reference: "", version: 0 }

const exampleState = {
  engine: saved,
  iteration: 0,
  phase: 0,
  phaseIteration: 0,
  position: 0,
  costUsd: 0,
  files: {}
}

const stateFlaw = (checkpoint: number) => (value: object) => {
  const { best, engine, files, iteration, phase, phaseIteration, position, reference } = value as Layout.TrainerState
  const flaw =
    Shape.flaw(value, exampleState, "") ??
    (reference === undefined ? undefined : Shape.flaw(reference, saved, "reference")) ??
    (best === undefined ? undefined : Shape.flaw(best, { iteration: 0, score: 0 }, "best"))
  if (flaw !== undefined) return flaw
  if (iteration !== checkpoint) return `it belongs to checkpoint ${iteration}`
  if (![phase, phaseIteration, position, best?.iteration ?? 0].every(isCount)) return "its counts are invalid"
  const leading = [engine.reference, reference?.reference ?? "", ...Object.keys(files)].find(leadsAway)
  return leading === undefined ? undefined : `${leading} points outside its folder`
}

/** Reads the state of a run at a checkpoint. */
export const state = (folder: string, checkpoint: number): Layout.TrainerState =>
  read(
    folder,
    `${Layout.checkpointOf(checkpoint)}/${Layout.state}`,
    stateFlaw(checkpoint),
    true
  ) as unknown as Layout.TrainerState

/** Reads which checkpoint is the best one. Returns `undefined` if none is recorded. */
export const best = (folder: string): Layout.Best | undefined => {
  const flawOf = (value: object) =>
    Shape.flaw(value, { iteration: 0, score: 0 }, "") ??
    (isCount((value as Layout.Best).iteration) ? undefined : "its iteration is not a whole number")
  return fs.existsSync(path.join(folder, Layout.best)) ? (read(folder, Layout.best, flawOf) as Layout.Best) : undefined
}

const begin: Layout.Mark = { phase: 0, position: 0 }

const spentFlaw = (value: object): string | undefined => {
  const { costUsd, mark = begin } = value as Partial<Layout.Spent>
  if (typeof costUsd !== "number" || !(costUsd >= 0)) return "it has no cost in USD"
  return [mark?.phase, mark?.position].every(isCount) ? undefined : "its mark is invalid"
}

/** Reads the spend of a run. */
export const spent = (folder: string): Layout.Spent => {
  if (!fs.existsSync(path.join(folder, Layout.spent))) return { costUsd: 0, mark: begin }
  try {
    const { costUsd, mark = begin } = read(folder, Layout.spent, spentFlaw) as Partial<Layout.Spent>
    return { costUsd: costUsd!, mark }
  } catch (error) {
    const { message } = error as Error
    throw new Error(`${message}. Delete it to count only the cost recorded in the last checkpoint.`)
  }
}
