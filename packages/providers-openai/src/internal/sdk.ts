/** Sends calls through OpenAI's SDK. The SDK sends the request, but the response is read by this package. */
import { Dialects, Endpoint, type VendorError } from "@divisi/provider-kit"
import type * as Redacted from "effect/Redacted"
import type OpenAI from "openai"
import type { WorkerOptions } from "../options.ts"
import { type BatchApi, vendorOf } from "./batches.ts"
import { connect } from "./client.ts"
import { reasonOf } from "./errors.ts"
import type { Connect } from "./worker.ts"

/** The account at OpenAI that is charged. */
export interface Account {
  readonly organization?: string | undefined
  readonly project?: string | undefined
}

type Send<Body> = (
  client: OpenAI,
  body: Body,
  options: { readonly signal: AbortSignal }
) => { readonly asResponse: () => Promise<Response> }

/**
 * Connects to one API of the SDK. `again` fetches an answer that the vendor generates in the background; `batches`
 * sends requests in batches.
 */
export const overSdk =
  <Body>(
    { organization, project }: Account,
    send: Send<Body>,
    batches: BatchApi,
    again?: Send<string>
  ): Connect<Body> =>
  (worker: string, options: WorkerOptions, key: Redacted.Redacted<string> | undefined) => {
    const { baseURL, client, fetch, secrets } = connect(worker, options, key, { organization, project })
    const surroundings = (): VendorError.Surroundings => ({ secrets, nowMillis: Date.now() })
    const reasonOfRefused = (refused: Endpoint.Refused) => Dialects.Errors.reasonOfRefused(refused, surroundings())
    const refusing = client.withOptions({ fetch: Endpoint.refusing(fetch, reasonOfRefused, key) })
    return {
      baseURL,
      secrets,
      send: (body, signal) => send(refusing, body, { signal }).asResponse(),
      again: again && ((handle, signal) => again(refusing, handle, { signal }).asResponse()),
      batches: vendorOf(refusing, batches, surroundings, (error) => reasonOf(error, surroundings())),
      reason: (error) => reasonOf(error, surroundings())
    }
  }
