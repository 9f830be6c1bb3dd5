/** Data of a page that is read once, from a server or from the data of an exported page. */
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { readData } from "./Source.ts"

/** The data of a path: not yet read, read, or the error. */
export interface Loaded<A> {
  readonly value?: A
  readonly error?: Error
  readonly retry: () => void
}

/** Reads the data of a path whenever the path changes; every `everyMillis` again while the page is seen, if given. */
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
    const timer =
      everyMillis === undefined
        ? undefined
        : setInterval(() => {
            if (!document.hidden) void read()
          }, everyMillis)
    return () => {
      abort.abort()
      clearInterval(timer)
    }
  }, [path, attempt.value])
  const retry = () => {
    state.value = { path }
    attempt.value += 1
  }
  return state.value.path === path ? { ...state.value, retry } : { retry }
}

/** Reads the data of several paths whenever they change: those that are read, in their order, and the first error. */
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
