import { WorkerProfile } from "@divisi/evals"
import { assert, describe, it } from "@effect/vitest"
import * as EvaluationPage from "../src/EvaluationPage.ts"
import * as EvaluationTables from "../src/EvaluationTables.ts"
import { differing } from "../src/evaluation/differing.ts"
import { front } from "../src/evaluation/front.ts"
import { html } from "../src/page/Html.ts"
import { report, sample } from "./madeUpEvaluation.ts"

const hostile = `</script></style></title><img src=x onerror="alert(1)">'"&\u0000<svg/onload=alert(1)>\ud800`

const tags = (page: string): ReadonlyArray<string> => page.match(/<[a-z!/][^>]*>/gi) ?? []

const grid = (right: Readonly<Record<string, ReadonlyArray<number>>>, costs: Readonly<Record<string, number>> = {}) =>
  Object.entries(right).flatMap(([policy, scores]) =>
    scores.map((score, index) =>
      sample({
        policy,
        task: `q${index}`,
        correct: score === 1,
        costUsd: costs[policy] ?? 0.01,
        answer: `${policy} says`
      })
    )
  )

describe("EvaluationPage", () => {
  it("lets no text of a model, task, worker or policy become markup", () => {
    const samples = [
      sample({ policy: hostile, task: hostile, correct: true, answer: hostile, worker: hostile, subtask: hostile }),
      sample({ policy: "other", task: hostile, answer: hostile, worker: hostile })
    ]
    const questionOf = () => ({ question: hostile, reference: hostile })
    const given = report(samples)
    const page = EvaluationPage.render(given, { title: hostile, samples, questionOf })
    assert.include(page, "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;")
    for (const tag of tags(page)) {
      assert.notMatch(tag, /^<\/?(?:script|img|iframe|object|embed|link|base|form)\b/i)
      assert.notMatch(tag.replace(/"[^"]*"/g, ""), /\son[a-z]+\s*=/i)
    }
    assert.strictEqual(page.match(/<\/style>/g)?.length, 1)
    assert.strictEqual(
      page.match(/<\/title>/g)?.length,
      1 + (page.match(/<(?:rect|circle)[^>]*><title>/g)?.length ?? 0)
    )
    assert.notInclude(page, "\u0000")
    assert.isTrue(page.isWellFormed())
  })

  it("says where a vendor reported usage that cannot be, and nothing of it elsewhere", () => {
    const samples = grid({ first: [1, 0] })
    const odd = samples.map((one) => ({ ...one, misreported: "outputTokens: -90" }))
    const said = "2 samples with usage that cannot be (outputTokens: -90): estimates are used instead."
    assert.include(EvaluationPage.render(report(odd), { samples: odd }), said)
    assert.notInclude(EvaluationPage.render(report(samples), { samples }), "usage that cannot be")
  })

  it("says what is missing and counts as wrong as a terminal does, and folds single workers alike", () => {
    const names = ["team", "single:a", "single:b", "single:c", "single:d", "single:e"]
    const samples = grid(Object.fromEntries(names.map((name, at) => [name, [1, at % 2, 0, 1]])))
    const whole = report(samples)
    const page = EvaluationPage.render(whole, { samples })
    const less = EvaluationTables.folded(whole)
    assert.lengthOf(less, 2)
    const scores = /<section id="scores">[\s\S]*?<\/section>/.exec(page)![0]
    for (const name of names) assert.strictEqual(scores.includes(`>${name}<`), !less.includes(name), name)
    assert.match(scores, /2 more single workers: .* to .* %/)
    const lost = samples.map((one, at) =>
      at === 0 ? sample({ ...one, missing: { reason: "outage", detail: "" } as never }) : one
    )
    const [sentence] = EvaluationTables.failures(report(lost))
    assert.match(sentence!, /^1 sample not measured, excluded from means/)
    assert.include(EvaluationPage.render(report(lost), { samples: lost }), sentence!)
  })

  it("draws no interval if all scores are the same, because the adjacent figure shows ± 0.0", () => {
    const none = grid({ first: [0, 0, 0, 0], second: [0, 0, 0, 0] })
    const page = EvaluationPage.render(report(none), { samples: none })
    assert.include(page, "0.0 ± 0.0")
    assert.notInclude(page, 'class="whisker')
    const some = grid({ first: [1, 0, 0, 1], second: [0, 1, 0, 0] })
    assert.include(EvaluationPage.render(report(some), { samples: some }), 'class="whisker')
  })

  it("asks nothing of the network", () => {
    const samples = grid({ first: [1, 0], second: [0, 1] })
    const page = EvaluationPage.render(report(samples), { samples })
    assert.notMatch(page, /(?:src|href|url)\s*[=(]\s*["']?(?!#)[a-z/]/i)
    assert.include(page, "default-src 'none'")
  })

  it("shows where two policies differ, with question and answers", () => {
    const samples = grid({ first: [1, 0, 1], second: [0, 1, 1] })
    const questionOf = (_: string, task: string) => ({ question: `Text of ${task}`, reference: "right one" })
    const page = EvaluationPage.render(report(samples), { samples, questionOf })
    assert.include(page, "Text of q0")
    assert.include(page, "Text of q1")
    assert.notInclude(page, "Text of q2")
    assert.include(page, "first says")
  })

  it("never shows questions or answers of a confidential benchmark, nor asks for them", () => {
    const samples = grid({ first: [1, 0], second: [0, 1] })
    let asked = 0
    const questionOf = () => {
      asked += 1
      return { question: "the secret question" }
    }
    const page = EvaluationPage.render(report(samples, { isConfidential: true }), { samples, questionOf })
    assert.strictEqual(asked, 0)
    assert.notInclude(page, "secret")
    assert.notInclude(page, "first says")
    assert.include(page, "q0")
  })

  it("draws reports without scores, without costs and with one policy", () => {
    const missing = { cause: "worker", message: "down" } as const
    const lost = EvaluationPage.render(report([sample({ policy: "a", task: "q", missing })]))
    assert.notInclude(lost, "NaN")
    assert.notInclude(lost, "Infinity")
    const free = EvaluationPage.render(report([sample({ policy: "a", task: "q", correct: true, costUsd: 0 })]))
    assert.include(free, "Nothing cost anything")
    assert.notInclude(free, "NaN")
  })

  it("says what workers are good at, where samples are given", () => {
    const samples = grid({ first: [1, 1, 0, 0], second: [1, 1, 1, 1] })
    const profiles = WorkerProfile.make(WorkerProfile.fromSamples(samples))
    assert.match(
      EvaluationPage.render(report(samples), { profiles }),
      /<th scope="row">a<\/th><td data-head="[^"]+">75\.0 \(\d/
    )
    assert.notInclude(EvaluationPage.render(report(samples)), "What workers are good at")
  })

  it("gives each picture words and a table, and every section a heading in order", () => {
    const samples = grid({ first: [1, 0], second: [0, 1] }, { first: 0.02 })
    const page = EvaluationPage.render(report(samples), { samples })
    const pictures = page.match(/role="img" aria-label="[^"]{20,}"/g)?.length ?? 0
    assert.strictEqual(pictures, page.match(/<figure>/g)?.length)
    assert.strictEqual(pictures, page.match(/<summary>The figures<\/summary>/g)?.length)
    assert.strictEqual(page.match(/<h1>/g)?.length, 1)
  })
})

describe("differing", () => {
  it("takes the largest differences first, of each side in turn, and leaves missing samples out", () => {
    const missing = { cause: "worker", message: "down" } as const
    const samples = [
      ...grid({ first: [1, 1, 0, 1], second: [0, 0, 1, 1] }),
      sample({ policy: "first", task: "lost", missing }),
      sample({ policy: "second", task: "lost", correct: true })
    ]
    assert.deepStrictEqual(
      differing(samples, "first", "second").map(({ difference, task }) => [task, difference]),
      [
        ["q0", 1],
        ["q2", -1],
        ["q1", 1]
      ]
    )
  })
})

describe("front", () => {
  it("keeps what nothing beats, equals included", () => {
    const items = [
      { name: "cheap", cost: 1, quality: 0.5 },
      { name: "twin", cost: 1, quality: 0.5 },
      { name: "beaten", cost: 2, quality: 0.5 },
      { name: "dear", cost: 3, quality: 0.9 },
      { name: "worse", cost: 4, quality: 0.8 }
    ]
    assert.deepStrictEqual(
      front(items).map(({ name }) => name),
      ["cheap", "twin", "dear"]
    )
  })
})

describe("markup", () => {
  it("escapes what is put in, and not what is markup already", () => {
    const inner = html`<b>${"<i>"}</b>`
    assert.strictEqual(
      html`<p title="${`"x"`}">${[inner, 1, undefined]}</p>`.toString(),
      `<p title="&quot;x&quot;"><b>&lt;i&gt;</b>1</p>`
    )
    assert.strictEqual(html`${"a\ud800b\u0007"}`.toString(), "a\ufffdb\ufffd")
  })
})

describe("EvaluationTables", () => {
  it("writes the paper's layout, with the best of each column bold", () => {
    const text = EvaluationTables.markdown(report(grid({ first: [1, 1, 1, 0], second: [1, 0, 0, 0] })))
    const [head, , first, second] = text.split("\n").filter((line) => line.startsWith("|"))
    assert.strictEqual(head, "| policy | mine | tokens | USD per question | time | steps | missing |")
    assert.match(first!, /^\| first \| \*\*75\.0 ± 25\.0\*\* \|.*\$0\.0100/)
    assert.match(second!, /^\| second \| 25\.0 ± 25\.0 \|/)
    assert.include(text, "| first | second | mine | +50.0 |")
  })

  it("states the verdict at equal tokens in a sentence, here and on the page", () => {
    const verdict = { benchmark: "mine", policy: "team", worker: "a", paid: 5, votes: 5, questions: 50 } as const
    const figures = { mean: 0.05, low: 0.01, high: 0.09, minimumDetectable: 0.06 }
    const given = (more: object) => ({
      ...report(grid({ first: [1, 0] })),
      equalBudget: [{ ...verdict, ...figures, verdict: "undecided" as const, ...more }]
    })
    const sentence = (more: object) => EvaluationTables.verdicts(given(more))[0]
    assert.strictEqual(
      sentence({ verdict: "worth-it" }),
      "team is worth it at equal tokens: +5.0 points (+1.0 to +9.0) against the most frequent of 5 answers of a."
    )
    assert.strictEqual(
      sentence({ verdict: "not-worth-it", votes: 1, paid: 1 }),
      "team is not worth it at equal tokens: +5.0 points (+1.0 to +9.0) against one answer of a."
    )
    assert.strictEqual(
      sentence({ verdict: "not-worth-it", mean: 0, low: -0.01, high: 0.01, votes: 2.44, paid: 2.44, margin: 0.02 }),
      "team is not worth it at equal tokens: +0.0 points (−1.0 to +1.0) against votes of 2.4 answers of a on average; a gain of 2.0 points or more is excluded."
    )
    assert.match(
      sentence({ votes: 1, paid: 2.44 })!,
      /they pay for 2\.4 answers of a per question, and there are 1\. Add --samples 3, or --baselines self-consistency:3@a/
    )
    assert.match(sentence({ votes: 3 })!, /they pay for 5 answers of a per question, and there are 3\. Add --samples 5/)
    assert.strictEqual(
      sentence({}),
      "team is not decidable with 50 questions: +5.0 points (+1.0 to +9.0) against the most frequent of 5 answers of a. This comparison detects differences of 6.0 points with 80% power."
    )
    assert.include(EvaluationTables.markdown(given({})), "## Verdict at equal tokens\n\n- team is not decidable")
    assert.include(EvaluationPage.render(given({})), "<p>team is not decidable with 50 questions")
    assert.deepStrictEqual(EvaluationTables.verdicts(report(grid({ first: [1, 0] }))), [])
  })

  it("states, as the page does, that nothing is paid if every price is play money", () => {
    const paid = report(grid({ p: [1, 0] }))
    const pricing = { inputPerMillion: 1, outputPerMillion: 2, isPlay: true }
    const played = { ...paid, pool: paid.pool.map(({ id }) => ({ id, pricing })) }
    for (const render of [EvaluationTables.markdown, EvaluationPage.render]) {
      assert.include(render(played), "play money; you pay nothing")
      assert.notInclude(render(paid), "play money")
    }
    assert.notInclude(EvaluationPage.render(played), "Paid in all")
  })

  it("has a mean of benchmarks where there are several, each with the same weight", () => {
    const first = grid({ p: [1, 1, 1, 1] })
    const second = [0, 1].map((index) => sample({ policy: "p", task: `q${index}`, benchmark: "other" }))
    assert.match(
      EvaluationTables.markdown(report([...first, ...second])),
      /\| policy \| mine \| other \| mean \|.*\n.*\n.*\*\*50\.0/
    )
  })

  it("keeps hostile names in their cells", () => {
    const name = 'a|b`c\n<img>"d",=1'
    const given = report([sample({ policy: name, task: "q", correct: true })])
    const line = EvaluationTables.markdown(given)
      .split("\n")
      .find((line) => line.includes("img"))!
    assert.strictEqual(line.split("|").length, 9)
    assert.notInclude(line, "<img>")
    const csv = EvaluationTables.csv(given)
    assert.include(csv, '"a|b`c\n<img>""d"",=1"')
    assert.include(EvaluationTables.csv(report([sample({ policy: "=cmd()", task: "q" })])), "'=cmd()")
  })

  it("gives a table no character that acts where it is shown, and no formula behind one", () => {
    const policies = ["\u0000=1", "\u001b[2J\u009b31m\u202ea", "\t+1", " @sum", "＝1", "-1"]
    const given = report(policies.map((policy) => sample({ policy, task: "q" })))
    for (const text of [EvaluationTables.csv(given).replaceAll("\r\n", "\n"), EvaluationTables.markdown(given)]) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      assert.notMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
    }
    const cells = EvaluationTables.csv(given).split("\r\n").slice(1, -1)
    assert.deepStrictEqual(
      cells.map((row) => row.split(",", 1)[0]!.slice(0, 2)).sort(),
      ["'\t", "' ", "'-", "'＝", "\ufffd=", "\ufffd["].sort()
    )
  })

  it("leaves unknown figures empty in CSV and dashed in Markdown", () => {
    const missing = { cause: "worker", message: "down" } as const
    const given = report([sample({ policy: "a", task: "q", missing })])
    assert.match(EvaluationTables.csv(given).split("\r\n")[1]!, /^a,mine,,,/)
    assert.include(EvaluationTables.markdown(given), "| a | – |")
  })
})
