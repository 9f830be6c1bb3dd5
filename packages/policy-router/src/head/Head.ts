/**
 * A head: a linear layer on the embedding of a question that chooses the next worker and its role.
 *
 * Implements the coordinator of TRINITY (arXiv 2512.04695): a frozen small model (here, any `Embedder`) with about ten
 * thousand weights on top, one row per worker and one per role. Its input is the question and the progress of the run.
 * Train it on graded answers with {@link fit}, and on whole runs with `Evolution`.
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

/**
 * The version of the file format.
 *
 * @internal
 */
export const version = 1

/**
 * The possible roles of a turn. A `thinker` advises, a `worker` answers, a `verifier` accepts or rejects the answer,
 * and `stop` accepts the answer without a verifier. `stop` is not in the paper (TRINITY, arXiv 2512.04695); it allows
 * runs with a single call.
 */
export const roles = ["thinker", "worker", "verifier", "stop"] as const

/** A role in a turn. See {@link roles}. */
export type Role = (typeof roles)[number]

/**
 * Maximum number of turns per run, as in the paper. `stop` does not count.
 *
 * @internal
 */
export const mostTurns = 5

/** The progress of a run, as input to the head. */
export interface Situation {
  /** Number of completed turns. */
  readonly turn: number
  /** Whether a thinker has advised since the last answer. */
  readonly isAdvised: boolean
  /** Whether there is an answer that can be accepted. */
  readonly hasAnswer: boolean
  /** Whether a verifier rejected the last answer. */
  readonly isDoubted: boolean
}

/** The situation at the start of a run. */
export const atStart: Situation = { turn: 0, isAdvised: false, hasAnswer: false, isDoubted: false }

/** Encodes a situation as numbers. The first is always 1 (the bias); the second is 1 if there is an answer. */
const situationOf = ({ hasAnswer, isAdvised, isDoubted, turn }: Situation): ReadonlyArray<number> => [
  1,
  hasAnswer ? 1 : 0,
  isDoubted ? 1 : 0,
  isAdvised ? 1 : 0,
  turn / mostTurns
]

/** Number of inputs that encode a situation. */
const situations = situationOf(atStart).length

const Training = Schema.Struct({
  /** Number of graded questions that the head was fitted to. */
  questions: Schema.Finite,
  /** The ridge penalty. `null` if the questions do not improve on the workers' means. */
  penalty: Schema.NullOr(Schema.Finite),
  /** Number of generations of evolution, and the total number of runs. */
  generations: Schema.Finite,
  runs: Schema.Finite
})

const File = Schema.Struct({
  version: Schema.Literal(version),
  embedder: Schema.String,
  workers: Schema.Array(Schema.String).check(Schema.isMinLength(1)),
  /** Offset and scale of the embedding space, encoded in base64. */
  space: Schema.Struct({ mean: Schema.String, scale: Schema.String }),
  /**
   * The weights, encoded in base64: rows for workers, then rows for roles. Each row has the weights of the embedding
   * first, then those of the situation.
   */
  weights: Schema.String,
  training: Training
})

/** How a head was trained. */
export type Training = typeof Training.Type

/** A trained linear layer on the embedding of a question, which chooses the next worker and its role. */
export interface Head {
  readonly embedder: string
  /** Ids of the workers that the head can choose. */
  readonly workers: ReadonlyArray<string>
  readonly space: Space.Space
  /** The weights in row-major order: workers first, then {@link roles}. */
  readonly weights: Float32Array
  readonly training: Training
}

/** Raised when there is nothing to learn from, or a value is not a valid head. */
export class HeadError extends Data.TaggedError("HeadError")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Deciding
// -------------------------------------------------------------------------------------------------------------------

/** The worker to call and its role. Ignore the worker if the role is `stop`. */
export interface Choice {
  readonly role: Role
  readonly worker: string
}

/** The logits of a head for each worker and each role. */
interface Logits {
  readonly workers: ReadonlyArray<number>
  readonly roles: ReadonlyArray<number>
}

/** Returns the length of a row of weights. */
const widthOf = ({ space }: Pick<Head, "space">): number => space.mean.length + situations

/**
 * Returns the indices in {@link Head.weights} of all weights for situations, in row-major order.
 *
 * @internal
 */
export const situationWeights = (head: Head): ReadonlyArray<number> => {
  const width = widthOf(head)
  return [...head.weights.keys()].filter((at) => at % width >= width - situations)
}

/** Computes the logits for a question. `place` is the result of {@link place}. */
const logits = (head: Head, place: Float32Array, situation: Situation): Logits => {
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

/** Projects the embedding of a question into the head's space, for {@link decide}. */
export const place = ({ space }: Head, point: Float32Array): Float32Array => Space.place(space, point)

/**
 * Whether a role is possible. Verifying and accepting require an answer; advising and verifying require a further turn
 * afterwards.
 */
const isPossible = (role: Role, { hasAnswer, isDoubted, turn }: Situation): boolean => {
  const left = mostTurns - turn
  if (role === "stop") return hasAnswer
  if (role === "verifier") return hasAnswer && !isDoubted && left > 1
  return role === "thinker" ? left > 1 : left > 0
}

/** Constraints on a decision. */
export interface Constraints {
  /** Ids of the workers that may be called. Default: all. */
  readonly among?: ReadonlyArray<string> | undefined
  /** The worker that gave the current answer. A different worker verifies it if there is one. */
  readonly answeredBy?: string | undefined
}

/** Chooses the next turn of a run. `place` is the result of {@link place} for the question. */
export const decide = (head: Head, place: Float32Array, situation: Situation, wanted: Constraints = {}): Choice => {
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

/** Options for {@link fit}. */
export interface FitOptions {
  /** Name of the embedder that produced the examples' embeddings. Default: the name of `Embedder.hashed()`. */
  readonly embedder?: string | undefined
}

/**
 * Initial weights of the roles: a base logit for each role, and the change once there is an answer. They describe a run
 * in which one worker answers and its answer is accepted.
 */
const firstRoles: Readonly<Record<Role, readonly [number, number]>> = {
  thinker: [-0.1, 0],
  worker: [0.1, -0.1],
  verifier: [-0.1, 0],
  stop: [0, 0.1]
}

/**
 * Trains a head on graded questions to choose the worker with the highest expected score. Each worker's score is
 * modeled by a ridge regression on the embeddings of the questions that it answered.
 *
 * **Details**
 *
 * The penalty is the strongest one whose choices, on a held-out fifth of the questions, are within one standard error
 * of the best. If no penalty beats the workers' means, or too few questions were answered by more than one worker, the
 * head always calls the best worker. Initially, the head calls one worker and accepts its answer; other uses of the
 * roles are learned from whole runs (`Evolution`). Teams (`policy:<name>`) are ignored. Equal examples produce equal
 * heads.
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

/** Adapts {@link fit} to the `learner` option of `Replay.compare`. At least one question must have a graded answer. */
export const learner =
  (options: FitOptions = {}) =>
  (training: ReadonlyArray<Example>): ((example: Example) => string) => {
    const head = Result.getOrThrow(fit(training, options))
    return ({ point }) => decide(head, place(head, point), atStart).worker
  }

// -------------------------------------------------------------------------------------------------------------------
// Files
// -------------------------------------------------------------------------------------------------------------------

/** The path in `DIVISI_HEAD`, or `head.json` in the user's data folder if the variable is not set. */
export const defaultFile: Effect.Effect<string> = UserFolders.dataFile("head.json", "DIVISI_HEAD")

const decodeFile = Schema.decodeUnknownResult(File)

/**
 * Parses a head from a JSON value.
 *
 * @internal
 */
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

/**
 * Converts a head to a JSON value.
 *
 * @internal
 */
export const toJson = ({ embedder, space, training, weights, workers }: Head): typeof File.Type => ({
  version,
  embedder,
  workers,
  space: { mean: textOf(space.mean), scale: textOf(space.scale) },
  weights: textOf(weights),
  training
})

/** Reads a head from a file. Returns `undefined` if the file does not exist. */
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
  }).pipe(
    Effect.mapError(
      ({ detail }) =>
        new HeadError({ detail: `Cannot use the classifier ${file}: ${detail.replace(/\.?$/, ".")} Train it again.` })
    )
  )

/** Writes a head to a file atomically. */
export const write = (file: string, head: Head): Effect.Effect<void, HeadError> =>
  Effect.gen(function* () {
    yield* WholeFile.makeFolder(path.dirname(file))
    yield* WholeFile.write(file, `${Sealed.stringify(toJson(head))}\n`)
  }).pipe(Effect.mapError(({ message }) => new HeadError({ detail: message })))
