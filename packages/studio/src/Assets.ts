/** Serves the files of the studio app, compressed and with a strict content security policy. */
import fs from "node:fs"
import { fileURLToPath } from "node:url"

/** A file of the app, ready to be sent. */
export interface Asset {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml"
}

/** Names of the served files, by kind. The content of `page-HASH.js` never changes. */
const served = /^(?:(?:index|export)\.html|studio\.(?:js|css)|icon\.svg|page-[A-Z0-9]{1,16}\.js)$/

/**
 * The content security policy: resources only from the page's own server, no inline scripts or styles, and no framing
 * by other sites.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

/**
 * Response headers for each file.
 *
 * @internal
 */
export const securityHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": contentSecurityPolicy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin"
}

/** Raised if the app has not been built. In a checkout, build it with `pnpm --filter @divisi/studio build`. */
export class NotBuilt extends Error {
  constructor(folder: string) {
    super(`The studio's files are missing from ${folder}. Build them with: pnpm --filter @divisi/studio build.`)
    this.name = "NotBuilt"
  }
}

/** Folder of the built app. The relative path is the same from the source and from the built package. */
export const folder: string = fileURLToPath(new URL("../dist/app/", import.meta.url))

/**
 * Reads a file of the app as text. Throws {@link NotBuilt} if it does not exist.
 *
 * @internal
 */
export const textOf = (name: "export.html" | "folder.html" | "exported.js" | "studio.css"): string => {
  try {
    return fs.readFileSync(`${folder}${name}`, "utf8")
  } catch {
    throw new NotBuilt(folder)
  }
}

const cached = new Map<string, Uint8Array>()

/** Reads a file of the app. Returns `undefined` if this build does not include it. */
const bytesOf = (name: string): Uint8Array | undefined => {
  const known = cached.get(name)
  if (known !== undefined) return known
  try {
    const bytes = fs.readFileSync(`${folder}${name}`)
    cached.set(name, bytes)
    return bytes
  } catch {
    if (name.startsWith("page-")) return undefined
    throw new NotBuilt(folder)
  }
}

const encodingFor = (accepted: string): "br" | "gzip" | undefined =>
  /\bbr\b/.test(accepted) ? "br" : /\bgzip\b/.test(accepted) ? "gzip" : undefined

/**
 * Returns the file for a path below the page's root, or `undefined` if there is no such file. `""` and `"/"` return the
 * document. Throws {@link NotBuilt} in a checkout that has not been built.
 */
export const respond = (path: string, acceptedEncodings = ""): Asset | undefined => {
  const name = path.replace(/^\/+/, "") || "index.html"
  if (!served.test(name)) return undefined
  const encoding = encodingFor(acceptedEncodings)
  const suffix = encoding === undefined ? "" : encoding === "br" ? ".br" : ".gz"
  const body = bytesOf(`${name}${suffix}`)
  if (body === undefined) return undefined
  const headers = {
    ...securityHeaders,
    "content-type": types[name.slice(name.lastIndexOf(".") + 1)]!,
    "cache-control": name.startsWith("page-") ? "max-age=31536000, immutable" : "no-cache",
    vary: "accept-encoding",
    ...(encoding !== undefined && { "content-encoding": encoding })
  }
  return { status: 200, headers, body }
}
