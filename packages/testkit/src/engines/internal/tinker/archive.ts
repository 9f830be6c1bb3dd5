/** Archives for checkpoints on the local server, in the format of a known server. */
import fs from "node:fs/promises"
import path from "node:path"
import type { Engine, EngineError } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import * as tar from "tar"
import type { Checkpoint, State } from "./state.ts"

const folderOf = (state: State, { modelId, name }: Pick<Checkpoint, "modelId" | "name">) =>
  path.join(state.options.folder, "adapters", encodeURIComponent(modelId), name)

/** Saves the adapter for a model, if it has one: the one exported by its engine, or the configured one. */
export const keep = (state: State, modelId: string, name: string, engine: Engine): Effect.Effect<void, EngineError> => {
  const folder = folderOf(state, { modelId, name })
  const { adapter } = state.options
  if (adapter !== undefined) return Effect.promise(() => fs.cp(adapter, folder, { recursive: true }))
  return engine.capabilities.exports.includes("peft") ? engine.export("peft", folder) : Effect.void
}

/** Returns the bytes of an archive. `undefined` if the checkpoint has no adapter. */
export const read = async (state: State, modelId: string, name: string): Promise<Uint8Array | undefined> => {
  const folder = folderOf(state, { modelId, name })
  const files = await fs.readdir(folder).catch(() => [])
  if (files.length === 0) return undefined
  const parts: Array<Uint8Array> = []
  const packed = tar.create({ cwd: folder, gzip: state.dialect.name === "skyrl-jax", portable: true }, files)
  for await (const part of packed) parts.push(part as Uint8Array)
  return Buffer.concat(parts)
}
