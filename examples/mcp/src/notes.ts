/** An MCP server of one's own: some notes that can be searched, and one can be added to them. */
import { McpServer } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { z } from "zod"

const notes = ["Ulm has the tallest church of all.", "Oslo lies on a fjord."]

const text = (of: string) => ({ content: [{ type: "text" as const, text: of }] })

serveStdio(() => {
  const server = new McpServer({ name: "notes", version: "1.0.0" })
  server.registerTool(
    "search",
    {
      description: "Finds the notes that have a word",
      inputSchema: z.object({ word: z.string() }),
      // Who only reads says so, and is not asked about.
      annotations: { readOnlyHint: true }
    },
    ({ word }) => text(notes.filter((note) => note.includes(word)).join("\n") || "no note")
  )
  server.registerTool("add", { description: "Adds a note", inputSchema: z.object({ note: z.string() }) }, ({ note }) =>
    text(`There are ${notes.push(note)} notes.`)
  )
  return server
})
