/** Which workers of a pool can take a task as it is, with its tools, pictures and files. */
import type { Context } from "@divisi/core/Policy"
import type { Capabilities } from "@divisi/core/Worker"

/** What a task needs besides text. */
const needsOf = ({ task, tools = [] }: Context): ReadonlySet<keyof Capabilities> => {
  const parts = task.messages.flatMap(({ content }) => (typeof content === "string" ? [] : content))
  const has = (type: string) => parts.some((part) => part.type === type)
  const needs = { tools: tools.length > 0, images: has("image"), files: has("file") }
  return new Set((["tools", "images", "files"] as const).filter((need) => needs[need]))
}

/** Their ordinals; all where nobody can, so that the run says what is missing. */
export const able = (context: Context): ReadonlyArray<number> => {
  const needs = needsOf(context)
  const all = context.pool.workers.map((_, ordinal) => ordinal)
  const can = all.filter((ordinal) =>
    [...needs].every((need) => context.pool.workers[ordinal]!.capabilities?.[need] === true)
  )
  return can.length === 0 ? all : can
}
