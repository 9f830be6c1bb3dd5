/** The figures of a page, the server of a folder, and exported pages. */
import http from "node:http"
import { fork } from "@divisi/core/promise"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { buildApp } from "../scripts/build.ts"
import { Assets, Export, StudioServer, Summary } from "../src/index.ts"
import * as Comparison from "../src/run/Comparison.ts"
import * as Format from "../src/run/Format.ts"
import * as Waterfall from "../src/run/Waterfall.ts"
import { forked, hostileRun, incident, incidentPool, suspended } from "./fixtures/runs.ts"

const source = async () => {
  const runs = [await incident(20), await suspended()].map((transcript) => ({
    summary: Summary.fromTranscript(transcript),
    transcript
  }))
  return {
    runs,
    source: {
      list: async () => runs.map(({ summary }) => summary),
      read: async (id: string) => runs.find(({ summary }) => summary.id === id),
      follow: async () => undefined
    }
  }
}

const ask = (
  url: string,
  headers: Record<string, string> = {}
): Promise<{ status: number; body: string; headers: http.IncomingHttpHeaders }> =>
  new Promise((resolve, reject) => {
    http
      .get(url, { headers }, (response) => {
        let body = ""
        response.setEncoding("utf8").on("data", (text) => (body += text))
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body, headers: response.headers }))
      })
      .on("error", reject)
  })

beforeAll(async () => {
  await buildApp(Assets.folder)
})

describe("the server of a folder", () => {
  let server: StudioServer.StudioServer
  let runs: Awaited<ReturnType<typeof source>>["runs"]
  beforeAll(async () => {
    const made = await source()
    runs = made.runs
    server = await StudioServer.listen({ source: made.source, port: 0 })
  })
  afterAll(() => server.close())

  it("reports why a record cannot be read, and adds up the costs of the others", async () => {
    const problem = "runs/a.json is truncated. Restore it from a backup, or delete it."
    const [intact] = runs
    const damaged = { ...intact!.summary, id: "damaged", state: "damaged" as const, damaged: problem }
    const torn = { ...intact!.summary, id: "torn" }
    const { close, url } = await StudioServer.listen({
      port: 0,
      source: {
        list: async () => [damaged, torn, intact!.summary],
        read: async (id) => {
          if (id !== intact!.summary.id) throw new StudioServer.Unreadable(problem)
          return intact
        },
        follow: async () => undefined
      }
    })
    try {
      const { body, status } = await ask(`${url}v1/runs/torn`)
      expect(status).toBe(422)
      expect(JSON.parse(body).error).toMatchObject({ type: "unreadable_error", message: problem })
      expect(JSON.parse((await ask(`${url}v1/costs`)).body)).toMatchObject({ unreadable: 2, figures: { runs: 1 } })
    } finally {
      await close()
    }
  })

  it("lists and returns runs in the form of /v1/runs", async () => {
    const list = JSON.parse((await ask(`${server.url}v1/runs?limit=1`)).body)
    expect(list).toMatchObject({ object: "list", has_more: true, last_id: runs[0]!.summary.id })
    const rest = JSON.parse((await ask(`${server.url}v1/runs?after=${list.last_id}`)).body)
    expect(rest.data.map(({ id }: { id: string }) => id)).toEqual([runs[1]!.summary.id])
    const one = JSON.parse((await ask(`${server.url}v1/runs/${runs[0]!.summary.id}`)).body)
    expect(one.transcript.runId).toBe(runs[0]!.summary.id)
    expect((await ask(`${server.url}v1/runs/none`)).status).toBe(404)
  })

  it("reads the whole list once for all pages after the first", async () => {
    const { source: one } = await source()
    const [run] = await one.list()
    const runs = Array.from({ length: 7 }, (_, index) => ({ ...run!, id: `run-${index}` }))
    const limits: Array<number | undefined> = []
    const list = async (limit?: number) => {
      limits.push(limit)
      return runs.slice(0, limit)
    }
    const { close, url } = await StudioServer.listen({ source: { ...one, list }, port: 0 })
    const page = async (query: string) => JSON.parse((await ask(`${url}v1/runs?${query}`)).body)
    const found: Array<string> = []
    let after = ""
    for (let has_more = true; has_more; ) {
      const { data, has_more: more, last_id } = await page(`limit=2${after}`)
      found.push(...data.map(({ id }: { id: string }) => id))
      after = `&after=${last_id}`
      has_more = more
    }
    expect(found).toEqual(runs.map(({ id }) => id))
    expect(limits).toEqual([3, undefined])
    expect(await page("after=unknown")).toMatchObject({ data: [], has_more: false })
    await close()
  })

  it("reports a folder that was deleted", async () => {
    const { source: one } = await source()
    const errors: Array<unknown> = []
    const list = () => Promise.reject(Object.assign(new Error("gone"), { code: "ENOENT" }))
    const onError = (error: unknown) => void errors.push(error)
    const { close, url } = await StudioServer.listen({ source: { ...one, list }, port: 0, onError })
    const { body, status } = await ask(`${url}v1/runs`)
    expect(status).toBe(503)
    expect(JSON.parse(body).error.message).toContain("The folder of this studio does not exist.")
    expect(errors).toEqual([])
    await close()
  })

  it("sends each part of the page, and no other file", async () => {
    const partsOf = (script: string) => [...script.matchAll(/\.\/(page-\w+\.js)/g)].map(([, name]) => name!)
    const parts = new Set(partsOf((await ask(`${server.url}studio.js`)).body))
    for (const part of parts) {
      const { body, headers, status } = await ask(`${server.url}${part}`)
      expect([status, headers["cache-control"]]).toEqual([200, "max-age=31536000, immutable"])
      for (const imported of partsOf(body)) parts.add(imported)
    }
    expect(parts.size).toBeGreaterThan(3)
    for (const name of [
      "page-NONE.js",
      "exported.js",
      "folder.html",
      "studio.js.br",
      "page-../index.html",
      "__proto__"
    ])
      expect((await ask(`${server.url}${name}`)).status).toBe(404)
  })

  it("sends the page under a strict policy", async () => {
    const { body, headers } = await ask(server.url)
    expect(body).toContain('<div id="studio">')
    expect(headers["content-security-policy"]).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(headers["content-security-policy"]).not.toContain("unsafe")
  })

  it.each([
    ["another host name", { host: "evil.example" }],
    ["another origin", { origin: "http://evil.example" }],
    ["another site", { "sec-fetch-site": "cross-site" }]
  ])("refuses %s", async (_, headers) => {
    expect((await ask(`${server.url}v1/runs`, headers)).status).toBe(403)
  })

  it("refuses an address that other machines reach", async () => {
    const { source: runs } = await source()
    await expect(StudioServer.listen({ source: runs, port: 0, host: "0.0.0.0" })).rejects.toThrow("this machine only")
  })
})

describe("figures", () => {
  it("mark failed calls, the pause before a retry, skipped steps and the critical path", async () => {
    const transcript = await incident(20)
    const { rows } = Waterfall.make(transcript)
    expect(rows[1]!.calls.map(({ kind }) => kind)).toEqual(["failed", "answer"])
    expect(rows[1]!.calls[1]!.from).toBeGreaterThan(rows[1]!.calls[0]!.to)
    expect(rows[4]!.record.state).toBe("skipped")
    expect(rows[5]!.isCritical).toBe(true)
    expect(rows[2]!.record.state).toBe("failed")
    expect(Waterfall.wasteOf(transcript)).toMatchObject({ skipped: 1, reassigned: 0 })
    expect(Summary.fromTranscript(transcript)).toMatchObject({ state: "answered", policy: "incident" })
    const [failed, answered] = rows[1]!.calls
    expect(failed!.retryInMillis).toBe(answered!.from - failed!.to)
    expect(Waterfall.momentsOf(transcript)).toContain(transcript.startedAt + answered!.from)
  })

  it("count no failure of the run that a fork continues", async () => {
    const transcript = await incident(20)
    expect(Waterfall.wasteOf(transcript).failed).toBe(4)
    const other = await fork({
      transcript,
      pool: incidentPool(20),
      at: { round: 0, step: 2 },
      change: { worker: "gpt-5-mini" },
      reassign: "never"
    })
    const { rows } = Waterfall.make(other.transcript)
    expect(rows[1]!.calls.map(({ kind }) => kind)).toEqual(["reused"])
    expect(Waterfall.wasteOf(other.transcript).failed).toBe(0)
  })

  it("do not count the steps that a fork has from another run, answered or failed", async () => {
    const transcript = await forked(await incident(20))
    const { rows } = Waterfall.make(transcript)
    expect(rows.map(({ isReused }) => isReused)).toEqual([true, true, true, false, false, false])
    expect(rows[2]).toMatchObject({ record: { state: "failed" }, calls: [] })
    expect(Waterfall.wasteOf(transcript).failed).toBe(0)
    expect(Comparison.figuresOf(transcript)).toMatchObject({ steps: 2, calls: 2 })
    const { bars = [] } = Summary.fromTranscript(transcript)
    expect(bars.map(({ state }) => state)).toEqual(["reused", "reused", "reused", "answered", "answered"])
  })

  it("mark steps as skipped if their run has ended without them", async () => {
    const transcript = await suspended()
    const statesOf = (run: typeof transcript) => run.rounds.flatMap(({ steps }) => steps.map(({ state }) => state))
    const [round] = transcript.rounds
    const pending = {
      ...transcript,
      rounds: [{ ...round!, steps: round!.steps.map((step) => ({ ...step, state: "waiting" as const })) }]
    }
    expect(new Set(statesOf(Waterfall.settled(pending)))).toEqual(new Set(["waiting"]))
    expect(new Set(statesOf(Waterfall.settled({ ...pending, ending: "refused" })))).toEqual(new Set(["skipped"]))
  })

  it("describe a pending plan and a pending tool call as journals do", async () => {
    const { waits_for } = Summary.fromTranscript(await suspended())
    expect(waits_for).toEqual(["refund (0.0.0.0)"])
  })

  it.each([
    [0, "$0"],
    [0.0142, "$0.014"],
    [0.00006, "$0.000060"],
    [22.98, "$22.98"],
    [1_234_567.891, "$1,234,567.89"]
  ])("writes %d USD as %s", (usd, text) => {
    expect(Format.money(usd)).toBe(text)
  })

  it.each([
    [604, "604\u00a0ms"],
    [3_960, "4.0\u00a0s"],
    [94_000, "1\u00a0min 34\u00a0s"],
    [302_400_000, "3.5\u00a0d"],
    [Number.POSITIVE_INFINITY, "unknown"]
  ])("writes %d ms as %s", (millis, text) => {
    expect(Format.duration(millis)).toBe(text)
  })

  it("shows characters that change the reading order by name", () => {
    expect(Format.visible("a\u202Eb\u0000\n")).toBe("a[U+202E]b[U+0000]\n")
    expect(Format.visible("\u00ad\u115f\u2028\u{e0061}\ud83d")).toBe("[U+00AD][U+115F][U+2028][U+E0061][U+D83D]")
    expect(Format.visible("a\u200db \u200d")).toBe("a[U+200D]b [U+200D]")
  })

  it.each(["👨‍👩‍👧‍👦", "❤️ ☎︎ 1️⃣", "می\u200cخواهم", "葛\u{e0100}", "“Grüße” – 中文"])("leaves %s as it is", (text) => {
    expect(Format.visible(text)).toBe(text)
  })

  it("does not cut a character in half", () => {
    expect(Format.oneLine("👨".repeat(400), 11)).toBe(`${"👨".repeat(5)}…`)
  })

  it("names times and amounts that cannot be written out", () => {
    expect([Format.exactly(9e18), Format.when(Number.NaN, 0), Format.iso(-9e18)]).toEqual(Array(3).fill("unknown time"))
    expect([Format.money(1e300), Format.tokens(2.5e9), Format.whole(1e300)]).toEqual([
      "$1.0e+300",
      "2,500M",
      "1.0e+300"
    ])
  })
})

describe("exported pages", () => {
  it("hold hostile texts as data that no parser of HTML sees", async () => {
    const transcript = await hostileRun(10)
    const page = Export.onePage([{ summary: Summary.fromTranscript(transcript), transcript }])
    expect(page.match(/<\/script>/g)).toHaveLength(2)
    expect(page).not.toContain("<img src=x")
    expect(page).not.toMatch(/(src|href)="(?!#)/)
    expect(page).toContain("default-src 'none'; script-src 'sha256-")
    expect(Export.again(page)).toBe(page)
  })

  it("are three files as a folder", async () => {
    const transcript = await suspended()
    const files = Export.folder([{ summary: Summary.fromTranscript(transcript), transcript }])
    expect([...files.keys()]).toEqual(["index.html", "studio.js", "studio.css"])
  })
})
