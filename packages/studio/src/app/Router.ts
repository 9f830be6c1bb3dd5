/** Parses and updates the address of the page: `#/runs/ID?step=0.2&at=1200`. */

import { signal } from "@preact/signals"
import * as Format from "../run/Format.ts"

/** A location within the studio. */
export interface Place {
  /** The path without the leading slash: `runs/ID`. */
  readonly path: ReadonlyArray<string>
  readonly query: URLSearchParams
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Parses the fragment of a URL. */
export const read = (hash: string): Place => {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2)
  const names = path.split("/").filter((name) => name !== "")
  return { path: names.length === 0 ? ["runs"] : names.map(decode), query: new URLSearchParams(query) }
}

export const place = signal<Place>(read(globalThis.location?.hash ?? ""))

/** Formats a location as a URL fragment. */
export const href = (path: ReadonlyArray<string>, query: Readonly<Record<string, string | undefined>> = {}): string => {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const search = given.length === 0 ? "" : `?${new URLSearchParams(given)}`
  return `#/${path.map(Format.segment).join("/")}${search}`
}

export const go = (address: string): void => {
  globalThis.location.hash = address.slice(1)
}

/** Opens an address in place of the current history entry. */
export const replace = (address: string): void => {
  history.replaceState(null, "", address)
  place.value = read(address)
}

/** Changes the query of the current page, in place of the current history entry. */
export const setQuery = (changes: Readonly<Record<string, string | undefined>>): void => {
  const { path, query } = place.peek()
  replace(href(path, { ...Object.fromEntries(query), ...changes }))
}

/** Subscribes to changes of the location. */
export const start = (): void => {
  addEventListener("hashchange", () => {
    place.value = read(location.hash)
  })
}
