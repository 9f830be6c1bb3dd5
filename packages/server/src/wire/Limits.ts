/** Limits on requests. They are enforced before a request is parsed. */

import { Options as Tables } from "@divisi/core"

/** Limits on requests. Sizes are in bytes, after decompression. */
export interface Limits {
  /** Maximum size of a complete body. Default: 32 MiB. */
  readonly bodyBytes: number
  /** Maximum size of a body, excluding inline images and files of 256 KiB or more. Default: 8 MiB. */
  readonly plainBytes: number
  /** Maximum size of a WebSocket frame, including inline images and files. Default: 8 MiB. */
  readonly frameBytes: number
  /** Maximum nesting depth of lists and objects. Default: 100. */
  readonly depth: number
  /** Maximum number of values and keys combined. Default: 200,000. */
  readonly values: number
  /** Maximum size of a single string. Default: 4 MiB. */
  readonly textBytes: number
  /** Maximum size of a single inline image or file, encoded as base64 or as a `data:` URL. Default: 24 MiB. */
  readonly mediaBytes: number
  /**
   * Maximum total size of bodies in flight. A body counts from its first byte until its response is complete. Default:
   * 256 MiB.
   */
  readonly inFlightBytes: number
  /** Maximum total size of one caller's bodies in flight. Default: 96 MiB. */
  readonly callerInFlightBytes: number
}

const mebi = 2 ** 20

/**
 * The default limits.
 *
 * @internal
 */
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

/**
 * The names of all limits.
 *
 * @internal
 */
export const names = Object.keys(defaults) as ReadonlyArray<keyof Limits>

/** Overrides for the default limits. */
export type Given = { readonly [K in keyof Limits]?: number | undefined }

/**
 * The validation table for {@link Given}, for use with `Options.check`.
 *
 * @internal
 */
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

/**
 * Returns the limits configured in a server's options, with defaults for the rest.
 *
 * @internal
 */
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
