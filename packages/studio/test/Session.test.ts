/** The costs of a session: its totals, its timeline, and its page as one file. */
import { assert, beforeAll, describe, it } from "vitest"
import { buildApp } from "../scripts/build.ts"
import { Assets, Reports, Sessions } from "../src/index.ts"
import * as Spans from "../src/session/Spans.ts"
import { begin, run } from "./fixtures/session.ts"

beforeAll(async () => {
  await buildApp(Assets.folder)
})

const hostile = `</pre></article><script>alert("x")</script><img src="http://example.com/x.png" onerror=alert(1)>\u202e&amp;\u0007`

/** A run without a step. */
const idle = (id: string) => {
  const { answer: _, rounds: __, spend: ___, ...whole } = run(id, 0, "Refused?")
  return { ...whole, ending: "refused", detail: "Not here.", rounds: [], durationMillis: 5 } as const
}

const twice = [run("a", 0, "First?"), run("b", 20_000, "Second?")]

describe("the figures of a session", () => {
  const figures = Sessions.figures({ title: "Two runs", runs: twice })

  it("add up: by worker, by purpose and in all", () => {
    const sum = (spends: ReadonlyArray<{ readonly costUsd: number; readonly calls: number }>) => [
      spends.reduce((total, { costUsd }) => total + costUsd, 0).toFixed(6),
      spends.reduce((total, { calls }) => total + calls, 0)
    ]
    assert.deepStrictEqual(sum([figures.spend]), ["1.460000", 10])
    assert.deepStrictEqual(sum(figures.workers.map(({ spend }) => spend)), sum([figures.spend]))
    assert.deepStrictEqual(sum(Object.values(figures.purposes)), sum([figures.spend]))
  })

  it("say who did what: calls by what they were for, those that failed, and tools", () => {
    assert.deepStrictEqual(
      figures.workers.map(({ spend: _, ...rest }) => rest),
      [
        { id: "large", calls: { plan: 0, step: 0, answer: 6, judgement: 0 }, lostCalls: 2, toolCalls: 2 },
        { id: "small", calls: { plan: 0, step: 2, answer: 0, judgement: 0 }, lostCalls: 0, toolCalls: 0 },
        { id: "planner", calls: { plan: 2, step: 0, answer: 0, judgement: 0 }, lostCalls: 0, toolCalls: 0 }
      ]
    )
  })

  it("tell orchestration from answers", () => {
    assert.closeTo(figures.orchestration.cost!, 0.03 / 0.73, 1e-9)
    assert.closeTo(figures.orchestration.tokens!, 330 / 1100, 1e-9)
  })

  it("part the time of workers from that of tools, and count what runs at once a single time", () => {
    assert.deepStrictEqual([figures.workedMillis, figures.toolMillis, figures.to - begin], [12_000, 8_000, 30_000])
    const atOnce = Sessions.figures({ title: "At once", runs: [twice[0]!, run("c", 0, "Third?")] })
    assert.deepStrictEqual([atOnce.workedMillis, atOnce.toolMillis], [6_000, 4_000])
  })

  it("show the same tokens at one worker's price, all of them and those of answers, with a price per call", () => {
    const pricing = { inputPerMillion: 1_000, outputPerMillion: 10_000, perCall: 0.5 }
    const { against } = Sessions.figures({ title: "", runs: twice, against: { worker: "strong", pricing } })
    assert.closeTo(against!.allUsd, 2 * (1 + 1 + 5 * 0.5), 1e-9)
    assert.closeTo(against!.answersUsd, 2 * (0.7 + 0.7 + 3 * 0.5), 1e-9)
  })
})

describe("play money", () => {
  /** A run whose small worker, or whole pool, has made-up prices. */
  const played = (id: string, isWhole: boolean) => {
    const whole = run(id, 0, "Third?")
    const pool = whole.pool.map((worker) =>
      isWhole || worker.id === "small" ? { ...worker, isPlay: true as const } : worker
    )
    return { ...whole, pool }
  }
  const spends = (runs: ReadonlyArray<ReturnType<typeof run>>): Readonly<Record<string, ReadonlyArray<string>>> => {
    const { spend, workers } = Sessions.figures({ title: "", runs })
    const of = ({ costUsd, playUsd }: Sessions.Spending) => [costUsd.toFixed(6), playUsd.toFixed(6)]
    return { all: of(spend), ...Object.fromEntries(workers.map(({ id, spend }) => [id, of(spend)])) }
  }

  it("is counted apart from dollars, by worker, and for policies if all workers have made-up prices", () => {
    assert.deepStrictEqual(spends([played("a", false)]), {
      all: ["0.710000", "0.020000"],
      large: ["0.700000", "0.000000"],
      planner: ["0.010000", "0.000000"],
      small: ["0.000000", "0.020000"]
    })
    assert.deepStrictEqual(spends([played("a", true)]).all, ["0.000000", "0.730000"])
    assert.deepStrictEqual(spends([played("a", true), twice[1]!]).all, ["0.730000", "0.730000"])
  })

  it("has its own row if dollars were paid under the same id", () => {
    const { all: _, ...rows } = spends([played("a", true), twice[1]!])
    assert.deepStrictEqual(rows, {
      large: ["0.700000", "0.000000"],
      "large (play money)": ["0.000000", "0.700000"],
      planner: ["0.010000", "0.000000"],
      "planner (play money)": ["0.000000", "0.010000"],
      small: ["0.020000", "0.000000"],
      "small (play money)": ["0.000000", "0.020000"]
    })
  })

  it("does not change the share of orchestration or the comparison of what was paid", () => {
    const against = { worker: "strong", pricing: { inputPerMillion: 1_000, outputPerMillion: 10_000 } }
    const paid = Sessions.figures({ title: "", runs: twice, against })
    const mixed = Sessions.figures({ title: "", runs: [...twice, played("c", true)], against })
    assert.strictEqual(mixed.orchestration.cost, paid.orchestration.cost)
    assert.deepStrictEqual(mixed.against, paid.against)
  })
})

describe("the spans of a run", () => {
  it("are its calls and its tools, without empty gaps", () => {
    const spans = Spans.of(twice[0]!).map(({ from, to, worker }) => [from - begin, to - begin, worker])
    assert.deepStrictEqual(spans, [
      [0, 1_000, "planner"],
      [1_000, 3_000, "small"],
      [3_000, 5_000, "large"],
      [5_000, 9_000, undefined],
      [9_000, 10_000, "large"]
    ])
  })

  it("are in lanes if they overlap", () => {
    const spans = [
      { from: 0, to: 5, worker: "a" },
      { from: 1, to: 2, worker: "b" },
      { from: 2, to: 9, worker: "b" },
      { from: 5, to: 6, worker: "a" }
    ]
    assert.deepStrictEqual(
      Spans.lanes(spans).map((lane) => lane.map(({ worker }) => worker)),
      [
        ["a", "a"],
        ["b", "b"]
      ]
    )
  })
})

describe("the page of a session", () => {
  it("shows the words of questions, without what a client put before them, and no answers", () => {
    const asked = `<system-reminder>Never mind.</system-reminder>\n <env>linux</env> What is it? ${hostile}`
    const runs = [run("a", 0, asked), run("b", 20_000, hostile)]
    const [first, second] = Sessions.open({ title: hostile, runs }).runs
    assert.match(first!.question, /^What is it\? <\/pre>/)
    assert.match(second!.question, /^<\/pre><\/article>.{44}…$/)
    const page = Reports.session({ title: hostile, runs })
    assert.strictEqual(page.match(/<\/script>/g)?.length, 2)
    for (const text of ["Never mind", "The secret answer", "<img src", "\u202e"]) assert.notInclude(page, text)
    assert.notMatch(page, /(src|href)="(?!#)/)
    assert.strictEqual(Reports.session({ title: hostile, runs }), page)
  })

  it("has the price of the worker that it is compared with", () => {
    const pricing = { inputPerMillion: 1, outputPerMillion: 2 }
    const opened = Sessions.open({ title: "", runs: twice, against: { worker: "strong", pricing }, alone: twice })
    assert.deepStrictEqual(opened.pricing, pricing)
    assert.strictEqual(opened.figures.alone?.spend.costUsd, opened.figures.spend.costUsd)
    assert.notProperty(Sessions.open({ title: "", runs: twice }), "pricing")
  })

  it("draws the runs that cost most, in order of their start", () => {
    const cheap = Array.from({ length: 30 }, (_, index) => idle(`cheap-${index}`))
    const dear = Array.from({ length: 100 }, (_, index) => run(`r${index}`, index * 1_000, `Question ${index}?`))
    const { figures, runs } = Sessions.open({ title: "Many", runs: [...cheap, ...dear.toReversed()] })
    assert.strictEqual(figures.runs, 130)
    assert.deepStrictEqual(
      runs.map(({ id }) => id),
      dear.map(({ runId }) => runId)
    )
  })

  it("lists runs in which no worker was called", () => {
    const { figures, runs } = Sessions.open({ title: "Refused", runs: [idle("a")] })
    assert.deepStrictEqual(figures.workers, [])
    assert.deepInclude(runs[0], { question: "Refused?", ending: "refused", millis: 5, steps: 0, lanes: [] })
  })
})
