/**
 * Tools of MCP servers for the workers of Divisi, and a Conductor as an MCP server.
 */
export * as ConductorServer from "./ConductorServer.ts"
export type { HttpServer, McpServer, Secret, StdioServer } from "./McpServer.ts"
export * as McpTools from "./McpTools.ts"
