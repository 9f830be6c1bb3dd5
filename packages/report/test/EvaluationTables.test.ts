import { assert, describe, it } from "@effect/vitest"
import * as EvaluationTables from "../src/EvaluationTables.ts"
import { html } from "../src/page/Html.ts"
import { report, sample } from "./madeUpEvaluation.ts"

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

  it("state where a vendor reported usage that cannot be, and what is missing", () => {
    const samples = grid({ first: [1, 0] })
    const odd = report(samples.map((one) => ({ ...one, misreported: "outputTokens: -90" })))
    const said = "2 samples with invalid usage (outputTokens: -90): estimates are used instead"
    assert.deepStrictEqual(EvaluationTables.failures(odd), [said])
    assert.deepStrictEqual(EvaluationTables.failures(report(samples)), [])
    const missing = { cause: "worker", message: "down" } as const
    const lost = report([...samples, sample({ policy: "first", task: "lost", missing })])
    assert.match(EvaluationTables.failures(lost)[0]!, /^1 sample not measured, excluded from means/)
  })

  it("marks a mean over fewer samples than the others have, and does not rank it", () => {
    const missing = { cause: "worker", message: "flaky: boom" } as const
    const samples = [
      ...grid({ good: [1, 0, 1, 0], flaky: [1, 0, 1] }),
      sample({ policy: "flaky", task: "q3", missing })
    ]
    const given = report(samples)
    const text = EvaluationTables.markdown(given)
    assert.match(text, /^\| good \| \*\*50\.0 ± 28\.9\*\* \|/m)
    assert.match(text, /^\| flaky \| 66\.7 ± 33\.3 \(3 of 4\) \|/m)
    assert.match(text, /^- Scores marked with a number of samples, .* cover different questions than the others/m)
    assert.deepStrictEqual(EvaluationTables.failures(report(grid({ good: [1, 0] }))), [])
  })

  it("gives the reasons for each number of samples without an answer or a score, in all tables", () => {
    const failures = ["declined", "declined", "timed out.", "too long", "no plan"]
    const unanswered = failures.map((failure, at) => ({
      ...sample({ policy: "p", task: `q${at}`, failure }),
      rung: "no-answer"
    }))
    const missing = { cause: "worker", reason: "Defect", message: "p: boom" } as const
    const samples = [...unanswered, sample({ policy: "p", task: "lost", missing })]
    const given = report(samples)
    const why = "2 × declined; 1 × no plan; 1 × timed out; 1 × less frequent reasons"
    assert.deepStrictEqual(EvaluationTables.failures(given, "; retry"), [
      `5 samples without an answer, counted as wrong (${why})`,
      "1 sample not measured, excluded from means (1 × p: boom); retry",
      EvaluationTables.failures(given).at(-1)!
    ])
    assert.include(EvaluationTables.markdown(given), `- 5 samples without an answer, counted as wrong (${why}).`)
    assert.include(EvaluationTables.csv(given), `,5,${why},1,1 × p: boom,`)
    const secret = report(samples, { isConfidential: true })
    for (const text of [JSON.stringify(secret), EvaluationTables.markdown(secret), EvaluationTables.csv(secret)]) {
      assert.notMatch(text, /declined|boom/)
    }
    assert.include(EvaluationTables.failures(secret)[0]!, "(5 × not shown: the benchmark is confidential)")
  })

  it("fold all but the best of many single workers", () => {
    const names = ["team", "single:a", "single:b", "single:c", "single:d", "single:e"]
    const samples = grid(Object.fromEntries(names.map((name, at) => [name, [1, at % 2, 0, 1]])))
    assert.deepStrictEqual(EvaluationTables.folded(report(samples)), ["single:b", "single:d"])
  })

  it("states the verdict at equal tokens in a sentence", () => {
    const verdict = { benchmark: "mine", policy: "team", worker: "a", paid: 5, votes: 5, questions: 50 } as const
    const figures = { mean: 0.05, low: 0.01, high: 0.09, minimumDetectable: 0.06, tokens: 100, workerTokens: 20 }
    const given = (more: object) => ({
      ...report(grid({ first: [1, 0] })),
      equalBudget: [{ ...verdict, ...figures, verdict: "undecided" as const, ...more }]
    })
    const sentence = (more: object) => EvaluationTables.verdicts(given(more))[0]
    assert.strictEqual(
      sentence({ verdict: "worth-it" }),
      "team is worth it at equal tokens: +5.0 points (+1.0 to +9.0) compared with the most frequent of 5 answers by a."
    )
    assert.strictEqual(
      sentence({ verdict: "not-worth-it", votes: 1, paid: 1 }),
      "team is not worth it at equal tokens: +5.0 points (+1.0 to +9.0) compared with a single answer by a."
    )
    assert.strictEqual(
      sentence({ verdict: "not-worth-it", mean: 0, low: -0.01, high: 0.01, votes: 2.44, paid: 2.44, margin: 0.02 }),
      "team is not worth it at equal tokens: +0.0 points (−1.0 to +1.0) compared with majority votes of 2.4 answers by a on average; a gain of 2.0 points or more is excluded."
    )
    assert.strictEqual(
      sentence({ verdict: "worth-it", votes: 1, paid: 0.4 }),
      "team is worth it with fewer tokens: +5.0 points (+1.0 to +9.0) compared with a single answer by a."
    )
    assert.strictEqual(
      sentence({ verdict: "not-worth-it", votes: 5, paid: 7.1 }),
      "team is not worth it even with more tokens: +5.0 points (+1.0 to +9.0) compared with the most frequent of 5 answers by a."
    )
    assert.strictEqual(
      sentence({ votes: 1, paid: 0.4, mean: -0.05, low: -0.09, high: -0.01, tokens: 40, workerTokens: 100 }),
      "No verdict for team: −5.0 points (−9.0 to −1.0) compared with a single answer by a, which needs 100 output tokens per question instead of 40."
    )
    assert.strictEqual(
      sentence({ questions: 0, mean: null, low: null, high: null }),
      "No verdict for team: it and a have no answered questions in common."
    )
    assert.match(
      sentence({ votes: 1, paid: 2.44 })!,
      /for its tokens, a could give 2\.4 answers per question, but the evaluation has only 1\. Run divisi eval with --samples 3, or with --baselines self-consistency:3@a/
    )
    assert.match(
      sentence({ votes: 3 })!,
      /for its tokens, a could give 5 answers per question, but the evaluation has only 3\. Run divisi eval with --samples 5/
    )
    assert.strictEqual(
      sentence({}),
      "50 questions are too few to tell whether team is worth it: +5.0 points (+1.0 to +9.0) compared with the most frequent of 5 answers by a. This comparison detects differences of 6.0 points with 80% power."
    )
    assert.include(EvaluationTables.markdown(given({})), "## Verdict at equal tokens\n\n- 50 questions are too few")
    assert.deepStrictEqual(EvaluationTables.verdicts(report(grid({ first: [1, 0] }))), [])
  })

  it("states that nothing is paid if every price is play money", () => {
    const paid = report(grid({ p: [1, 0] }))
    const pricing = { inputPerMillion: 1, outputPerMillion: 2, isPlay: true }
    const played = { ...paid, pool: paid.pool.map(({ id }) => ({ id, pricing })) }
    assert.include(EvaluationTables.markdown(played), "play money; you pay nothing")
    assert.notInclude(EvaluationTables.markdown(paid), "play money")
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
