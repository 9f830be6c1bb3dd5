/** Checkpoints, and adapters to be downloaded. */
import * as Effect from "effect/Effect"
import * as Archive from "./archive.ts"
import * as Desk from "./desk.ts"
import { type Answer, done, type Fields, isSkyrl, json, once, type Route, refuse, withModel } from "./route.ts"

// -------------------------------------------------------------------------------------------------------------------
// Checkpoints
// -------------------------------------------------------------------------------------------------------------------

const namePattern = /^[A-Za-z0-9_-]{1,255}$/

export const keep = (desk: Desk.Desk, model: Desk.Model, kind: Desk.Checkpoint["kind"], name: string) =>
  Effect.gen(function* () {
    const saved = yield* model.engine.save(`${model.id}-${kind}-${name}`, Desk.filesOf(desk.options))
    yield* Desk.keep(desk.options, {
      modelId: model.id,
      kind,
      name,
      baseModel: desk.baseModel,
      rank: model.rank,
      saved
    })
    return saved
  })

/** SkyRL goes by the name alone and does not know a request that it has had. */
export const isTaken = async (desk: Desk.Desk, model: Desk.Model, kind: Desk.Checkpoint["kind"], name: string) => {
  const key = `${model.id}/${kind}/${name}`
  const has = taken.get(desk) ?? new Set<string>()
  taken.set(desk, has)
  if (has.has(key)) return true
  has.add(key)
  return false
}

const taken = new WeakMap<Desk.Desk, Set<string>>()

export const withoutNumber = (desk: Desk.Desk, body: Fields) =>
  (isSkyrl(desk) ? { ...body, seq_id: undefined } : body) as Fields

export const saveWeights = withModel(async (desk, model, body) => {
  const name: string = body.path
  if (!namePattern.test(name)) return refuse(422, "path: String should match pattern")
  if (isSkyrl(desk) && (await isTaken(desk, model, "weights", name))) {
    return refuse(409, `Checkpoint '${name}' already exists for model '${model.id}'`)
  }
  const address = `tinker://${model.id}/weights/${name}`
  const work = Effect.as(keep(desk, model, "weights", name), done({ path: address, type: "save_weights" }))
  return once(desk, model, withoutNumber(desk, body), "save_weights", work)
})

const parsePath = (address: string) => {
  const match = /^tinker:\/\/([^/]+)\/(weights|sampler_weights)\/([^/]+)$/.exec(address)
  if (match === null) return undefined
  return { modelId: match[1]!, kind: match[2] as Desk.Checkpoint["kind"], name: match[3]! }
}

const findSaved = async (desk: Desk.Desk, address: string): Promise<Desk.Checkpoint | undefined> => {
  const which = parsePath(address)
  return which === undefined ? undefined : Desk.find(desk.options, which)
}

export const loadWeights = withModel(async (desk, model, body) => {
  const number = body.seq_id
  if (!isSkyrl(desk) && model.numbered.has(number))
    return once(desk, model, body, "load_weights", Effect.succeed(done({})))
  if (model.requests > 0) return refuse(400, `LoadWeights is not permitted with seq_id ${number}`)
  const checkpoint = await findSaved(desk, body.path)
  if (checkpoint === undefined) return refuse(404, `Checkpoint not found: ${body.path}`)
  const work = Effect.as(
    model.engine.load(checkpoint.saved, Desk.filesOf(desk.options)),
    done({ type: "load_weights", path: body.path })
  )
  return once(desk, model, withoutNumber(desk, body), "load_weights", work)
})

const isBeingWritten = (desk: Desk.Desk, address: string): boolean => {
  const which = parsePath(address)
  return which !== undefined && taken.get(desk)?.has(`${which.modelId}/${which.kind}/${which.name}`) === true
}

export const weightsInfo: Route = async (desk, { tinker_path }) => {
  const checkpoint = await findSaved(desk, tinker_path)
  if (checkpoint === undefined && isBeingWritten(desk, tinker_path))
    return refuse(425, "Checkpoint is still being created")
  if (checkpoint === undefined) return refuse(404, `Checkpoint not found: ${tinker_path}`)
  return json({ base_model: checkpoint.baseModel, is_lora: true, lora_rank: checkpoint.rank })
}

// -------------------------------------------------------------------------------------------------------------------
// Archives
// -------------------------------------------------------------------------------------------------------------------

/** The adapter of a checkpoint; `undefined` for another path. */
export const archive = async (desk: Desk.Desk, path: string): Promise<Answer | undefined> => {
  const match = /^training_runs\/([^/]+)\/checkpoints\/(sampler_weights\/)?([^/]+)\/(archive|download)$/.exec(path)
  if (match === null) return undefined
  const [, modelId = "", typed, name = "", what] = match
  if (what === "archive" && isSkyrl(desk) && typed !== undefined) return refuse(405, "Method Not Allowed")
  const checkpoint = await Desk.find(desk.options, { modelId, kind: "sampler_weights", name })
  if (checkpoint === undefined) return refuse(404, "Checkpoint not found")
  if (what === "archive") {
    const location = `/api/v1/training_runs/${modelId}/checkpoints/${name}/download`
    return { status: 302, body: "", headers: { location } }
  }
  const body = await Archive.read(desk, modelId, name)
  if (body === undefined) return refuse(404, "Checkpoint has no adapter")
  return { status: 200, body, headers: { "content-type": "application/octet-stream" } }
}
