/** A vendor in a separate process that is never killed. It answers with a delay and records all calls. */
import { createServer } from "node:http"
import { json } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import * as World from "./World.ts"

/** The maximum time of an answer, in milliseconds. */
const mostMillis = 30

/** The number of requests for each run, which is what the vendor charges. */
const book: Record<string, number> = {}

const server = createServer(async (request, response) => {
  if (request.url === "/book") {
    response.end(JSON.stringify(book))
    return
  }
  const asked = (await json(request)) as World.Asked
  const run = World.runOf(asked)
  book[run] = (book[run] ?? 0) + 1
  await sleep(Math.random() * mostMillis)
  response.end(JSON.stringify(World.answer(asked)))
})

// Whoever is killed cuts its connections.
server.on("clientError", (_, socket) => socket.destroy())
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  console.log(typeof address === "object" ? address?.port : address)
})
