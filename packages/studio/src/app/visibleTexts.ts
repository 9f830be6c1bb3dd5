/**
 * Shows invisible characters of all texts by name, wherever they are drawn: no name of a worker or a policy turns the
 * direction of the text around it. Values of inputs are left as they are.
 */
import { options } from "preact"
import * as Format from "../run/Format.ts"

/** The attributes that are read to a user. */
const readAttributes = ["aria-label", "aria-valuetext", "title", "label", "placeholder"]

const shown = (value: unknown): unknown =>
  typeof value === "string" ? Format.visible(value) : Array.isArray(value) ? value.map(shown) : value

/** Makes Preact draw all texts so from now on. */
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
