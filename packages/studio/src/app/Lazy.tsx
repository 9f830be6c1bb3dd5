/** @jsxImportSource preact */
/** Components whose module is loaded on first render. */
import { signal } from "@preact/signals"
import type { ComponentType } from "preact"
import { Failed, Skeleton } from "./Parts.tsx"
import { ask, isMounted, SourceError } from "./Source.ts"

/** Returns why a module cannot be loaded: the server is unreachable, or has other modules since it was updated. */
const reason = (): Promise<Error> =>
  ask(isMounted() ? "studio/" : "").then(
    () => new Error("This tab shows an earlier version."),
    (cause: Error) => cause
  )

/** The properties of a component. */
type PropsOf<A> = A extends ComponentType<infer Props> ? Props : never

/** Creates a component whose module is loaded on first render. Until then, it renders a placeholder. */
export const lazy = <Module extends object, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name
): ComponentType<PropsOf<Module[Name]>> => {
  const loaded = signal<ComponentType<PropsOf<Module[Name]>> | Error | undefined>(undefined)
  let isBegun = false
  const begin = () => {
    isBegun = true
    load().then(
      (module) => {
        loaded.value = module[name] as ComponentType<PropsOf<Module[Name]>>
      },
      async () => {
        loaded.value = await reason()
      }
    )
  }
  return (props) => {
    if (!isBegun) begin()
    const { value: Component } = loaded
    if (Component === undefined) return <Skeleton rows={10} />
    if (Component instanceof SourceError) return <Failed error={Component} retry={begin} />
    if (Component instanceof Error)
      return <Failed error={Component} title="The studio was updated" again="Reload" retry={() => location.reload()} />
    return <Component {...props} />
  }
}
