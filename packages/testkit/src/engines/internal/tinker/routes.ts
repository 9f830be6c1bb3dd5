/** The routes of the local server. */
import * as Checkpoints from "./checkpointRoutes.ts"
import * as Models from "./modelRoutes.ts"
import * as Passes from "./passes.ts"
import * as Results from "./resultRoutes.ts"
import { type Answer, json, type Request, type Route, refuse } from "./route.ts"
import * as Sampling from "./samplingRoutes.ts"
import type * as State from "./state.ts"

export type { Answer } from "./route.ts"

const routes: Readonly<Record<string, Route>> = {
  healthz: async () => json({ status: "ok" }),
  "client/config": async ({ options }) => json({ pjwt_auth_enabled: options.exchangesKeys === true }),
  "auth/token": async ({ token }) => json({ jwt: token }),
  get_server_capabilities: async ({ baseModel, contextTokens }) =>
    json({ supported_models: [{ model_name: baseModel, max_context_length: contextTokens }] }),
  create_session: Models.createSession,
  session_heartbeat: Models.heartbeat,
  create_model: Models.createModel,
  unload_model: Models.unload,
  forward: Models.forward,
  forward_backward: Models.forwardBackward,
  optim_step: Models.optimStep,
  save_weights: Checkpoints.saveWeights,
  load_weights: Checkpoints.loadWeights,
  weights_info: Checkpoints.weightsInfo,
  save_weights_for_sampler: Sampling.saveForSampler,
  create_sampling_session: Sampling.baseSampler,
  asample: Sampling.asample,
  retrieve_future: Results.retrieve
}

const isLetIn = ({ options, token }: State.State, { headers, path }: Request): boolean => {
  if (options.apiKey === undefined || path === "healthz" || path.endsWith("/download")) return true
  const wantsKey = options.exchangesKeys !== true || path === "client/config" || path === "auth/token"
  return headers["x-api-key"] === (wantsKey ? options.apiKey : token)
}

/** Handles a request. */
export const handle = async (state: State.State, request: Request): Promise<Answer> => {
  if (!isLetIn(state, request)) return refuse(401, "Invalid API key")
  const route = routes[request.path]
  try {
    if (route !== undefined) return await route(state, request.body ?? {}, request)
    return (await Checkpoints.archive(state, request.path)) ?? refuse(404, "Not Found")
  } catch (cause) {
    if (cause instanceof Passes.Flaw) return refuse(cause.status, cause.message)
    throw cause
  }
}
