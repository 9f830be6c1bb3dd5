/** Parsers of settings: a `divisi.config`, which is code, settings as JSON, and the config of a training run. */
import fs from "node:fs"
import path from "node:path"
import { ConfigFile } from "@divisi/cli"
import * as RunSettings from "@divisi/core/RunSettings"
import { RunFolder } from "@divisi/trainer"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const settled = <A, E>(effect: Effect.Effect<A, E>): Promise<unknown> => Effect.runPromise(Effect.result(effect))

let configs = 0

/** Each import has a new name, because Node caches modules by name. */
const imported = (folder: string, code: string) => {
  const file = path.join(folder, `${configs++}.divisi.config.mjs`)
  fs.writeFileSync(file, code)
  return settled(ConfigFile.resolve(file)).finally(() => fs.rmSync(file))
}

/** A text as the value of every setting, and as the name of one. */
const everywhere = (text: string): string => {
  const names = ["maxSteps", "policy", "pool", "budget", "worker", "retry", "cache", "critic", text]
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, name === "worker" ? { [text]: text } : text])))
}

const decodeSettings = Schema.decodeUnknownResult(Schema.fromJsonString(RunSettings.schema), {
  onExcessProperty: "error",
  errors: "all"
})

const training = (folder: string) => (json: string) => {
  fs.writeFileSync(path.join(folder, "config.json"), json)
  return settled(RunFolder.readConfig(folder))
}

/** All of them; files are made in `folder`. */
export const all = (folder: string) => {
  const trained = training(folder)
  return [
    { name: "divisi.config", read: (text: string) => imported(folder, text), isSlow: true },
    {
      name: "settings of a divisi.config",
      read: (text: string) => imported(folder, `export default ${everywhere(text)}`),
      isSlow: true
    },
    { name: "settings of a run", read: (text: string) => [decodeSettings(text), decodeSettings(everywhere(text))] },
    {
      name: "config of a training",
      read: async (text: string) => [await trained(text), await trained(everywhere(text))]
    }
  ]
}
