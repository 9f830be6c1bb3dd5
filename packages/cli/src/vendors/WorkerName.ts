/** Creates workers for vendors' models from the names accepted by `--pool` and `--policy`. */
import { Nearest } from "@divisi/core"
import { free } from "@divisi/core/Usage"
import type { Worker } from "@divisi/core/Worker"
import type { PaperSetting } from "@divisi/recipes"
import type { Environment } from "@divisi/recipes/Environment"
import * as Vendor from "@divisi/recipes/Vendor"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Failure, messageOf, usage } from "../invocation/Failure.ts"
import * as OptionalPackage from "../invocation/OptionalPackage.ts"
import * as KnownModels from "./KnownModels.ts"
import { Threads } from "./LocalModels.ts"
import { vendors } from "./Vendors.ts"

/** Prefix of the name for the paper's pool on the command line: `paper:controlled`. */
const paper = "paper"

const paperSetting = (name: string): PaperSetting | undefined =>
  name === `${paper}:controlled` ? "controlled" : name === `${paper}:unconstrained` ? "unconstrained" : undefined

const makePaperPool = (
  setting: PaperSetting,
  environment: Environment
): Effect.Effect<ReadonlyArray<Worker>, Failure> =>
  Effect.tryPromise({
    try: async () => (await import("@divisi/recipes")).paperPool({ setting, environment }),
    catch: (error) => usage(OptionalPackage.explain(error))
  })

/** Whether a name starts with a vendor, or with a server whose base URL is set. */
export const hasVendor = (name: string): Effect.Effect<boolean> => {
  const vendor = Vendor.parse(name)?.vendor
  if (vendor === undefined) return Effect.succeed(false)
  return Effect.map(
    Vendor.environment(vendors, [vendor]),
    (environment) => vendor === paper || Vendor.find(vendors, vendor, environment) !== undefined
  )
}

/** Returns a name without spaces at its colon, and with commas between several names. */
const withoutSpaces = (name: string): string =>
  name.replaceAll(/\s*:\s+|\s+:\s*/g, ":").replaceAll(/\s+(?=[\w-]+:\S)/g, ",")

/** Returns the reason why a name is invalid, or `undefined` if it is valid. */
const problemOf = (name: string, environment: Environment): string | undefined => {
  const reference = Vendor.parse(name)
  const spaced = withoutSpaces(name)
  if (spaced !== name) return `"${name}" is not a model name.${Nearest.didYouMean(spaced)}`
  if (reference === undefined) {
    return `"${name}" is not a model name. Use vendor:model, such as ${KnownModels.fullName(name) ?? "openai:gpt-6.1-sol"}.`
  }
  if (paperSetting(name) !== undefined) return undefined
  if (reference.vendor === paper) return `Unknown pool "${name}". Use paper:controlled or paper:unconstrained.`
  const problem = Vendor.problemOf(vendors, reference, environment)
  if (problem === undefined) return undefined
  return Vendor.explain(vendors, name, problem, KnownModels.fullName(name))
}

/** Name of the pool of small local models on the command line. */
const localPool = "llamacpp:default"

const makeLocalPool = (threads: number | undefined): Effect.Effect<ReadonlyArray<Worker>, Failure> =>
  Effect.tryPromise({
    try: async () => {
      const LocalModels = await import("./LocalModels.ts")
      const { defaultPool, llamacpp } = await LocalModels.load()
      return defaultPool.map((model) => llamacpp(model, LocalModels.loading(threads)))
    },
    catch: (error) => usage(messageOf(error))
  })

/** Whether workers need the keys of their vendors. `false` if they are priced and not called. Default: `true`. */
export const NeedsKeys = Context.Reference<boolean>("divisi/NeedsKeys", { defaultValue: () => true })

/** Returns an environment in which every vendor's key is set. */
const withKeys = (environment: Environment): Environment => ({
  ...Object.fromEntries(vendors.filter(({ needsKey }) => needsKey).map(({ keys }) => [keys[0]!, "not called"])),
  ...environment
})

const isHere = (baseURL: string | undefined): boolean =>
  baseURL === undefined || ["localhost", "127.0.0.1", "[::1]"].includes(URL.parse(baseURL)?.hostname ?? "")

/**
 * Whether a vendor's tokens are free: true for known model servers on this machine. An unknown server may forward calls
 * to other vendors.
 */
const isFree = (vendor: Vendor.Vendor, { apiKey, baseURL }: Vendor.Connection): boolean =>
  vendors.includes(vendor) && !vendor.needsKey && apiKey === undefined && isHere(baseURL)

const make = (
  name: string,
  environment: Environment,
  threads: number | undefined
): Effect.Effect<ReadonlyArray<Worker>, Failure> => {
  const setting = paperSetting(name)
  if (setting !== undefined) return makePaperPool(setting, environment)
  if (name === localPool) return makeLocalPool(threads)
  const { model, vendor: vendorName } = Vendor.parse(name)!
  const vendor = Vendor.find(vendors, vendorName, environment)!
  const connection = Vendor.connection(vendor, environment)
  const description = KnownModels.describe(vendorName, model)
  return Effect.map(
    Effect.tryPromise({
      try: () => vendor.make(model, { id: name, description, ...connection, ...(vendor.isLocal && { threads }) }),
      catch: (error) => usage(`Cannot use ${name}. ${OptionalPackage.explain(error)}`)
    }),
    (worker) => [isFree(vendor, connection) && worker.pricing === undefined ? { ...worker, pricing: free } : worker]
  )
}

/**
 * Returns the workers for the given names: one for `vendor:model`, several for `paper:controlled`. All problems are
 * reported together.
 */
export const workers = Effect.fnUntraced(function* (
  names: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyArray<ReadonlyArray<Worker>>, Failure> {
  const servers = names.flatMap((name) => Vendor.parse(name)?.vendor ?? [])
  const own = yield* Vendor.environment(vendors, servers)
  const environment = (yield* NeedsKeys) ? own : withKeys(own)
  const problems = names.map((name) => problemOf(name, environment)).filter((problem) => problem !== undefined)
  if (problems.length > 0) return yield* usage(problems.join("\n"))
  const threads = yield* Threads
  const made = yield* Effect.forEach(names, (name) => Effect.result(make(name, environment, threads)))
  const refused = made.filter(Result.isFailure).map(({ failure }) => failure.message)
  if (refused.length > 0) return yield* usage([...new Set(refused)].join("\n"))
  return made.filter(Result.isSuccess).map(({ success }) => success)
})
