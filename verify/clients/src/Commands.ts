/**
 * Executes tasks with the tools of coding agents. A task is a list of orders with their arguments in backticks:
 *
 * - run `command`
 * - read `path`
 * - replace `old` by `new` in `path`
 * - write `text` to `path`
 *
 * Orders are executed in sequence, with one call per turn. Tools are recognized by their parameters rather than by
 * their names: a command, a path, a path with an old and a new text, or a path with content. A patch tool accepts a
 * text. If there is no tool for reading, replacing or writing, the shell is used.
 */
import type { Tool } from "@divisi/core"

type Call = { readonly name: string; readonly arguments: object }

type Order =
  | { readonly type: "run"; readonly command: string }
  | { readonly type: "read"; readonly path: string }
  | { readonly type: "replace"; readonly old: string; readonly by: string; readonly path: string }
  | { readonly type: "write"; readonly text: string; readonly path: string }

const orders =
  /\b(?:run `([^`]+)`|read `([^`]+)`|replace `([^`]+)` by `([^`]+)` in `([^`]+)`|write `([^`]+)` to `([^`]+)`)/gi

const ordersIn = (question: string): ReadonlyArray<Order> =>
  [...question.matchAll(orders)].map(([, command, read, old, by, path, text, file]): Order => {
    if (command !== undefined) return { type: "run", command }
    if (read !== undefined) return { type: "read", path: read }
    if (text !== undefined) return { type: "write", text, path: file! }
    return { type: "replace", old: old!, by: by!, path: path! }
  })

const fieldsOf = ({ input }: Tool.ToolDefinition): ReadonlyArray<string> =>
  typeof input.properties === "object" && input.properties !== null ? Object.keys(input.properties) : []

/** Returns the first of the given names for which the tool has a parameter. */
const among = (tool: Tool.ToolDefinition, names: ReadonlyArray<string>): string | undefined =>
  names.find((name) => fieldsOf(tool).includes(name))

const paths = ["file_path", "filePath", "path"]
const olds = ["old_string", "oldString"]
const news = ["new_string", "newString"]

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Other fields that a tool requires. */
const also = (tool: Tool.ToolDefinition, given: object): object => {
  const { properties, required } = tool.input
  const missing = Array.isArray(required) ? required.filter((name) => !(name in given)) : []
  const typeOf = (name: string) => (properties as Record<string, { readonly type?: string }>)[name]?.type
  return Object.fromEntries(
    missing.map((name) => [
      name,
      typeOf(name) === "number" ? 1 : typeOf(name) === "boolean" ? false : "as the user asked"
    ])
  )
}

const called = (tool: Tool.ToolDefinition, given: object): Call => ({
  name: tool.name,
  arguments: { ...given, ...also(tool, given) }
})

const runs = (tools: ReadonlyArray<Tool.ToolDefinition>, command: string): Call | undefined => {
  for (const tool of tools) {
    const field = among(tool, ["command", "cmd"])
    if (field === undefined) continue
    const { type } = (tool.input.properties as Record<string, { readonly type?: unknown }>)[field]!
    return called(tool, { [field]: type === "array" ? ["bash", "-lc", command] : command })
  }
  return undefined
}

const reads = (tools: ReadonlyArray<Tool.ToolDefinition>, path: string): Call | undefined => {
  const tool = tools.find((one) => /read/i.test(one.name) && among(one, paths) !== undefined)
  return tool === undefined ? runs(tools, `cat ${quoted(path)}`) : called(tool, { [among(tool, paths)!]: path })
}

const replaces = (tools: ReadonlyArray<Tool.ToolDefinition>, { by, old, path }: Order & { type: "replace" }) => {
  const tool = tools.find((one) => [paths, olds, news].every((names) => among(one, names) !== undefined))
  if (tool !== undefined) {
    return called(tool, { [among(tool, paths)!]: path, [among(tool, olds)!]: old, [among(tool, news)!]: by })
  }
  const escaped = (text: string) => text.replace(/[\\/&.*[\]^$]/g, "\\$&")
  return runs(tools, `sed -i ${quoted(`s/${escaped(old)}/${escaped(by)}/`)} ${quoted(path)}`)
}

/** A patch in the form of Codex's tool, which takes a text instead of arguments. */
const patched = (tool: Tool.ToolDefinition, path: string, text: string): Call => ({
  name: tool.name,
  arguments: { input: `*** Begin Patch\n*** Add File: ${path}\n+${text}\n*** End Patch\n` }
})

const writes = (tools: ReadonlyArray<Tool.ToolDefinition>, { path, text }: Order & { type: "write" }) => {
  const tool = tools.find((one) => [paths, ["content"]].every((names) => among(one, names) !== undefined))
  if (tool !== undefined) return called(tool, { [among(tool, paths)!]: path, content: `${text}\n` })
  const patch = tools.find((one) => /patch/i.test(one.name) && among(one, ["input"]) !== undefined)
  if (patch !== undefined) return patched(patch, path, text)
  return runs(tools, `printf '%s\\n' ${quoted(text)} > ${quoted(path)}`)
}

const callOf = (order: Order, tools: ReadonlyArray<Tool.ToolDefinition>): Call | undefined => {
  switch (order.type) {
    case "run":
      return runs(tools, order.command)
    case "read":
      return reads(tools, order.path)
    case "replace":
      return replaces(tools, order)
    case "write":
      return writes(tools, order)
  }
}

/**
 * The next call of a task: none if all its instructions are carried out, `undefined` if the text has no instructions.
 */
export const next = (
  question: string,
  done: number,
  tools: ReadonlyArray<Tool.ToolDefinition>
): ReadonlyArray<Call> | undefined => {
  const all = ordersIn(question)
  const order = all[done]
  if (all.length === 0) return undefined
  const call = order === undefined ? undefined : callOf(order, tools)
  return call === undefined ? [] : [call]
}
