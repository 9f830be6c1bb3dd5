/** The other way round: any MCP client can ask the team of the config. This one is the SDK's own. */
import assert from "node:assert/strict"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"

const client = new Client({ name: "example", version: "1.0.0" })
const { PATH = "" } = process.env
await client.connect(
  new StdioClientTransport({ command: "divisi", args: ["mcp", "--max-cost", "0.01"], env: { PATH } })
)

const result = await client.callTool(
  { name: "ask", arguments: { question: "What do the notes say of Oslo?" } },
  { onprogress: ({ message }) => console.log(`  ${message}`) }
)
const [part] = result.content
const answer = part?.type === "text" ? part.text : ""
console.log(answer)
assert.equal(answer, "The notes say: Oslo lies on a fjord.")
await client.close()
