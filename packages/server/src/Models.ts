/**
 * The models that a server offers: `divisi` is the Conductor, `divisi-fast` one worker that is chosen once,
 * `worker/<id>` one worker by its name. Other names can stand for these.
 */
import { Baselines, Nearest } from "@divisi/core"
import type { Policy } from "@divisi/core/Policy"
import type { Pricing } from "@divisi/core/Usage"
import type { Worker } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Result from "effect/Result"
import { ApiError, invalid } from "./wire/ApiError.ts"
import * as Choice from "./wire/Choice.ts"

/** The options of the models. */
export interface Options {
  readonly pool: WorkerPool.WorkerPool
  /** The policy of `divisi`; core's default policy when absent. */
  readonly policy?: Policy | undefined
  /**
   * The policy of `divisi-fast`; by default it asks the cheapest language model of the pool, or else the first worker.
   */
  readonly fast?: Policy | undefined
  /** Who does the housekeeping of agents that ask `divisi` for titles and the like: `divisi-fast` by default. */
  readonly housekeeping?: "fast" | "as-asked" | undefined
  /** Policies that a request may name in the place of that of `divisi`, by their names. */
  readonly policies?: Readonly<Record<string, Policy>> | undefined
  /** Other names of models, e.g. `gpt-4o` for `divisi`. {@link problemOf} says what is wrong with them. */
  readonly aliases?: Readonly<Record<string, string>> | undefined
}

/** What answers a request. */
export interface Team {
  readonly policy: Policy | undefined
  readonly pool: WorkerPool.WorkerPool
}

const conductor = "divisi"
const fast = "divisi-fast"
const direct = "worker/"

/** The names of all models, in order, with those workers that a caller may use. */
export const names = (
  { aliases = {}, pool }: Options,
  workers: ReadonlyArray<string> = WorkerPool.ids(pool)
): ReadonlyArray<string> => {
  const own = [
    conductor,
    fast,
    ...WorkerPool.ids(pool).flatMap((id) => (workers.includes(id) ? [`${direct}${id}`] : []))
  ]
  return [...own, ...Object.keys(aliases).filter((name) => own.includes(aliases[name]!))]
}

/** What is wrong with the aliases, as a clause; `undefined` where each stands for a model that there is. */
export const problemOf = ({ aliases = {}, pool }: Options): string | undefined => {
  const own = names({ pool })
  for (const [name, target] of Object.entries(aliases)) {
    if (own.includes(name)) return `"${name}" is the name of a model already`
    if (Choice.ofModel(name)[1].length > 0) return `"${name}" leaves workers out, which a name cannot`
    if (own.includes(target)) continue
    const meant = own.includes(`${direct}${target}`) ? `${direct}${target}` : Nearest.nearest(target, own)
    const hint = meant === undefined ? `there are ${own.join(", ")}` : `did you mean ${meant}?`
    return `"${name}" stands for "${target}", which is no model here: ${hint}`
  }
  return undefined
}

const priceOf = ({ pricing }: Worker): number => {
  const known: Partial<Pricing> = pricing ?? {}
  return known.inputPerMillion === undefined
    ? Number.POSITIVE_INFINITY
    : known.inputPerMillion + (known.outputPerMillion ?? 0)
}

/** The cheapest language model, or the first worker. */
const cheapest = ({ workers }: WorkerPool.WorkerPool): string =>
  workers
    .filter(({ isLanguageModel }) => isLanguageModel)
    .reduce<Worker>(
      (best, worker) => (priceOf(worker) < priceOf(best) ? worker : best),
      workers.find(({ isLanguageModel }) => isLanguageModel) ?? workers[0]
    ).id

const unknown = (model: string, options: Options): ApiError =>
  new ApiError({
    kind: "not-found",
    field: "model",
    message: `There is no model "${model}" here. There are: ${names(options).join(", ")}.`
  })

/** Who is left of a pool: of those, the one that is needed alone. Fails where it is nobody, and says of each worker why. */
export const chosen = (
  pool: WorkerPool.WorkerPool,
  { exclude, only }: Choice.Choice,
  needed?: string | undefined
): WorkerPool.WorkerPool => {
  const why = (id: string): string | undefined =>
    exclude.includes(id)
      ? "left out"
      : only !== undefined && !only.includes(id)
        ? "not among those that alone may work"
        : undefined
  const isMeant = (id: string) => needed === undefined || id === needed
  const made = WorkerPool.make(pool.workers.filter(({ id }) => isMeant(id) && why(id) === undefined))
  if (Result.isSuccess(made)) return made.success
  const ids = WorkerPool.ids(pool)
  const strangers = (only ?? []).filter((id) => !ids.includes(id))
  const reasons = [
    ...ids.filter(isMeant).map((id) => `${id} is ${why(id)}`),
    ...strangers.map((id) => `${id} is no worker that may be asked here`)
  ]
  throw new ApiError({
    kind: "invalid-request",
    field: "model",
    message: `Nobody may answer this request: ${reasons.join(", ")}. Leave fewer workers out.`
  })
}

/** The policy that a request names. */
const namedPolicy = ({ policies = {} }: Options, name: string): Policy => {
  if (Object.hasOwn(policies, name)) return policies[name]!
  const known = Object.keys(policies)
  const hint = known.length === 0 ? "a request may name none" : `there are ${known.join(", ")}`
  throw invalid("divisi.policy", `There is no policy "${name}" here: ${hint}.`)
}

/** What a caller may use of them. Throws an `ApiError` where its key allows none of the workers. */
export const allowed = (options: Options, workers: ReadonlyArray<string> | undefined): Options => {
  if (workers === undefined) return options
  const made = WorkerPool.make(options.pool.workers.filter(({ id }) => workers.includes(id)))
  if (Result.isSuccess(made)) return { ...options, pool: made.success }
  const message = "This key allows none of the workers that this server has now."
  throw new ApiError({ kind: "permission", message })
}

/** Whether a caller may name a model, whoever is left out behind it. */
export const mayName = (asked: string, models: ReadonlyArray<string> | undefined): boolean =>
  models?.includes(Choice.ofModel(asked)[0]) ?? true

/**
 * Who answers a request for a model: what is housekeeping, and asked of the Conductor, goes to the fast one. Throws an
 * `ApiError` where there is no such model, or nobody is left.
 */
export const team = (options: Options, asked: string, choice: Choice.Choice, isHousekeeping = false): Team => {
  const [named] = Choice.ofModel(asked)
  const { aliases = {}, policy, pool } = options
  const meant = Object.hasOwn(aliases, named) ? aliases[named]! : named
  const { policy: asks } = choice
  const isSmall = isHousekeeping && options.housekeeping !== "as-asked" && asks === undefined
  const model = meant === conductor && isSmall ? fast : meant
  if (model === conductor) {
    return { policy: asks === undefined ? policy : namedPolicy(options, asks), pool: chosen(pool, choice) }
  }
  if (asks !== undefined) {
    throw invalid(
      "divisi.policy",
      `Who asks for ${named} has chosen who answers: a policy goes with the model ${conductor}.`
    )
  }
  if (model === fast) {
    const left = chosen(pool, choice)
    return { policy: options.fast ?? Baselines.single(cheapest(left), { failover: true }), pool: left }
  }
  const id = model.startsWith(direct) ? model.slice(direct.length) : undefined
  if (id === undefined || !WorkerPool.ids(pool).includes(id)) throw unknown(named, options)
  return { policy: Baselines.single(id), pool: chosen(pool, choice, id) }
}
