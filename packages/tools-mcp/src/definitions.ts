/**
 * The tools that a server lists. Each is read by itself: a tool that cannot be read costs that tool, and the reason is
 * given in words.
 */
import type { Tool } from "@divisi/core"

/** A tool as a server describes it. */
export interface Definition {
  readonly name: string
  readonly description: string | undefined
  readonly input: Tool.JsonSchema
  readonly output: Tool.JsonSchema | undefined
  readonly isReadOnly: boolean
}

/** A list that was read: its tools, and what is wrong with the others. */
export interface Listed {
  readonly tools: ReadonlyArray<Definition>
  readonly problems: ReadonlyArray<string>
}

/** Upper bounds of a definition: values in it, levels, and characters of its texts. */
const maxNodes = 20_000
const maxDepth = 100
const maxCharacters = 250_000
const maxName = 256

/** Upper bounds of a list: every request of a run carries its tools. */
const maxTools = 1_000
const maxListCharacters = 1_000_000

/** The maximum number of references that lead to each other, and of problems that are reported. */
const maxReferences = 50
const maxProblems = 20

type Fields = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const shown = (value: unknown): string => (JSON.stringify(value) ?? `${value}`).slice(0, 60)

/** A definition that cannot be used. */
class Unreadable extends Error {}

const refuse = (why: string): never => {
  throw new Unreadable(why)
}

/** Refuses a definition that is too large, before anything reads it. Returns its characters. */
const sizeOf = (definition: unknown): number => {
  let nodes = 0
  let characters = 0
  let level: ReadonlyArray<unknown> = [definition]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) refuse(`its definition is nested deeper than ${maxDepth} levels`)
    nodes += level.length
    const next: Array<unknown> = []
    for (const value of level) {
      if (typeof value === "string") characters += value.length
      else if (typeof value === "object" && value !== null) {
        for (const [key, inner] of Object.entries(value)) {
          characters += key.length
          next.push(inner)
        }
      }
    }
    if (nodes > maxNodes) refuse(`its definition has more than ${maxNodes} values`)
    if (characters > maxCharacters) refuse(`its definition has more than ${maxCharacters} characters`)
    level = next
  }
  return characters
}

/** The schema that a reference at the root names, within the same schema. */
const referenced = (schema: Fields, seen: ReadonlyArray<string> = []): Fields => {
  const { $ref, ...rest } = schema
  if ($ref === undefined) return schema
  if (typeof $ref !== "string" || !$ref.startsWith("#/") || seen.includes($ref)) {
    return refuse(`its schema refers to ${shown($ref)}, which is not in it`)
  }
  if (seen.length > maxReferences) refuse(`its schema refers to more than ${maxReferences} schemas in a row`)
  const path = $ref.slice(2).split("/")
  let target: unknown = schema
  for (const segment of path) {
    const key = decodeURIComponent(segment).replaceAll("~1", "/").replaceAll("~0", "~")
    target = isRecord(target) && Object.hasOwn(target, key) ? target[key] : undefined
  }
  if (!isRecord(target)) return refuse(`its schema refers to ${shown($ref)}, which is not in it`)
  return referenced({ ...target, ...rest }, [...seen, $ref])
}

/** Returns the schema of arguments, which are an object. A schema without a type is assumed to describe one. */
const inputOf = (schema: unknown): Tool.JsonSchema => {
  if (schema === undefined || schema === null || schema === true) return { type: "object" }
  if (!isRecord(schema)) return refuse(`its schema is ${shown(schema)}, not a JSON Schema`)
  // Vendors read one dialect, and some refuse the name of any.
  const { $schema: _, ...root } = referenced(schema)
  const { properties, required, type, ...rest } = root
  const types = type === undefined || type === null ? ["object"] : [type].flat()
  if (!types.includes("object")) refuse(`its arguments are of the type ${shown(type)}, and not an object`)
  if (properties !== undefined && properties !== null && !isRecord(properties)) {
    refuse(`the "properties" of its schema are ${shown(properties)}, not an object`)
  }
  if (required !== undefined && required !== null && !Array.isArray(required)) {
    refuse(`"required" in its schema is ${shown(required)}, not a list`)
  }
  return { ...rest, type: "object", ...(isRecord(properties) && { properties }), ...(required != null && { required }) }
}

const textIn = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

const definitionOf = (name: string, tool: Fields): Definition => {
  const { annotations, description, execution, inputSchema, outputSchema, title } = tool
  // The SDK has the messages of tasks and no client for them.
  if (isRecord(execution) && execution.taskSupport === "required")
    refuse("it runs only as an MCP task, and tasks are not supported")
  return {
    name,
    description: textIn(description) ?? textIn(title),
    input: inputOf(inputSchema),
    output: isRecord(outputSchema) ? outputSchema : undefined,
    isReadOnly: isRecord(annotations) && annotations.readOnlyHint === true
  }
}

/** The first problems, and how many more there are. */
const first = (problems: ReadonlyArray<string>): ReadonlyArray<string> =>
  problems.length <= maxProblems
    ? problems
    : [...problems.slice(0, maxProblems), `${problems.length - maxProblems} more of its tools have problems`]

/** Reads a list. Of two tools with one name the first is taken. */
export const read = (tools: ReadonlyArray<unknown>): Listed => {
  const known = new Map<string, Definition>()
  const problems: Array<string> = []
  let characters = 0
  for (const [index, tool] of tools.entries()) {
    const name = isRecord(tool) ? textIn(tool.name) : undefined
    if (known.size === maxTools) {
      problems.unshift(`it has more than ${maxTools} tools; the others are left out`)
      break
    }
    if (name === undefined || name.length > maxName) {
      const why = name === undefined ? "it has no name" : `its name has more than ${maxName} characters`
      problems.push(`its tool ${index + 1} is left out: ${why}`)
    } else if (known.has(name)) problems.push(`its tool "${name}" is listed twice, and the first is used`)
    else {
      try {
        const size = sizeOf(tool)
        if (characters + size > maxListCharacters) {
          refuse(`with it, the server's tools exceed ${maxListCharacters} characters`)
        }
        known.set(name, definitionOf(name, tool as Fields))
        characters += size
      } catch (error) {
        if (!(error instanceof Unreadable || error instanceof URIError)) throw error
        problems.push(`its tool "${name}" is left out: ${error.message}`)
      }
    }
  }
  return { tools: [...known.values()], problems: first(problems) }
}
