/** Tools from MCP servers for Divisi's workers, and a Conductor served as an MCP server. */
export * as ConductorServer from "./ConductorServer.ts"
export type { HttpServer, McpServer, Secret, StdioServer } from "./McpServer.ts"
export * as McpTools from "./McpTools.ts"
