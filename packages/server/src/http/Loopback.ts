/**
 * Restricts a server without keys to requests from programs on this machine. Browser pages, host names that point to
 * this machine, and forwarded requests of proxies are refused.
 */
import { ApiError } from "../wire/ApiError.ts"
import type { Headers } from "../wire/Choice.ts"
import * as Origins from "./Origins.ts"

/** Whether a host is this machine by its own names: with a port or without. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\]|::1)(:\d+)?$/i.test(host)

/** The headers by which proxies, load balancers and tunnels name the client that they speak for. */
const ofProxies = new RegExp(
  [
    "^(?:x-)?(?:forwarded|original)(?:-.*)?$",
    "^via$",
    "^cdn-loop$",
    "^x-(?:real|proxyuser)-ip$",
    "(?:^|-)(?:client|connecting)-?ip(?:v6)?$",
    "^(?:x-)?(?:envoy|tailscale|azure|arr|appengine|rewrite|coming|cluster|amzn|cloudfront|vercel|cf|ngrok)-(?!trace)"
  ].join("|"),
  "i"
)

/** The headers of most requests, which are not looked at further. */
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

/** Whether a request comes from a page that this server sent: the host name is that of this machine. */
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
    : `requests through a proxy are rejected (${proxy}). To use a proxy, ${makeKey}.`
}

/** Why a server without keys refuses a request; `undefined` if it answers it. */
export const refusal = (headers: Headers, origins: Origins.Origins, ownPages = false): ApiError | undefined => {
  const problem = problemOf(headers, origins, ownPages)
  return problem === undefined
    ? undefined
    : new ApiError({
        kind: "permission",
        message: `This server has no API keys, so it accepts only requests from programs on its own machine: ${problem}`
      })
}
