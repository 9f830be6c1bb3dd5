/**
 * Tasks of the gym: generated from a seed, split into training, validation and test sets, and graded exactly.
 *
 * Generation is deterministic: equal options produce equal tasks on every machine. Each split has a separate seed
 * range, and the hash of the question assigns it to exactly one split. Splits therefore never share a question, however
 * many are generated.
 */
import { Options as Tables } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import * as Hash from "effect/Hash"
import { type AnyFamilyName, type Difficulty, type FamilyName, families, names } from "./Family.ts"
import * as Composite from "./internal/composite.ts"
import * as Draw from "./internal/draw.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The version of the generators. Tasks of a given version never change. */
export const version = 1

/** The data split of a task. */
export type Split = "train" | "validation" | "test"

/** Seed range of each split. `to` is exclusive. */
export const seedRanges: { readonly [Name in Split]: { readonly from: number; readonly to: number } } = {
  train: { from: 0, to: 1_000_000_000 },
  validation: { from: 1_000_000_000, to: 1_500_000_000 },
  test: { from: 1_500_000_000, to: 2_000_000_000 }
}

/** Range of question hashes assigned to each split, in tenths. */
const shares: { readonly [Name in Split]: { readonly from: number; readonly to: number } } = {
  train: { from: 0, to: 8 },
  validation: { from: 8, to: 9 },
  test: { from: 9, to: 10 }
}

/** A part of a question: its family, its text, and the earlier parts whose answers it uses. */
export type Part<Name extends AnyFamilyName = FamilyName> = Composite.PlannedPart<Name>

/** Metadata of a generated task. Not visible to workers. */
export interface Metadata<Name extends AnyFamilyName = FamilyName> {
  /** The family of the question, or `"composite"`. */
  readonly family: Name | "composite"
  readonly difficulty: Difficulty
  readonly parts: ReadonlyArray<Part<Name>>
  readonly split: Split
  readonly seed: number
}

/** Options for {@link tasks}. */
export interface Options {
  readonly split: Split
  readonly count: number
  /** Selects a different series of tasks within the split. Default: 0. */
  readonly seed?: number | undefined
  /** The families to sample from. Default: all families that do not require a tool, plus `having`. */
  readonly families?: ReadonlyArray<AnyFamilyName> | undefined
  /** Restricts the tasks to those that contain this family, alone or as a part of a composite. */
  readonly having?: AnyFamilyName | undefined
  /** The difficulty of all tasks. Default: equal shares of all three levels. */
  readonly difficulty?: Difficulty | undefined
  /** The share of composite questions, from 0 to 1. Default: 0.4. */
  readonly composites?: number | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Tasks
// -------------------------------------------------------------------------------------------------------------------

const defaultComposites = 0.4

/** Number of attempts per seed to generate a question that belongs to the split. After that, the seed is skipped. */
const drawsPerSeed = 200

const tenth = (question: string): number => Math.abs(Hash.string(question)) % 10

/** Number of consecutive seeds without a new question after which no more are expected. */
const mostFruitless = 5_000

type Drawn = Composite.Composite & Pick<Metadata<AnyFamilyName>, "family" | "difficulty">

const single = (draw: Draw.Draw, choice: ReadonlyArray<AnyFamilyName>, difficulty: Difficulty): Drawn => {
  const family = draw.pick(choice)
  const { answer, question } = families[family].generate(draw, difficulty)
  return { family, difficulty, question, answer, parts: [{ family, question, needs: [] }] }
}

/** Returns the selected families, or the default families plus the requested one. */
const choiceOf = ({ families, having }: Options): ReadonlyArray<AnyFamilyName> =>
  families ?? (having === undefined ? names : [...new Set([...names, having])])

const drawOne = (draw: Draw.Draw, options: Options): Drawn => {
  const { composites = defaultComposites, having } = options
  const choice = choiceOf(options)
  const alone = having === undefined ? choice : [having]
  const difficulty = options.difficulty ?? draw.pick<Difficulty>([1, 2, 3])
  if (choice.length < 2 || !draw.chance(composites)) return single(draw, alone, difficulty)
  const composite = Composite.generate(draw, choice, difficulty, having)
  return composite === undefined ? single(draw, alone, difficulty) : { family: "composite", difficulty, ...composite }
}

const taskOf = (seed: number, options: Options): Task.Task | undefined => {
  const draw = Draw.make(Draw.derive(version, seed))
  const share = shares[options.split]
  for (let attempt = 0; attempt < drawsPerSeed; attempt++) {
    const { answer, difficulty, family, parts, question } = drawOne(draw, options)
    const place = tenth(question)
    if (place < share.from || place >= share.to) continue
    const metadata: Metadata<AnyFamilyName> = { family, difficulty, parts, split: options.split, seed }
    return Task.make({ id: `gym-${options.split}-${seed}`, question, reference: answer, metadata: { ...metadata } })
  }
  return undefined
}

const table = Tables.table(
  {
    split: Tables.oneOf("train", "validation", "test"),
    count: Tables.whole(0),
    seed: Tables.expects("a whole number", Number.isSafeInteger),
    families: Tables.listOf(Tables.oneOf(...names, ...Object.keys(families))),
    having: Tables.oneOf(...Object.keys(families)),
    difficulty: Tables.whole(1, 3),
    composites: Tables.number(0, 1)
  } satisfies Tables.ShapeOf<Options>,
  { required: ["split", "count"] }
)

const checkOptions = (what: string, options: Options): void => {
  Tables.check(what, options, table)
  const { families, having } = options
  if (families !== undefined && families.length === 0) throw new RangeError("Name at least one family of tasks.")
  if (families !== undefined && having !== undefined && !families.includes(having)) {
    throw new RangeError(`The families must include "${having}", because every task must have a part of this family.`)
  }
}

/** Returns the first seed of a series. Series are spread over the split, so that they do not overlap. */
const firstSeed = ({ seed = 0, split }: Options): number => {
  const { from, to } = seedRanges[split]
  return seed === 0 ? from : from + (Math.abs(Draw.derive("first", seed)) % (to - from))
}

/**
 * Generates a stream of tasks from a split, without duplicate questions. The stream ends once 5,000 seeds in a row
 * yield no new question.
 *
 * **Example**
 *
 * ```ts
 * import * as Gym from "@divisi/gym/Gym"
 *
 * for (const task of Gym.stream({ split: "train", seed: 7 })) {
 *   if (task.metadata?.family === "calendar") break
 * }
 * ```
 */
export function* stream(options: Omit<Options, "count">): Generator<Task.Task, void> {
  checkOptions("Gym.stream", { ...options, count: 0 })
  const { from, to } = seedRanges[options.split]
  const asked = new Set<string>()
  const first = firstSeed({ ...options, count: 0 })
  let last = 0
  for (let offset = 0; offset < to - from && offset - last < mostFruitless; offset++) {
    const seed = from + ((first - from + offset) % (to - from))
    const task = taskOf(seed, { ...options, count: 0 })
    if (task === undefined || asked.has(Task.question(task))) continue
    asked.add(Task.question(task))
    last = offset
    yield task
  }
}

/**
 * Generates tasks from a split.
 *
 * **Details**
 *
 * Equal options produce equal tasks, and a smaller `count` returns a prefix of the same list. No question occurs twice.
 *
 * **Gotchas**
 *
 * Each family has a finite number of questions per difficulty. Requesting more throws a `RangeError`.
 *
 * **Example**
 *
 * ```ts
 * import * as Gym from "@divisi/gym/Gym"
 *
 * const tasks = Gym.tasks({ split: "test", count: 3, families: ["calendar"] })
 * tasks.length // => 3
 * ```
 */
export const tasks = (options: Options): ReadonlyArray<Task.Task> => {
  checkOptions("Gym.tasks", options)
  const found: Array<Task.Task> = []
  if (options.count === 0) return found
  let tried = 0
  for (const task of stream(options)) {
    found.push(task)
    if (found.length === options.count) return found
    tried += 1
  }
  throw new RangeError(
    `There are only ${tried} such tasks in the ${options.split} split, but ${options.count} were requested.`
  )
}

/**
 * Returns the metadata of a gym task, or `undefined` for any other task. If tasks may have parts that require a tool,
 * use `metadata<AnyFamilyName>`.
 */
export const metadata = <Name extends AnyFamilyName = FamilyName>(task: Task.Task): Metadata<Name> | undefined =>
  Array.isArray(task.metadata?.parts) ? (task.metadata as unknown as Metadata<Name>) : undefined
