/** The least that a gateway can be: a hop of `node:http` that passes on what it gets. Prints its port. */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"

const port = Number(process.argv[2])
const agent = new Http.Agent({ keepAlive: true, maxSockets: 64 })

const server = Http.createServer((request, response) => {
  const onward = Http.request(
    { agent, host: "127.0.0.1", port, method: request.method, path: request.url, headers: request.headers },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    }
  )
  onward.on("error", () => response.destroy())
  request.pipe(onward)
})

server.keepAliveTimeout = 60_000
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port))
process.on("disconnect", () => process.exit())
