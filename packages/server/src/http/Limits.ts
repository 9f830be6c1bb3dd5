/** Limits of what a client sends. They are checked before anything reads it. */

import { Options as Tables } from "@divisi/core"

/** Limits of requests. Sizes are in bytes of the body as it is after its encoding is undone. */
export interface Limits {
  /** A whole body; 32 MiB by default. */
  readonly bodyBytes: number
  /** A body without its inline images and files of 256 KiB and more; 8 MiB by default. */
  readonly plainBytes: number
  /** A frame of a WebSocket, inline images and files included; 8 MiB by default. */
  readonly frameBytes: number
  /** How deeply lists and objects are nested; 100 by default. */
  readonly depth: number
  /** Values and keys together; 200,000 by default. */
  readonly values: number
  /** One text; 4 MiB by default. */
  readonly textBytes: number
  /** One inline image or file, as base64 or a `data:` URL; 24 MiB by default. */
  readonly mediaBytes: number
  /** Bodies in flight of all callers, from their first byte to the end of the response; 256 MiB by default. */
  readonly inFlightBytes: number
  /** Bodies in flight of one caller; 96 MiB by default. */
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

/** The limits that are not the default. */
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

/** The limits of a server's options, with the default where none is given. */
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
