/**
 * Restricts a server without API keys to programs on this machine. Rejects requests from web pages, requests to other
 * host names that resolve to this machine, and requests forwarded by a proxy.
 */
import { ApiError } from "../wire/ApiError.ts"
import type { Headers } from "../wire/Choice.ts"
import * as Origins from "./Origins.ts"

/** Whether a host, with or without a port, is `localhost` or a loopback address. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\]|::1)(:\d+)?$/i.test(host)

/** Headers in which proxies, load balancers and tunnels identify the original client. */
const ofProxies = new RegExp(
  [
    "(?:^|-)forwarded(?:-|$)",
    "^(?:x-)?original(?:-.*)?$",
    "^via$",
    "^cdn-loop$",
    "^x-scheme$",
    "(?:^|-)(?:client|connecting|connection|proxyuser|real|remote)-?(?:ip(?:v6)?|addr)$",
    "^(?:x-)?(?:akamai|haproxy|traefik)-",
    "^(?:x-)?(?:envoy|tailscale|azure|arr|appengine|rewrite|coming|cluster|amzn|cloudfront|vercel|cf|ngrok)-(?!trace)"
  ].join("|"),
  "i"
)

/** Headers present in most requests, excluded from the check for proxies to save time. */
const common: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "content-type",
  "content-length",
  "user-agent",
  "accept",
  "accept-encoding",
  "accept-language",
  "authorization",
  "transfer-encoding"
])

const makeKey = "create a key with `divisi key make <name>`"

/**
 * Whether a request comes from a page served by this server. The host name has already been verified to be this
 * machine.
 */
const isOwnPage = ({ host, origin, "sec-fetch-site": site }: Headers): boolean =>
  site === "same-origin" && (origin === undefined || origin === `http://${host}`)

const problemOf = (headers: Headers, origins: Origins.Origins, ownPages: boolean): string | undefined => {
  const { host, origin } = headers
  if (host !== undefined && !isLoopback(host)) {
    return `only the host names localhost and 127.0.0.1 are allowed. To use another name, ${makeKey}.`
  }
  const isNamed = (origin !== undefined && origins.has(origin)) || (ownPages && isOwnPage(headers))
  if (origin !== undefined && !isNamed) {
    return `web pages are rejected. To allow this one, start the server with \`--allow-origin ${Origins.shown(origin)}\`, or ${makeKey}.`
  }
  const site = headers["sec-fetch-site"]
  if (site !== undefined && site !== "none" && !isNamed) {
    return `requests from web pages are rejected (Sec-Fetch-Site). To allow a page, start the server with \`--allow-origin <origin>\`, or ${makeKey}.`
  }
  const proxy = Object.keys(headers).find((name) => !common.has(name) && ofProxies.test(name))
  return proxy === undefined
    ? undefined
    : `requests sent through a proxy are rejected (${proxy}). To use a proxy, ${makeKey}.`
}

/** Returns the error for a request that a server without keys must reject, or `undefined` if the request is allowed. */
export const refusal = (headers: Headers, origins: Origins.Origins, ownPages = false): ApiError | undefined => {
  const problem = problemOf(headers, origins, ownPages)
  return problem === undefined
    ? undefined
    : new ApiError({
        kind: "permission",
        message: `This server has no API keys, so it accepts only requests from programs on its own machine: ${problem}`
      })
}
