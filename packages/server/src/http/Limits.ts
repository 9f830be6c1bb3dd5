/** Limits on requests. They are checked before a request is parsed. */

import { Options as Tables } from "@divisi/core"

/** Limits on requests. Sizes are in bytes of the decoded body. */
export interface Limits {
  /** The size of a complete body. Default: 32 MiB. */
  readonly bodyBytes: number
  /** The size of a body, not counting inline images and files of at least 256 KiB. Default: 8 MiB. */
  readonly plainBytes: number
  /** The size of a WebSocket frame, including inline images and files. Default: 8 MiB. */
  readonly frameBytes: number
  /** The nesting depth of lists and objects. Default: 100. */
  readonly depth: number
  /** The number of values and keys together. Default: 200,000. */
  readonly values: number
  /** The size of one string. Default: 4 MiB. */
  readonly textBytes: number
  /** The size of one inline image or file, as base64 or a `data:` URL. Default: 24 MiB. */
  readonly mediaBytes: number
  /** The total size of bodies in flight, each from its first byte to the end of its response. Default: 256 MiB. */
  readonly inFlightBytes: number
  /** The total size of one caller's bodies in flight. Default: 96 MiB. */
  readonly callerInFlightBytes: number
}

const mebi = 2 ** 20

/** The default limits. */
export const defaults: Limits = {
  bodyBytes: 32 * mebi,
  plainBytes: 8 * mebi,
  frameBytes: 8 * mebi,
  depth: 100,
  values: 200_000,
  textBytes: 4 * mebi,
  mediaBytes: 24 * mebi,
  inFlightBytes: 256 * mebi,
  callerInFlightBytes: 96 * mebi
}

/** The names of all limits. */
export const names = Object.keys(defaults) as ReadonlyArray<keyof Limits>

/** Limits that override the defaults. */
export type Given = { readonly [K in keyof Limits]?: number | undefined }

/** The table of {@link Given}, for `Options.check`. */
export const table = {
  bodyBytes: Tables.whole(1),
  plainBytes: Tables.whole(1),
  frameBytes: Tables.whole(1),
  depth: Tables.whole(1),
  values: Tables.whole(1),
  textBytes: Tables.whole(1),
  mediaBytes: Tables.whole(1),
  inFlightBytes: Tables.whole(1),
  callerInFlightBytes: Tables.whole(1)
} satisfies Tables.ShapeOf<Limits>

/** Returns the limits for a server's options, with defaults filled in. */
export const of = ({
  limits = {},
  maxBodyBytes
}: {
  readonly limits?: Given | undefined
  readonly maxBodyBytes?: number | undefined
}): Limits => {
  const given = Object.entries({ ...limits, ...(maxBodyBytes !== undefined && { bodyBytes: maxBodyBytes }) })
  return { ...defaults, ...Object.fromEntries(given.filter(([, limit]) => limit !== undefined)) }
}
