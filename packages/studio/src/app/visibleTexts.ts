/**
 * Makes invisible characters visible in all rendered text, so that, for example, the name of a worker cannot change the
 * direction of the text around it. Values of inputs are unchanged.
 */
import { options } from "preact"
import * as Format from "../run/Format.ts"

/** Attributes that are shown or read aloud to a user. */
const readAttributes = ["aria-label", "aria-valuetext", "title", "label", "placeholder"]

const shown = (value: unknown): unknown =>
  typeof value === "string" ? Format.visible(value) : Array.isArray(value) ? value.map(shown) : value

/** Installs the hook in Preact. It applies to everything rendered afterwards. */
export const start = (): void => {
  const before = options.vnode
  options.vnode = (vnode) => {
    if (typeof vnode.type === "string") {
      const props = vnode.props as Record<string, unknown>
      if (props.children !== undefined) props.children = shown(props.children)
      for (const name of readAttributes) if (typeof props[name] === "string") props[name] = shown(props[name])
    }
    before?.(vnode)
  }
}
