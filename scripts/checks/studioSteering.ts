/**
 * Checks the studio of a real `divisi serve` in a real browser. By clicking, a plan is approved, five steps are
 * followed one by one over an unreliable connection, the answer is rated, the run is exported, steps are forked with
 * another worker, plan, answer or policy and in a nested run, a tool call is answered, and a run is cancelled.
 */
import { spawn } from "node:child_process"
import fs from "node:fs"
import http from "node:http"
import net from "node:net"
import path from "node:path"
import type { Browser, Page } from "playwright-core"
import { root } from "../setup/workspace.mjs"

/** Blocks the workers in `gated.config.ts` until a test lets one of them answer. */
const makeGate = async () => {
  const pending = new Map<string, Array<http.ServerResponse>>()
  const asked = new Map<string, Array<() => void>>()
  const server = http.createServer(({ url = "" }, response) => {
    const id = url.slice(1)
    pending.set(id, [...(pending.get(id) ?? []), response])
    for (const hear of asked.get(id)?.splice(0) ?? []) hear()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  /** Waits until a worker is called, and lets it answer. */
  const open = async (id: string): Promise<void> => {
    const [response, ...others] = pending.get(id) ?? []
    if (response !== undefined) {
      pending.set(id, others)
      response.end()
      return
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`The worker ${id} was not called.`)), 20_000)
      const hear = () => {
        clearTimeout(timer)
        resolve()
      }
      asked.set(id, [...(asked.get(id) ?? []), hear])
    })
    return open(id)
  }
  const { port } = server.address() as net.AddressInfo
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}`, open, close }
}

/** A proxy whose connections can be closed. It counts requests for event streams, and requests that continue one. */
const makeProxy = async (target: number) => {
  const sockets = new Set<net.Socket>()
  let isDown = false
  let followed = 0
  let continued = 0
  const server = net.createServer((client) => {
    if (isDown) return void client.destroy()
    const upstream = net.connect(target, "127.0.0.1")
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      sockets.add(socket)
      socket.on("error", () => {})
      socket.on("close", () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    client.on("data", (bytes) => {
      const text = bytes.toString("latin1")
      if (/^GET \S+\/events /m.test(text)) followed += 1
      if (/^last-event-id: \d+/im.test(text)) continued += 1
    })
    client.pipe(upstream).pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as net.AddressInfo
  const cut = () => {
    isDown = true
    for (const socket of sockets) socket.destroy()
  }
  const close = () => {
    cut()
    server.close()
  }
  return {
    url: `http://127.0.0.1:${port}`,
    cut,
    restore: () => (isDown = false),
    followed: () => followed,
    continued: () => continued,
    close
  }
}

/** Serves a team in `packages/studio/test/fixtures` with a separate home folder, journal and log of ratings. */
const serve = async (folder: string, name: string, gate = "") => {
  const main = path.join(root, "packages/cli/src/main.ts")
  const config = path.join(root, `packages/studio/test/fixtures/${name}.config.ts`)
  const flags = ["--config", config, "--port", "0", "--keys", "none", "--journal", path.join(folder, `${name}.sqlite`)]
  const home = path.join(folder, "home")
  fs.mkdirSync(home, { recursive: true })
  const child = spawn(process.execPath, ["--conditions=@divisi/source", main, "serve", ...flags, "--json"], {
    env: { ...process.env, HOME: home, GATE: gate, DIVISI_OUTCOMES: path.join(folder, "outcomes.jsonl") },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1]
      if (found !== undefined) resolve(Number(found))
    })
    child.on("close", (code) => reject(new Error(`divisi serve ended with ${code}.`)))
  })
  return { port, stop: () => child.kill() }
}

/** Asks a question. Returns the id of its run, which waits for approval of the plan. */
const ask = async (url: string, content: string, more: object = {}): Promise<string> => {
  const body = JSON.stringify({ model: "divisi", messages: [{ role: "user", content }], ...more })
  const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", body })
  const text = await response.text()
  const id = response.headers.get("x-divisi-run")
  if (id === null || !response.ok) throw new Error(`The question was refused: ${text.slice(0, 300)}`)
  return id
}

const node = (page: Page, step: number, worker: string, word: string) =>
  page.getByRole("button", { name: new RegExp(`^Step ${step}, ${worker}, ${word},`) }).waitFor()

const click = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: true }).first().click()

/** Forks a run from a step of the run nested in its first step. */
const forkNested = async (page: Page, folder: string): Promise<void> => {
  const { port, stop } = await serve(folder, "nested")
  try {
    const url = `http://127.0.0.1:${port}`
    await page.goto(`${url}/studio/#/runs/${await ask(url, "Is it nested?")}?step=0.0`)
    await click(page, "Open nested run")
    await page.getByRole("button", { name: /^Step 1, b, Answered/ }).click()
    await click(page, /^Fork from step/)
    await page.locator('select[name="worker"]').selectOption("a")
    await click(page, "Fork and run")
    await page.getByText("Forked from step 1 of a nested run of").waitFor()
    await page.getByRole("button", { name: /^Step 0, self, Answered/ }).click()
    await click(page, "Open nested run")
    await node(page, 0, "a", "From the forked run")
    await node(page, 1, "a", "Answered")
  } finally {
    stop()
  }
}

/** Exports the displayed run, and opens the file without a server. */
const exported = async (page: Page, folder: string, shows: string): Promise<void> => {
  const downloading = page.waitForEvent("download")
  await click(page, "Export")
  const download = await downloading
  const file = path.join(folder, download.suggestedFilename())
  await download.saveAs(file)
  const alone = await page.context().newPage()
  const requested: Array<string> = []
  alone.on("request", (request) => requested.push(request.url()))
  await alone.goto(`file://${file}`)
  await alone.getByText(shows).first().waitFor()
  const others = requested.filter((url) => !url.startsWith(`file://${file}`) && !url.startsWith("data:"))
  if (others.length > 0) throw new Error(`The exported page requests ${others[0]}.`)
  if (await alone.evaluate(() => "broken" in globalThis)) throw new Error("The exported page ran a text as a script.")
  await alone.close()
}

/** Performs all actions. `look` checks the page in its current state. Throws the first failure. */
export const steer = async (
  browser: Browser,
  folder: string,
  look: (page: Page, name: string) => Promise<void>
): Promise<void> => {
  const gate = await makeGate()
  const server = await serve(folder, "gated", gate.url)
  const direct = `http://127.0.0.1:${server.port}`
  const proxy = await makeProxy(server.port)
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce" })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const open = (run: string) => page.goto(`${proxy.url}/studio/#/runs/${run}`)
  try {
    await open(await ask(direct, "Why did it fail? <script>globalThis.broken = true</script>"))
    await page.getByText("This plan is waiting for your approval").waitFor()
    await look(page, "approval")
    const before = proxy.followed()
    await click(page, "Approve and run")
    await node(page, 0, "alpha", "Running")
    // After an action, the run is loaded again and followed from its start.
    while (proxy.followed() === before) await page.waitForTimeout(20)
    await gate.open("alpha")
    await node(page, 0, "alpha", "Answered")
    await node(page, 1, "beta", "Running")
    await gate.open("beta")
    await node(page, 2, "gamma", "Running")
    // Steps that finish while the page is disconnected must appear after it has reconnected.
    proxy.cut()
    await gate.open("gamma")
    await gate.open("delta")
    await page.getByText("Reconnecting").waitFor()
    proxy.restore()
    await node(page, 3, "delta", "Answered")
    await node(page, 2, "gamma", "Answered")
    await node(page, 4, "omega", "Running")
    if (proxy.continued() === 0) throw new Error("The page did not continue the stream after its last event.")
    await look(page, "live")
    await gate.open("omega")
    await page.getByText("omega has spoken").first().waitFor()
    await page.locator("[aria-live]").getByText("The run has ended: answered.").waitFor({ state: "attached" })
    await click(page, "Yes")
    await page.getByText("Rating stored").waitFor()
    await exported(page, folder, "omega has spoken")

    await page.getByRole("button", { name: /^Step 3, delta/ }).click()
    await click(page, /^Fork from step/)
    await page.locator('select[name="worker"]').selectOption("alpha")
    await look(page, "fork")
    await click(page, "Fork and run")
    await page.getByText("Forked from step 3").waitFor()
    await page.getByRole("heading", { name: "Step 3", exact: true }).waitFor()
    await gate.open("alpha")
    await gate.open("omega")
    await node(page, 3, "alpha", "Answered")
    await node(page, 4, "omega", "Answered")
    await node(page, 1, "beta", "From the forked run")

    await click(page, /^Fork from step/)
    await click(page, "Edit the plan")
    const plan = page.locator("textarea[name=plan]")
    const text = await plan.inputValue()
    await plan.fill(text.replace("[\n  0,", "[\n  7,"))
    await page.getByText(/Line 2, column \d+: .*worker 7/).waitFor()
    await look(page, "plan with a problem")
    await click(page, "Fork and run")
    // The first step is assigned to another worker, and all other steps depend on it.
    await plan.fill(text.replace("[\n  0,", "[\n  2,"))
    await page.getByText("This plan can be read.").waitFor()
    await page.getByText("Price: at least").waitFor()
    await click(page, "Fork and run")
    await node(page, 0, "gamma", "Running")
    for (const id of ["gamma", "beta", "gamma", "alpha", "omega"]) await gate.open(id)
    await node(page, 4, "omega", "Answered")

    // The answer of a step is given, and another policy plans later rounds.
    await page.getByRole("button", { name: /^Step 3, alpha/ }).click()
    await click(page, /^Fork from step/)
    await click(page, "Give its answer")
    await page.locator("textarea[name=answer]").fill("given by hand")
    await page.locator("select[name=policy]").selectOption("single:alpha")
    await page.getByText("Price: at least").waitFor()
    await click(page, "Fork and run")
    await page.getByText("Forked from step 3").waitFor()
    await gate.open("omega")
    await node(page, 3, "the caller", "Supplied by the caller")
    await node(page, 4, "omega", "Answered")
    // The plan is that of the other run, not of the policy of later rounds.
    await page.getByText("of the fork: 5 steps").waitFor()
    // An announcement ends with its page.
    await page.goto(`${proxy.url}/studio/#/runs`)
    await page.locator("[aria-live]").filter({ hasNotText: "ended" }).waitFor({ state: "attached" })

    const tools = [{ type: "function", function: { name: "refund", parameters: { type: "object" } } }]
    await open(await ask(direct, "Refund order 4711.", { tools }))
    await click(page, "Approve and run")
    for (const id of ["alpha", "beta", "gamma", "delta", "omega"]) await gate.open(id)
    await page.locator('textarea[name="result"]').fill("12 EUR")
    await look(page, "tool call")
    await click(page, "Send the result")
    await gate.open("omega")
    await page.getByText("omega read 12 EUR").first().waitFor()

    await open(await ask(direct, "Is this too dear?"))
    await click(page, "Refuse")
    await page.getByLabel("Reason (optional)").fill("too dear")
    await click(page, "Refuse the plan")
    await page.getByText("the plan was refused: too dear").first().waitFor()
    await page.getByText("Plan refused", { exact: true }).waitFor()
    await node(page, 0, "alpha", "Skipped")

    await open(await ask(direct, "Stop me."))
    await click(page, "Approve and run")
    await node(page, 0, "alpha", "Running")
    await click(page, "Cancel")
    await page.getByText("Stopped").first().waitFor()
    await click(page, "Resume")
    await gate.open("alpha")
    // The stopped call is also pending at the gate.
    await gate.open("alpha")
    await node(page, 1, "beta", "Running")
    await click(page, "Cancel")
    await page.getByRole("button", { name: "Resume", exact: true }).waitFor()

    await page.goto(`${proxy.url}/studio/#/playground`)
    await page.locator("textarea[name=question]").fill("Say it <img src=x onerror='globalThis.broken = true'>")
    await page.locator("select[name=model]").selectOption("worker/gamma")
    await page.locator("input[name=budget]").fill("9")
    await click(page, "Run")
    await page.getByText("Open the run to decide").click()
    await click(page, "Approve and run")
    await gate.open("gamma")
    await page.getByText("gamma has spoken").first().waitFor()
    await page.goto(`${proxy.url}/studio/#/playground`)
    await page.locator("textarea[name=question]").fill("Too dear.")
    await page.locator("input[name=budget]").fill("0")
    await click(page, "Run")
    await page.getByText("Open the run to decide").waitFor()
    await look(page, "playground")
    await forkNested(page, folder)
  } catch (error) {
    await page.screenshot({ path: path.join(folder, "failure.png") }).catch(() => {})
    throw error
  } finally {
    await context.close()
    proxy.close()
    server.stop()
    gate.close()
  }
}
