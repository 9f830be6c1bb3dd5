/** @jsxImportSource preact */
/** Components whose module is loaded on first render. */
import { signal } from "@preact/signals"
import type { ComponentType } from "preact"
import { Failed, Skeleton } from "./Parts.tsx"

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
      () => {
        loaded.value = new Error("This page could not be loaded. Check that the server is running.")
      }
    )
  }
  return (props) => {
    if (!isBegun) begin()
    const { value: Component } = loaded
    if (Component === undefined) return <Skeleton rows={10} />
    if (Component instanceof Error) return <Failed error={Component} retry={() => location.reload()} />
    return <Component {...props} />
  }
}
