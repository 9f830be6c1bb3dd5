/** The vendors that the command line knows by name: those of the recipes, and llama.cpp in this process. */
import * as Vendor from "@divisi/recipes/Vendor"
import * as Effect from "effect/Effect"

const llamacpp: Vendor.Vendor = {
  name: "llamacpp",
  keys: [],
  needsKey: false,
  baseURLs: [],
  make: async (model, { apiKey: _, baseURL: __, reasoning: ___, ...settings }) => {
    const LocalModels = await import("./LocalModels.ts")
    const { defaultConductor, llamacpp, TrainedConductor } = await LocalModels.load()
    const { adapters, source } = TrainedConductor.parse(model === "default" ? defaultConductor : model)
    return llamacpp(source, { ...LocalModels.loading(), ...settings, adapters })
  },
  embed: (model, _, reading) =>
    Effect.gen(function* () {
      const LocalModels = yield* Effect.promise(() => import("./LocalModels.ts"))
      const { LlamaCppEmbeddings } = yield* LocalModels.loaded
      return yield* LlamaCppEmbeddings.load({
        source: model,
        contextTokens: reading?.mostTokens,
        ...LocalModels.loading()
      })
    })
}

/** All of them. */
export const vendors: ReadonlyArray<Vendor.Vendor> = [...Vendor.vendors, llamacpp]
