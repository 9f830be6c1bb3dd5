/**
 * A head: a linear layer on top of a question's embedding, which decides on the next worker and its role.
 *
 * This is the coordinator of TRINITY (arXiv 2512.04695): a frozen small model, here any `Embedder`, with about ten
 * thousand weights on top, one row per worker and one per role. In addition to the question, it sees the progress of
 * the run. It is learned from graded answers ({@link fit}), and can be trained further on whole runs (`Evolution`).
 */
import fs from "node:fs"
import path from "node:path"
import { Embedder, Options as Tables } from "@divisi/core"
import { Sealed, UserFolders, WholeFile } from "@divisi/files"
import { detailOf } from "@divisi/files/FileError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Example } from "../Outcomes.ts"
import * as Space from "../space.ts"
import { isWorker } from "../Table.ts"
import { argmax, pointOf, textOf } from "../vectors.ts"
import * as Fitting from "./fitting.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The version of heads on disk. */
export const version = 1

/**
 * The roles of a turn: a thinker advises, a worker answers, a verifier accepts or rejects the answer. `stop` accepts
 * the answer without a verifier. It is not in the paper, but makes runs with a single call possible.
 */
export const roles = ["thinker", "worker", "verifier", "stop"] as const

/** One of {@link roles}. */
export type Role = (typeof roles)[number]

/** The maximum number of turns in a run, as in the paper. `stop` does not count as a turn. */
export const mostTurns = 5

/** The progress of a run. */
export interface Situation {
  /** The number of turns so far. */
  readonly turn: number
  /** Whether a thinker has advised since the last answer. */
  readonly isAdvised: boolean
  /** Whether there is an acceptable answer. */
  readonly hasAnswer: boolean
  /** Whether a verifier has rejected the last answer. */
  readonly isDoubted: boolean
}

/** The situation at the start of a run. */
export const atStart: Situation = { turn: 0, isAdvised: false, hasAnswer: false, isDoubted: false }

/** How the head sees a situation; the first number is always 1, the second whether there is an answer. */
const situationOf = ({ hasAnswer, isAdvised, isDoubted, turn }: Situation): ReadonlyArray<number> => [
  1,
  hasAnswer ? 1 : 0,
  isDoubted ? 1 : 0,
  isAdvised ? 1 : 0,
  turn / mostTurns
]

/** The numbers of a situation. */
const situations = situationOf(atStart).length

const Training = Schema.Struct({
  /** Graded questions that it was fitted to. */
  questions: Schema.Finite,
  /**
   * How strongly its numbers were held small; `null` where questions tell nothing and only the workers' means count.
   */
  penalty: Schema.NullOr(Schema.Finite),
  /** Generations that it was evolved for, and the runs of them. */
  generations: Schema.Finite,
  runs: Schema.Finite
})

const File = Schema.Struct({
  version: Schema.Literal(version),
  embedder: Schema.String,
  workers: Schema.Array(Schema.String).check(Schema.isMinLength(1)),
  /** The shift and scale of the embedder's points, in base64. */
  space: Schema.Struct({ mean: Schema.String, scale: Schema.String }),
  /** The rows of the workers and then of the roles, each of the point and then of the situation, in base64. */
  weights: Schema.String,
  training: Training
})

/** The training data and settings of a head. */
export type Training = typeof Training.Type

/** A learned head. */
export interface Head {
  readonly embedder: string
  /** The ids of the workers that it can choose. */
  readonly workers: ReadonlyArray<string>
  readonly space: Space.Space
  /** The weights, row by row: first the workers, then the {@link roles}. */
  readonly weights: Float32Array
  readonly training: Training
}

/** Nothing can be learned, or a file does not contain a head. */
export class HeadError extends Data.TaggedError("HeadError")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Deciding
// -------------------------------------------------------------------------------------------------------------------

/** The worker to call and its role. With `stop`, the worker is meaningless. */
export interface Choice {
  readonly role: Role
  readonly worker: string
}

/** A head's logits for each worker and each role. */
export interface Logits {
  readonly workers: ReadonlyArray<number>
  readonly roles: ReadonlyArray<number>
}

/** The numbers of a row. */
const widthOf = ({ space }: Pick<Head, "space">): number => space.mean.length + situations

/** Returns the indices of the situations' weights in {@link Head.weights}, row by row. */
export const situationWeights = (head: Head): ReadonlyArray<number> => {
  const width = widthOf(head)
  return [...head.weights.keys()].filter((at) => at % width >= width - situations)
}

/** Returns the head's outputs for the place of a question (`Space.place` of its embedding). */
export const logits = (head: Head, place: Float32Array, situation: Situation): Logits => {
  const width = widthOf(head)
  const seen = situationOf(situation)
  const all = Array.from({ length: head.workers.length + roles.length }, (_, row) => {
    let sum = 0
    for (let at = 0; at < place.length; at++) sum += head.weights[row * width + at]! * place[at]!
    for (let at = 0; at < situations; at++) sum += head.weights[row * width + place.length + at]! * seen[at]!
    return sum
  })
  return { workers: all.slice(0, head.workers.length), roles: all.slice(head.workers.length) }
}

/** Returns the place of a question in the head's space from its embedding, for {@link decide}. */
export const place = ({ space }: Head, point: Float32Array): Float32Array => Space.place(space, point)

/** Whether a role makes sense: there has to be an answer to verify or accept, and a turn left for the next step. */
const isPossible = (role: Role, { hasAnswer, isDoubted, turn }: Situation): boolean => {
  const left = mostTurns - turn
  if (role === "stop") return hasAnswer
  if (role === "verifier") return hasAnswer && !isDoubted && left > 1
  return role === "thinker" ? left > 1 : left > 0
}

/** The constraints of a decision. */
export interface Wanted {
  /** The workers that may be called. Default: all. */
  readonly among?: ReadonlyArray<string> | undefined
  /** The worker that gave the answer. Another worker verifies it, if there is one. */
  readonly answeredBy?: string | undefined
}

/** Returns the next turn of a run. `place` is the result of {@link place} for the question. */
export const decide = (head: Head, place: Float32Array, situation: Situation, wanted: Wanted = {}): Choice => {
  const said = logits(head, place, situation)
  const possible = roles.map((role, at) => (isPossible(role, situation) ? said.roles[at]! : Number.NEGATIVE_INFINITY))
  const role = roles[argmax(possible)]!
  const { among = head.workers, answeredBy } = wanted
  const others = role === "verifier" ? among.filter((id) => id !== answeredBy) : among
  const may = new Set(others.length === 0 ? among : others)
  const by = head.workers.map((id, at) => (may.has(id) ? said.workers[at]! : Number.NEGATIVE_INFINITY))
  return { role, worker: head.workers[argmax(by)]! }
}

// -------------------------------------------------------------------------------------------------------------------
// Learning
// -------------------------------------------------------------------------------------------------------------------

/** Options for fitting a head. */
export interface FitOptions {
  /** The name of the examples' embedder. Default: that of `Embedder.hashed()`. */
  readonly embedder?: string | undefined
}

/**
 * Initially, the roles describe one worker whose answer is accepted: the base score of each role, and its change once
 * there is an answer.
 */
const firstRoles: Readonly<Record<Role, readonly [number, number]>> = {
  thinker: [-0.1, 0],
  worker: [0.1, -0.1],
  verifier: [-0.1, 0],
  stop: [0, 0.1]
}

/**
 * Learns from graded questions which worker is expected to score highest: for each worker, a ridge regression of its
 * scores on the places of the questions that it answered.
 *
 * **Details**
 *
 * The penalty is the strongest whose choices on a fifth of the questions are as good as the best, within one standard
 * error. If none beats the means alone by that rule, or too few questions were answered by more than one worker, the
 * head always calls the best worker. Initially, the roles describe one worker whose answer is accepted; their use is
 * learned on whole runs (`Evolution`). Teams (`policy:<name>`) are omitted. Equal examples give equal heads.
 */
export const fit = (examples: ReadonlyArray<Example>, options: FitOptions = {}): Result.Result<Head, HeadError> => {
  Tables.check("Head.fit", options, { embedder: Tables.name } satisfies Tables.ShapeOf<FitOptions>)
  const workers = [...new Set(examples.flatMap(({ scores }) => [...scores.keys()]))].filter(isWorker).sort()
  if (workers.length === 0) return Result.fail(new HeadError({ detail: "There are no graded answers to learn from." }))
  const space = Space.of(examples.map(({ point }) => point))
  const fitted = Fitting.fit(
    examples.map(({ point, scores }) => ({
      place: Space.place(space, point),
      scores: workers.map((worker) => scores.get(worker))
    }))
  )
  const dimensions = space.mean.length
  const width = dimensions + situations
  const weights = new Float32Array((workers.length + roles.length) * width)
  for (const [row, { mean, slopes }] of fitted.rows.entries()) {
    weights.set(slopes, row * width)
    weights[row * width + dimensions] = mean
  }
  for (const [at, role] of roles.entries()) weights.set(firstRoles[role], (workers.length + at) * width + dimensions)
  const training = { questions: examples.length, penalty: fitted.penalty ?? null, generations: 0, runs: 0 }
  return Result.succeed({ embedder: options.embedder ?? Embedder.hashed().name, workers, space, weights, training })
}

/**
 * Returns the choices of heads learned from some questions, as judged by `Replay.compare` (`learner`). At least one
 * question must have a graded answer.
 */
export const learner =
  (options: FitOptions = {}) =>
  (training: ReadonlyArray<Example>): ((example: Example) => string) => {
    const head = Result.getOrThrow(fit(training, options))
    return ({ point }) => decide(head, place(head, point), atStart).worker
  }

// -------------------------------------------------------------------------------------------------------------------
// Files
// -------------------------------------------------------------------------------------------------------------------

/** The default file: the path in `DIVISI_HEAD`, otherwise `head.json` in the user's data folder. */
export const defaultFile: Effect.Effect<string> = UserFolders.dataFile("head.json", "DIVISI_HEAD")

const decodeFile = Schema.decodeUnknownResult(File)

/** Reads a head from parsed JSON. */
export const parse = (value: unknown): Result.Result<Head, HeadError> =>
  Result.flatMap(
    Result.mapError(
      decodeFile(value),
      ({ message }) => new HeadError({ detail: `This is not a routing head: ${message}` })
    ),
    ({ embedder, space, training, weights, workers }) => {
      const head: Head = {
        embedder,
        workers,
        space: { mean: pointOf(space.mean), scale: pointOf(space.scale) },
        weights: pointOf(weights),
        training
      }
      const expected = (workers.length + roles.length) * widthOf(head)
      const isWhole = head.weights.length === expected && head.space.mean.length === head.space.scale.length
      if (isWhole && head.weights.every(Number.isFinite)) return Result.succeed(head)
      return Result.fail(new HeadError({ detail: `This is not a routing head: expected ${expected} finite weights.` }))
    }
  )

/** Converts a head to a JSON value. */
export const toJson = ({ embedder, space, training, weights, workers }: Head): typeof File.Type => ({
  version,
  embedder,
  workers,
  space: { mean: textOf(space.mean), scale: textOf(space.scale) },
  weights: textOf(weights),
  training
})

/** Reads the head of a file; `undefined` if the file does not exist. */
export const read = (file: string): Effect.Effect<Head | undefined, HeadError> =>
  Effect.suspend(() => {
    if (!fs.existsSync(file)) return Effect.succeed(undefined)
    return Effect.flatMap(
      Effect.try({
        try: () => Sealed.parse(fs.readFileSync(file, "utf8")),
        catch: (error) => new HeadError({ detail: detailOf(error, file) })
      }),
      (value) => Effect.fromResult(parse(value))
    )
  }).pipe(Effect.mapError(({ detail }) => new HeadError({ detail: `${file} cannot be used: ${detail}` })))

/** Writes a head atomically. */
export const write = (file: string, head: Head): Effect.Effect<void, HeadError> =>
  Effect.gen(function* () {
    yield* WholeFile.makeFolder(path.dirname(file))
    yield* WholeFile.write(file, `${Sealed.stringify(toJson(head))}\n`)
  }).pipe(Effect.mapError(({ message }) => new HeadError({ detail: message })))
