/** Routes for checkpoints and adapter downloads. */
import * as Effect from "effect/Effect"
import * as Archive from "./archive.ts"
import { type Answer, done, type Fields, isSkyrl, json, once, type Route, refuse, withModel } from "./route.ts"
import * as State from "./state.ts"

const namePattern = /^[A-Za-z0-9_-]{1,255}$/

export const keep = (state: State.State, model: State.Model, kind: State.Checkpoint["kind"], name: string) =>
  Effect.gen(function* () {
    const saved = yield* model.engine.save(`${model.id}-${kind}-${name}`, State.filesOf(state.options))
    yield* State.keep(state.options, {
      modelId: model.id,
      kind,
      name,
      baseModel: state.baseModel,
      rank: model.rank,
      saved
    })
    return saved
  })

/** SkyRL only checks the name, and does not recognize a repeated request. */
export const isTaken = async (state: State.State, model: State.Model, kind: State.Checkpoint["kind"], name: string) => {
  const key = `${model.id}/${kind}/${name}`
  const has = taken.get(state) ?? new Set<string>()
  taken.set(state, has)
  if (has.has(key)) return true
  has.add(key)
  return false
}

const taken = new WeakMap<State.State, Set<string>>()

export const withoutNumber = (state: State.State, body: Fields) =>
  (isSkyrl(state) ? { ...body, seq_id: undefined } : body) as Fields

export const saveWeights = withModel(async (state, model, body) => {
  const name: string = body.path
  if (!namePattern.test(name)) return refuse(422, "path: String should match pattern")
  if (isSkyrl(state) && (await isTaken(state, model, "weights", name))) {
    return refuse(409, `Checkpoint '${name}' already exists for model '${model.id}'`)
  }
  const address = `tinker://${model.id}/weights/${name}`
  const work = Effect.as(keep(state, model, "weights", name), done({ path: address, type: "save_weights" }))
  return once(state, model, withoutNumber(state, body), "save_weights", work)
})

const parsePath = (address: string) => {
  const match = /^tinker:\/\/([^/]+)\/(weights|sampler_weights)\/([^/]+)$/.exec(address)
  if (match === null) return undefined
  return { modelId: match[1]!, kind: match[2] as State.Checkpoint["kind"], name: match[3]! }
}

const findSaved = async (state: State.State, address: string): Promise<State.Checkpoint | undefined> => {
  const which = parsePath(address)
  return which === undefined ? undefined : State.find(state.options, which)
}

export const loadWeights = withModel(async (state, model, body) => {
  const number = body.seq_id
  if (!isSkyrl(state) && model.numbered.has(number))
    return once(state, model, body, "load_weights", Effect.succeed(done({})))
  if (model.requests > 0) return refuse(400, `LoadWeights is not permitted with seq_id ${number}`)
  const checkpoint = await findSaved(state, body.path)
  if (checkpoint === undefined) return refuse(404, `Checkpoint not found: ${body.path}`)
  const work = Effect.as(
    model.engine.load(checkpoint.saved, State.filesOf(state.options)),
    done({ type: "load_weights", path: body.path })
  )
  return once(state, model, withoutNumber(state, body), "load_weights", work)
})

const isBeingWritten = (state: State.State, address: string): boolean => {
  const which = parsePath(address)
  return which !== undefined && taken.get(state)?.has(`${which.modelId}/${which.kind}/${which.name}`) === true
}

export const weightsInfo: Route = async (state, { tinker_path }) => {
  const checkpoint = await findSaved(state, tinker_path)
  if (checkpoint === undefined && isBeingWritten(state, tinker_path))
    return refuse(425, "Checkpoint is still being created")
  if (checkpoint === undefined) return refuse(404, `Checkpoint not found: ${tinker_path}`)
  return json({ base_model: checkpoint.baseModel, is_lora: true, lora_rank: checkpoint.rank })
}

/** Returns the adapter for a checkpoint. `undefined` if the path is not an adapter's. */
export const archive = async (state: State.State, path: string): Promise<Answer | undefined> => {
  const match = /^training_runs\/([^/]+)\/checkpoints\/(sampler_weights\/)?([^/]+)\/(archive|download)$/.exec(path)
  if (match === null) return undefined
  const [, modelId = "", typed, name = "", what] = match
  if (what === "archive" && isSkyrl(state) && typed !== undefined) return refuse(405, "Method Not Allowed")
  const checkpoint = await State.find(state.options, { modelId, kind: "sampler_weights", name })
  if (checkpoint === undefined) return refuse(404, "Checkpoint not found")
  if (what === "archive") {
    const location = `/api/v1/training_runs/${modelId}/checkpoints/${name}/download`
    return { status: 302, body: "", headers: { location } }
  }
  const body = await Archive.read(state, modelId, name)
  if (body === undefined) return refuse(404, "Checkpoint has no adapter")
  return { status: 200, body, headers: { "content-type": "application/octet-stream" } }
}
