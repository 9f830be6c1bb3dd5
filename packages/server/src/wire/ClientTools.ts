/**
 * The tools that Anthropic's clients run themselves and name by their type alone, with the input that the vendor's
 * models know: https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview, read in November 2026.
 */
import type { JsonObject } from "./Json.ts"

const text = { type: "string" }
const number = { type: "integer" }

const edits = {
  path: text,
  file_text: text,
  old_str: text,
  new_str: text,
  insert_line: number,
  insert_text: text,
  view_range: { type: "array", items: number }
}

const commands = (...names: ReadonlyArray<string>) => ({ type: "string", enum: names })

const tools: ReadonlyArray<readonly [type: RegExp, description: string, input: JsonObject]> = [
  [
    /^bash_\d+$/,
    "Runs a command in a persistent shell. Restarts the shell if `restart` is true.",
    { type: "object", properties: { command: text, restart: { type: "boolean" } } }
  ],
  [
    /^text_editor_\d+$/,
    "Views and edits text files. `view_range` is the first and last line; -1 is the end of the file.",
    {
      type: "object",
      properties: { command: commands("view", "create", "str_replace", "insert"), ...edits },
      required: ["command", "path"]
    }
  ],
  [
    /^memory_\d+$/,
    "Stores notes in files under /memories, which later conversations can read.",
    {
      type: "object",
      properties: {
        command: commands("view", "create", "str_replace", "insert", "delete", "rename"),
        ...edits,
        old_path: text,
        new_path: text
      },
      required: ["command"]
    }
  ]
]

/** Returns the description and the input of a tool by its type, or `undefined` if the client does not run it. */
export const ofType = (
  type: unknown
): { readonly description: string; readonly input_schema: JsonObject } | undefined => {
  const tool = typeof type === "string" ? tools.find(([pattern]) => pattern.test(type)) : undefined
  return tool === undefined ? undefined : { description: tool[1], input_schema: tool[2] }
}
