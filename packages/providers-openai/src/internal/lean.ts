/** Sends calls without an SDK: over undici, or through `fetch` if a custom one is given or the process reroutes its requests. */

import { type Duplex, Readable } from "node:stream"
import * as zlib from "node:zlib"
import { Dialects, Endpoint, VendorError, type VendorEvents } from "@divisi/provider-kit"
import * as Redacted from "effect/Redacted"
import type { WorkerOptions } from "../options.ts"
import { sentKey } from "./client.ts"
import { type Address, type Answer, canLoad, isRerouted, post } from "./leanRequest.ts"
import type { Connect, Sent } from "./worker.ts"

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

/** Returns the headers for every call. Headers set for the worker take precedence, ignoring case. */
const headersOf = ({ headers = {} }: WorkerOptions, secret: string | undefined): Readonly<Record<string, string>> => ({
  "content-type": "application/json",
  accept: "text/event-stream",
  "accept-encoding": "identity",
  "user-agent": "divisi",
  ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
  ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
})

/** Converts an error or redirect to a `fetch` response, so that both are handled in one place. */
const responseOf = ({ abort, fields, status }: Answer, read: Answer["read"]): Response => {
  const headers = new globalThis.Headers()
  for (const [name, value] of Object.entries(fields)) headers.append(name, String(value))
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const bytes = await read()
      if (bytes === undefined) controller.close()
      else controller.enqueue(bytes)
    },
    cancel: abort
  })
  return new Response(status === 304 ? null : body, { status: Math.min(status, 599), headers })
}

/** Decoders for the encodings that an answer may have. No encoding is requested, but some proxies always compress. */
const decoders: Readonly<Record<string, () => Duplex>> = {
  gzip: zlib.createGunzip,
  "x-gzip": zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
  zstd: zlib.createZstdDecompress
}

/** The first byte of each encoding. A proxy that decompresses an answer may keep its content-encoding header. */
const magics: Readonly<Record<string, number | undefined>> = { gzip: 0x1f, "x-gzip": 0x1f, zstd: 0x28 }

/** Decompresses an answer. */
const plain = (answer: Answer): Sent & VendorEvents.Incoming => {
  const encoding = (answer.headers.get("content-encoding") ?? "identity").trim().toLowerCase()
  if (encoding === "identity" || encoding === "") return answer
  const decoder = Object.hasOwn(decoders, encoding) ? decoders[encoding]?.() : undefined
  if (decoder === undefined)
    throw VendorError.unreadable(`the answer is encoded as ${encoding}, which was not requested`)
  const source = async function* () {
    for (let bytes = await answer.read(); bytes !== undefined; bytes = await answer.read()) yield bytes
  }
  const decoded = async function* (): AsyncGenerator<Uint8Array> {
    const rest = source()
    const { value: first } = await rest.next()
    if (first === undefined) return
    const pieces = async function* () {
      yield first
      yield* rest
    }
    const magic = magics[encoding]
    if (magic !== undefined && first[0] !== magic) yield* pieces()
    else {
      const encoded = Readable.from(pieces()).on("error", (error) => decoder.destroy(error))
      yield* encoded.pipe(decoder).iterator()
    }
  }
  const bytes = decoded()
  return {
    status: answer.status,
    headers: answer.headers,
    contentType: answer.contentType,
    url: answer.url,
    read: async () => {
      try {
        return (await bytes.next()).value
      } catch (error) {
        throw error instanceof VendorError.Failure
          ? error
          : VendorError.unreadable(`an answer in ${encoding} cannot be decompressed`)
      }
    },
    cancel: () => {
      decoder.destroy()
      answer.cancel()
    }
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Connecting
// -------------------------------------------------------------------------------------------------------------------

type Transport = (body: string, signal: AbortSignal) => Promise<Sent>

/** Treats exceptions of `fetch` as connection failures. */
const overFetch =
  (fetch: typeof globalThis.fetch, url: string, headers: Readonly<Record<string, string>>): Transport =>
  async (body, signal) => {
    try {
      return await fetch(url, { method: "POST", headers, body, signal })
    } catch (error) {
      throw new VendorError.Failure(VendorError.fromThrown(error, (error) => VendorError.fromConnection(error, {})))
    }
  }

const overUndici =
  (address: Address, url: string, refuse: (fetch: typeof globalThis.fetch) => typeof globalThis.fetch): Transport =>
  async (body, signal) => {
    const answer = await post(address, body, signal)
    if (answer.status < 300) return plain(answer)
    return refuse(async () => responseOf(answer, plain(answer).read))(url)
  }

/** Connects to a server's Chat Completions endpoint. */
export const overHttp: Connect<object> = (worker, options, key) => {
  const { headers } = options
  const secret = key && Redacted.value(key)
  const endpoint = Endpoint.make({ worker, baseURL: options.baseURL, key: secret, headers, fetch: options.fetch })
  const { baseURL = "", query, secrets } = endpoint
  const { origin, pathname } = new URL(`${baseURL}/chat/completions`)
  const surroundings = (): VendorError.Surroundings => ({ secrets, nowMillis: Date.now() })
  const reasonOfRefused = (refused: Endpoint.Refused) => Dialects.Errors.reasonOfRefused(refused, surroundings())
  const refusing = (fetch: typeof globalThis.fetch) => Endpoint.refusing(fetch, reasonOfRefused, sentKey(key, options))
  const url = `${origin}${pathname}`
  const sent = headersOf(options, secret)
  const byFetch = overFetch(refusing(endpoint.fetch), url, sent)
  const byUndici = overUndici(
    { origin, path: `${pathname}${query}`, headers: Object.entries(sent).flat() },
    url,
    (fetch) => refusing(Endpoint.fetchWithoutRedirects(fetch))
  )
  return {
    baseURL,
    secrets,
    send: async (body, signal) => {
      const isByFetch = options.fetch !== undefined || isRerouted() || !(await canLoad())
      return (isByFetch ? byFetch : byUndici)(JSON.stringify(body), signal)
    },
    reason: (error) => VendorError.fromException(error, surroundings())
  }
}
