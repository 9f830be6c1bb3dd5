/** Loads data that does not change while it is displayed, from a server or from an exported page. */
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { readData } from "./Source.ts"

/**
 * Calls a function at an interval while the page is visible, and never before its last call has finished, so that a
 * slow server gets no further requests and no older response replaces a newer one. Returns a function that stops it.
 */
export const periodically = (millis: number, read: () => Promise<unknown>): (() => void) => {
  let isBusy = false
  const timer = setInterval(() => {
    if (document.hidden || isBusy) return
    isBusy = true
    read().finally(() => {
      isBusy = false
    })
  }, millis)
  return () => clearInterval(timer)
}

/** The state of a request: loading, loaded, or failed. */
export interface Loaded<A> {
  readonly value?: A
  readonly error?: Error
  readonly retry: () => void
}

/**
 * Loads the data at a path, and again whenever the path changes. With `everyMillis`, the data is reloaded periodically
 * while the page is visible.
 */
export const useData = <A>(path: string, everyMillis?: number): Loaded<A> => {
  const state = useSignal<{ readonly path: string; readonly value?: A; readonly error?: Error }>({ path })
  const attempt = useSignal(0)
  useEffect(() => {
    const abort = new AbortController()
    const read = () =>
      readData(path, abort.signal).then(
        (value) => {
          if (!abort.signal.aborted) state.value = { path, value: value as A }
        },
        (error: Error) => {
          if (!abort.signal.aborted) state.value = { ...(state.peek().path === path && state.peek()), path, error }
        }
      )
    void read()
    const stop = everyMillis === undefined ? undefined : periodically(everyMillis, read)
    return () => {
      abort.abort()
      stop?.()
    }
  }, [path, attempt.value])
  const retry = () => {
    state.value = { path }
    attempt.value += 1
  }
  return state.value.path === path ? { ...state.value, retry } : { retry }
}

/**
 * Loads the data at several paths, and again whenever they change. Returns the loaded values in order, and the first
 * error.
 */
export const useAll = <A>(
  paths: ReadonlyArray<string>
): { readonly values: ReadonlyArray<A>; readonly error?: Error } => {
  const state = useSignal<{ readonly values: ReadonlyArray<A>; readonly error?: Error }>({ values: [] })
  useEffect(() => {
    const abort = new AbortController()
    Promise.all(paths.map((path) => readData(path, abort.signal))).then(
      (values) => {
        if (!abort.signal.aborted) state.value = { values: values as ReadonlyArray<A> }
      },
      (error: Error) => {
        if (!abort.signal.aborted) state.value = { values: [], error }
      }
    )
    return () => abort.abort()
  }, [paths.join("\n")])
  return state.value
}
