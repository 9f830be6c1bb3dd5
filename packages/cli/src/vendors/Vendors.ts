/** The vendors supported by the command line: those used by recipes, and llama.cpp in this process. */
import * as Vendor from "@divisi/recipes/Vendor"
import * as Effect from "effect/Effect"

const llamacpp: Vendor.Vendor = {
  name: "llamacpp",
  isLocal: true,
  keys: [],
  needsKey: false,
  baseURLs: [],
  make: async (name, { apiKey: _, baseURL: __, reasoning: ___, threads, ...settings }) => {
    const LocalModels = await import("./LocalModels.ts")
    const { defaultConductor, llamacpp, TrainedConductor } = await LocalModels.load()
    const { model, threads: own } = LocalModels.named(name)
    const { adapters, source } = TrainedConductor.parse(model === "default" ? defaultConductor : model)
    return llamacpp(source, { ...LocalModels.loading(own ?? threads), ...settings, adapters })
  },
  embed: (model, _, reading) =>
    Effect.gen(function* () {
      const LocalModels = yield* Effect.promise(() => import("./LocalModels.ts"))
      const { LlamaCppEmbeddings } = yield* LocalModels.loaded
      const threads = yield* LocalModels.Threads
      return yield* LlamaCppEmbeddings.load({
        source: model,
        contextTokens: reading?.mostTokens,
        ...LocalModels.loading(threads)
      })
    })
}

/** All supported vendors. */
export const vendors: ReadonlyArray<Vendor.Vendor> = [...Vendor.vendors, llamacpp]
