/** Serves the evaluations and training runs below a folder to the studio. */
import { existsSync, statSync } from "node:fs"
import path from "node:path"
import { ReportFile, Report as Reports, WorkerProfile } from "@divisi/evals"
import { Evaluations, StudioServer, Trainings } from "@divisi/studio"
import { RunFolder, RunLayout } from "@divisi/trainer"
import * as Effect from "effect/Effect"
import * as Recordings from "./Recordings.ts"

/** The folder of an evaluation or a training run. Its id is its path relative to the root folder. */
interface Folder {
  readonly id: string
  readonly at: string
  readonly changedAt: number
}

/** The folders that contain a certain file, most recently changed first. */
interface Kind {
  readonly list: () => ReadonlyArray<Folder>
  /** Finds a folder by id. The root is listed again only if the id is unknown. */
  readonly find: (id: string) => Folder | undefined
}

const foldersWith = (place: string, name: string): Kind => {
  let known = new Map<string, Folder>()
  const folderOf = (file: string): Folder => {
    const at = path.dirname(file)
    const id = path.relative(place, at).split(path.sep).join("/") || path.basename(path.resolve(place))
    return { id, at, changedAt: Math.round(statSync(file).mtimeMs) }
  }
  const list = (): ReadonlyArray<Folder> => {
    const found = Recordings.filesIn(place, new RegExp(`^${name.replaceAll(".", "\\.")}$`)).map(folderOf)
    known = new Map(found.map((folder) => [folder.id, folder]))
    return found.sort((one, other) => other.changedAt - one.changedAt)
  }
  const find = (id: string): Folder | undefined => {
    const folder = known.get(id)
    const file = folder && path.join(folder.at, name)
    return file !== undefined && existsSync(file) ? folderOf(file) : list().find((one) => one.id === id)
  }
  return { list, find }
}

/** Caches a value per folder until the folder changes. */
const cached = <A>(make: (folder: Folder) => Promise<A>): ((folder: Folder) => Promise<A>) => {
  const known = new Map<string, { readonly changedAt: number; readonly value: Promise<A> }>()
  return (folder) => {
    const found = known.get(folder.at)
    if (found?.changedAt === folder.changedAt) return found.value
    const value = make(folder)
    if (known.size >= 8) known.delete(known.keys().next().value!)
    known.set(folder.at, { changedAt: folder.changedAt, value })
    value.catch(() => known.delete(folder.at))
    return value
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Evaluations
// -------------------------------------------------------------------------------------------------------------------

const samplesOf = cached(({ at }) => Recordings.readable(ReportFile.readSamples(at)))

const questionsOf = cached(({ at }) => Recordings.readable(ReportFile.readQuestions(at)))

const evaluationLine = (folder: Folder): Promise<ReadonlyArray<Evaluations.Line>> =>
  Effect.runPromise(
    Effect.match(ReportFile.read(folder.at), {
      onSuccess: (report) => [Evaluations.lineOf(folder.id, report, folder.changedAt)],
      onFailure: (error) => (error.reason === "foreign" || error.reason === "not-found" ? [] : [damaged(folder, error)])
    })
  )

const damaged = ({ changedAt, id }: Folder, { message }: Error): Evaluations.Line => ({
  id,
  title: id,
  damaged: message,
  policies: 0,
  samples: 0,
  planned: 0,
  isComplete: false,
  best: null,
  cost_usd: 0,
  is_play: false,
  changed_at: changedAt
})

const evaluation = async (folder: Folder): Promise<Evaluations.Opened> => {
  const report = await Recordings.readable(ReportFile.read(folder.at))
  try {
    const samples = await samplesOf(folder)
    return {
      id: folder.id,
      report,
      questions: Evaluations.questionsOf(report, samples),
      profiles: WorkerProfile.make(WorkerProfile.fromSamples(samples)).workers
    }
  } catch (error) {
    if (!(error instanceof StudioServer.Unreadable)) throw error
    return { id: folder.id, report, questions: [], profiles: [], problem: error.message }
  }
}

const answers = async (folder: Folder, benchmark: string, task: string): Promise<Evaluations.Answers | undefined> => {
  // Addresses have well-formed text only.
  const isAsked = (one: { readonly benchmark: string; readonly task: string }) =>
    one.benchmark.toWellFormed() === benchmark && one.task.toWellFormed() === task
  const samples = (await samplesOf(folder)).filter(isAsked)
  if (samples.length === 0) return undefined
  const fileOf = (run: string) => path.join(folder.at, "transcripts", `${run}.json`)
  const withRuns = samples.map((sample) => {
    const run = Reports.runId(sample)
    return { ...sample, run: existsSync(fileOf(run)) ? run : null }
  })
  const text = (await questionsOf(folder)).find(isAsked)
  return {
    question: text?.question ?? null,
    ...(text?.reference !== undefined && { reference: text.reference }),
    samples: withRuns
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Trainings
// -------------------------------------------------------------------------------------------------------------------

const training = cached(async ({ at, id }): Promise<Trainings.Opened> => {
  if (!existsSync(path.join(at, RunLayout.config))) {
    throw new StudioServer.Unreadable(
      `The training run in ${at} has no ${RunLayout.config}. Restore it from a backup, or start the run again in another folder.`
    )
  }
  const [config, metrics, rollouts] = await Promise.all([
    Recordings.readable(RunFolder.readConfig(at)),
    Recordings.readable(RunFolder.readMetrics(at)),
    Recordings.readable(RunFolder.rolloutIterations(at))
  ])
  return { id, config, metrics, rollouts } as Trainings.Opened
})

const trainingLine = async (folder: Folder): Promise<ReadonlyArray<Trainings.Line>> => {
  // Other programs have files of this name as well, but no folder of checkpoints or rollouts next to it.
  const isTraining = [RunLayout.config, RunLayout.checkpoints, RunLayout.rollouts].some((name) =>
    existsSync(path.join(folder.at, name))
  )
  if (!isTraining) return []
  try {
    const { config, metrics } = await training(folder)
    return [Trainings.lineOf(folder.id, config, metrics, folder.changedAt)]
  } catch (error) {
    const { message } = error as Error
    const unknown = { engine: "", iterations: 0, planned: 0, reward: null, correct: null, cost_usd: 0, is_play: false }
    return [{ id: folder.id, name: folder.id, damaged: message, ...unknown, changed_at: folder.changedAt }]
  }
}

const rollouts = async ({ at }: Folder, iteration: number): Promise<ReadonlyArray<Trainings.Group> | undefined> => {
  const known = await Recordings.readable(RunFolder.rolloutIterations(at))
  if (!known.includes(iteration)) return undefined
  return Trainings.groupsOf(await Recordings.readable(RunFolder.readRollouts(at, iteration)))
}

// -------------------------------------------------------------------------------------------------------------------
// Routes
// -------------------------------------------------------------------------------------------------------------------

/** The evaluations and training runs below a root folder. */
interface Kinds {
  readonly evaluations: Kind
  readonly trainings: Kind
}

const kindsIn = (place: string): Kinds => ({
  evaluations: foldersWith(place, "results.json"),
  trainings: foldersWith(place, "metrics.jsonl")
})

/** Responds to a path below `/v1/`, or returns `undefined` for an unknown path. Only listed folders are opened. */
const answer = async ({ evaluations, trainings }: Kinds, names: ReadonlyArray<string>): Promise<unknown> => {
  const [kind, id, part, ...rest] = names
  if (kind === "evaluations") {
    if (id === undefined) return { data: (await Promise.all(evaluations.list().map(evaluationLine))).flat() }
    const folder = evaluations.find(id)
    if (folder === undefined) return undefined
    if (part === undefined) return evaluation(folder)
    return part === "questions" && rest.length === 2 ? answers(folder, rest[0]!, rest[1]!) : undefined
  }
  if (kind === "trainings") {
    if (id === undefined) return { data: (await Promise.all(trainings.list().map(trainingLine))).flat() }
    const folder = trainings.find(id)
    if (folder === undefined) return undefined
    if (part === undefined) return training(folder)
    return part === "rollouts" && /^\d{1,9}$/.test(rest[0] ?? "") ? rollouts(folder, Number(rest[0])) : undefined
  }
  return undefined
}

const namesOf = (address: string): ReadonlyArray<string> =>
  address
    .replace(/^\/?v1\//, "")
    .split("/")
    .map(decodeURIComponent)

/** Creates the studio route for the evaluations and training runs below a folder. */
export const route = (place: string): ((url: URL) => Promise<unknown>) => {
  const kinds = kindsIn(place)
  return ({ pathname }) => answer(kinds, namesOf(pathname))
}

/** Maximum size of the answers and rollouts in an exported page, in characters. Further ones are left out. */
const maxCharacters = 48 * 1_048_576

/** Returns all data below a folder, keyed by path, for an exported page that works without a server. */
export const everything = async (place: string): Promise<Readonly<Record<string, unknown>>> => {
  const data: Record<string, unknown> = {}
  const kinds = kindsIn(place)
  let characters = 0
  const put = async (address: string): Promise<void> => {
    if (characters > maxCharacters) return
    const value = await answer(kinds, namesOf(address))
    characters += JSON.stringify(value)?.length ?? 0
    data[address] = value
  }
  const lists = [
    [Evaluations.path, Evaluations.pathOf],
    [Trainings.path, Trainings.pathOf]
  ] as const
  for (const [list, pathOf] of lists) {
    const listed = (await answer(kinds, namesOf(list))) as {
      readonly data: ReadonlyArray<Evaluations.Line | Trainings.Line>
    }
    if (listed.data.length === 0) continue
    data[list] = listed
    for (const { damaged, id } of listed.data) if (damaged === undefined) await put(pathOf(id))
  }
  for (const value of Object.values({ ...data })) {
    const { id, questions, rollouts: iterations } = value as Partial<Evaluations.Opened & Trainings.Opened>
    for (const question of questions ?? []) await put(Evaluations.answersPath(id!, question))
    for (const iteration of iterations ?? []) await put(Trainings.rolloutsPath(id!, iteration))
  }
  return data
}
