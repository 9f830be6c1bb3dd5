/**
 * The tools that clients run themselves and name by their type alone, with the input that the vendor's models know:
 * Anthropic's (https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview) and OpenAI's
 * (https://developers.openai.com/api/docs/guides/tools-shell, …/tools-apply-patch), read in November 2026.
 */
import { isObject, type JsonObject } from "./Json.ts"

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

/** A tool that a client runs. */
export interface ClientTool {
  readonly description: string
  readonly input_schema: JsonObject
}

const limits = { timeout_ms: number, max_output_length: number }

/** OpenAI's tools by type. Their calls are items of a type of their own, and their input is a field of the item. */
const ofOpenAi: ReadonlyMap<unknown, ClientTool> = new Map(
  [
    {
      type: "local_shell",
      description: "Runs a command, given as a list of arguments, on the user's machine.",
      field: "action",
      input: {
        type: "object",
        properties: {
          type: commands("exec"),
          command: { type: "array", items: text },
          env: { type: "object", additionalProperties: text },
          timeout_ms: number,
          working_directory: text
        },
        required: ["type", "command", "env"]
      }
    },
    {
      type: "shell",
      description: "Runs shell commands on the user's machine, and returns the output of each.",
      field: "action",
      input: {
        type: "object",
        properties: { commands: { type: "array", items: text }, ...limits },
        required: ["commands"]
      }
    },
    {
      type: "apply_patch",
      description: "Creates, updates or deletes one file. `diff` is in the V4A format: lines with +, - or a space.",
      field: "operation",
      input: {
        type: "object",
        properties: { type: commands("create_file", "update_file", "delete_file"), path: text, diff: text },
        required: ["type", "path"]
      }
    }
  ].map(({ description, field, input, type }) => [
    type,
    { description, input_schema: { type: "object", properties: { [field]: input }, required: [field] } }
  ])
)

/**
 * Returns a tool of OpenAI whose calls are items of their own type, such as `shell_call`, or `undefined` for all others. A
 * shell in a container of the vendor is not run by the client.
 */
export const ofItem = ({ environment, type }: JsonObject): ClientTool | undefined =>
  isObject(environment) && environment.type !== "local" ? undefined : ofOpenAi.get(type)

/** Returns the description and the input of a tool by its type, or `undefined` if the client does not run it. */
export const ofType = (type: unknown): ClientTool | undefined => {
  const tool = typeof type === "string" ? tools.find(([pattern]) => pattern.test(type)) : undefined
  return tool === undefined ? undefined : { description: tool[1], input_schema: tool[2] }
}
