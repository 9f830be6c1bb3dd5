/** The routes, as a Hono app: it runs on Node, Bun, Deno and Workers. */
import { readFileSync } from "node:fs"
import { eventResponse } from "@divisi/core/promise"
import { Hono } from "hono"
import { POST } from "./app/api/chat/route.ts"
import { team } from "./team.ts"

const page = readFileSync(new URL("page.html", import.meta.url), "utf8")

export const app = new Hono()
  .get("/", ({ html }) => html(page))
  .get("/ask", ({ req }) => {
    const question = req.query("question") || "Write about the sea."
    return eventResponse({ ...team, question, signal: req.raw.signal })
  })
  .post("/api/chat", ({ req }) => POST(req.raw))
