/**
 * Trains a reading Conductor in two parts: its readers on labelled text, and then its head, which chooses workers, on
 * the true properties of teams, the values of choices, and complete runs. Everything is determined by a seed.
 * Interrupted training is resumed.
 */
import fs from "node:fs"
import path from "node:path"
import { Reader } from "@divisi/gguf"
import * as ChoiceHead from "@divisi/policy-tiny/ChoiceHead"
import * as ReadingPolicy from "@divisi/policy-tiny/ReadingPolicy"
import * as ReaderTrainer from "@divisi/trainer-jax/ReaderTrainer"
import * as Effect from "effect/Effect"
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus"
import * as Teams from "../world/Teams.ts"
import * as Choices from "./Choices.ts"
import * as Examples from "./Examples.ts"
import * as TeamRuns from "./TeamRuns.ts"
import * as WholeRuns from "./WholeRuns.ts"

// -------------------------------------------------------------------------------------------------------------------
// The reader
// -------------------------------------------------------------------------------------------------------------------

/** The options of a training of the reader. */
export interface ReaderOptions {
  /** The folder of checkpoints. */
  readonly folder: string
  readonly seed: number
  readonly steps: number
  /** Word vectors. Default: none. */
  readonly vectors?: Reader.Vectors | undefined
  /** Stops after this number of steps, so that the training can be resumed. Default: `steps`. */
  readonly until?: number | undefined
  /** The sizes of a batch. Default: those of the examples. */
  readonly shape?: ReaderTrainer.Shape | undefined
  /** Steps between checkpoints; 200 by default. */
  readonly everySteps?: number | undefined
  /** Called at each checkpoint with the mean loss since the last. */
  readonly onCheckpoint?: ((step: number, loss: number) => void) | undefined
}

const [rate, warmUp, steady] = [3e-3, 40, 0.4]

/** The learning rate rises to its maximum, stays there, and falls to zero. */
const rateAt = (step: number, steps: number): number => {
  if (step < warmUp) return (rate * (step + 1)) / warmUp
  return rate * Math.min(1, (steps - step) / (steps * (1 - steady)))
}

const fileOf = (folder: string, name: string) => path.join(folder, `${name}.gguf`)

/** The weights are written last, because they record the progress of the training. */
const parts = ["first", "second", "weights"] as const

/** The training in the folder, or one that has not begun. */
const resume = Effect.fnUntraced(function* ({ folder, seed, vectors }: ReaderOptions) {
  if (!fs.existsSync(fileOf(folder, "weights"))) return ReaderTrainer.begin(seed, vectors)
  const [first, second, weights] = yield* Effect.forEach(parts, (name) => Reader.load(fileOf(folder, name)))
  const done = [first, second, weights].map((one) => one!.metadata["divisi.steps"])
  if (new Set(done).size > 1) throw new Error(`The files of ${folder} are of different steps: ${done.join(", ")}.`)
  const training: ReaderTrainer.Training = {
    weights: weights!.readers[0]!,
    first: first!.readers[0]!,
    second: second!.readers[0]!,
    steps: Number(done[0])
  }
  return training
})

/** Trains a reader, or resumes the training in the folder. The same seed gives the same weights. */
export const trainReader = Effect.fnUntraced(function* (options: ReaderOptions) {
  const { everySteps = 200, folder, onCheckpoint, seed, shape = Examples.shape, steps, until = steps } = options
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  const training = yield* resume(options)
  if (training.steps >= until) return training.weights
  const step = yield* Effect.promise(() => ReaderTrainer.make(training, shape))
  let losses: Array<number> = []
  while (training.steps < until) {
    const at = training.steps
    losses.push(yield* Effect.promise(() => step(Examples.batch(seed, at, shape), rateAt(at, steps))))
    if (training.steps % everySteps !== 0 && training.steps < until) continue
    const metadata = { "divisi.seed": String(seed), "divisi.steps": String(training.steps) }
    for (const name of parts) yield* Reader.save(fileOf(folder, name), { readers: [training[name]], metadata })
    onCheckpoint?.(training.steps, losses.reduce((sum, one) => sum + one, 0) / losses.length)
    losses = []
  }
  return training.weights
})

// -------------------------------------------------------------------------------------------------------------------
// The head
// -------------------------------------------------------------------------------------------------------------------

/** The options of a training of the head. */
export interface HeadOptions {
  /** The folder of the trainer's run. Its contents are replaced. */
  readonly folder: string
  readonly seed: number
  /** Teams that it learns from. */
  readonly teams: number
  /** The number of steps on true values of workers, and then of steps on the value of choices. Default: 1,000. */
  readonly steps?: number | undefined
  /** Steps of whole runs; 0 by default. */
  readonly rollouts?: number | undefined
  /** Teams of each kind on the gate; 40 by default. */
  readonly gateTeams?: number | undefined
  /** Called after each step of whole runs with the mean reward. */
  readonly onRollouts?: ((step: number, reward: number) => void) | undefined
  /** Called with the shares of right answers on the gate before whole runs and after them. */
  readonly onGate?: ((before: number, after: number) => void) | undefined
}

const batch = 64
const [headRate, valueRate] = [0.02, 0.01]
/** The weight of the true values of workers in a step on the value of choices, and in a step on whole runs. */
const [lessonShareOfValues, lessonShare] = [0.05, 0.1]

/** Teams for validation on which whole runs must not lower the share of right answers: known and held-out splits. */
const gate: ReadonlyArray<Partial<Teams.Options>> = [
  {},
  { heldOutShapes: true },
  { words: "related" },
  { heldOutQuestions: true },
  { careless: true },
  { truth: "doubtful", record: 20 }
]

/** The share of right answers on the gate. */
const onTheGate = Effect.fnUntraced(function* (model: ReadingPolicy.Model, seed: number, count: number) {
  const teams = gate.flatMap((options) => Teams.draw({ ...options, split: "validation", seed: 900 + seed, count }))
  const runs = yield* TeamRuns.measure(ReadingPolicy.make(model), teams)
  return runs.reduce((sum, { right }) => sum + right, 0) / runs.length
})

/** Trains the head of readers. The change from whole runs is kept if it has more right answers in the gate. */
export const trainHead = Effect.fnUntraced(function* (readers: ReadonlyArray<Reader.Weights>, options: HeadOptions) {
  const { folder, gateTeams = 40, onGate, onRollouts, rollouts = 0, seed, steps = 1000 } = options
  const generator = xoroshiro128plus(seed)
  const uniform = () => (generator.next() >>> 0) / 2 ** 32
  const head = Float64Array.from({ length: ChoiceHead.size }, () => uniform() - 0.5)
  const all = Choices.lessons(Choices.teamsOf(seed, options.teams), ReadingPolicy.read(readers))
  const some = () =>
    Array.from({ length: batch }, () => Choices.partlyUnread(all[Math.floor(uniform() * all.length)]!, uniform))
  const climb = Choices.ascent(head)
  for (let step = 0; step < steps; step++) {
    const sums = new Float64Array(ChoiceHead.size)
    Choices.addLessons(sums, head, some())
    climb(sums, headRate * (1 - step / steps))
  }
  const towards = Choices.ascent(head)
  for (let step = 0; step < steps; step++) {
    const sums = new Float64Array(ChoiceHead.size)
    const lessons = some()
    Choices.addLessons(sums, head, lessons, lessonShareOfValues)
    Choices.addValues(sums, head, lessons, uniform)
    towards(sums, valueRate * (1 - step / steps))
  }
  if (rollouts === 0) return head
  const tried = yield* WholeRuns.train(
    { readers, head },
    {
      folder,
      seed,
      iterations: rollouts,
      teams: Choices.teamsOf(seed + 1, rollouts * WholeRuns.questions),
      addLessons: (sums, present) => Choices.addLessons(sums, present, some(), lessonShare),
      onIteration: onRollouts
    }
  )
  const before = yield* onTheGate({ readers, head }, seed, gateTeams)
  const after = yield* onTheGate({ readers, head: tried }, seed, gateTeams)
  onGate?.(before, after)
  return after > before ? tried : head
})
