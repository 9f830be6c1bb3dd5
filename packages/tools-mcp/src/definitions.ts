/**
 * Parses the tools listed by a server. Each tool is parsed separately, so an invalid one is omitted with the reason,
 * and the others remain available.
 */

import type { Tool } from "@divisi/core"
import { isRecord } from "@divisi/core/Fields"

/** A tool definition from a server. */
export interface Definition {
  readonly name: string
  readonly description: string | undefined
  readonly input: Tool.JsonSchema
  readonly output: Tool.JsonSchema | undefined
  readonly isReadOnly: boolean
}

/** A parsed list: the valid tools, and the problems with the others. */
export interface Listed {
  readonly tools: ReadonlyArray<Definition>
  readonly problems: ReadonlyArray<string>
}

/** Limits for a tool definition: number of values, nesting depth, and characters. */
const maxNodes = 20_000
const maxDepth = 100
const maxCharacters = 250_000
const maxName = 256

/** Limits for a tool list, which is part of every request in a run. */
const maxTools = 1_000
const maxListCharacters = 1_000_000

/** Maximum number of chained references, and of problems that are reported. */
const maxReferences = 50
const maxProblems = 20

type Fields = Readonly<Record<string, unknown>>

const shown = (value: unknown): string => (JSON.stringify(value) ?? `${value}`).slice(0, 60)

/** Thrown if a tool definition cannot be used. */
class Unreadable extends Error {}

const refuse = (why: string): never => {
  throw new Unreadable(why)
}

/** Rejects a definition that is too large, before it is parsed. Returns its number of characters. */
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

/** Resolves a reference at the root of a schema to a definition within the same schema. */
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

/**
 * Returns the schema for arguments, which must be an object. A schema without a type is assumed to describe an object.
 */
const inputOf = (schema: unknown): Tool.JsonSchema => {
  if (schema === undefined || schema === null || schema === true) return { type: "object" }
  if (!isRecord(schema)) return refuse(`its schema is ${shown(schema)}, not a JSON Schema`)
  // Vendors support a single JSON Schema dialect, and some reject a schema that names one.
  const { $schema: _, ...root } = referenced(schema)
  const { properties, required, type, ...rest } = root
  const types = type === undefined || type === null ? ["object"] : [type].flat()
  if (!types.includes("object")) refuse(`its arguments have the type ${shown(type)} instead of object`)
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
  // The SDK defines the messages for tasks, but has no client for them.
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

/** Returns the first problems, and the number of remaining ones. */
const first = (problems: ReadonlyArray<string>): ReadonlyArray<string> =>
  problems.length <= maxProblems
    ? problems
    : [...problems.slice(0, maxProblems), `it has ${problems.length - maxProblems} more tools with problems`]

/** Parses a tool list. If two tools have the same name, the first one is used. */
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
    } else if (known.has(name)) problems.push(`it lists the tool "${name}" twice; the first one is used`)
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
