import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import * as Wire from "@divisi/core/Wire"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { config, divisi, inFolder } from "./process.ts"

const quick = ["--config", config("quick")]
const hanging = ["--config", config("hanging")]

const completion = 'model_id = [1, 0]\nsubtasks = ["a", "b"]\naccess_list = [[], "all"]\n'

// Each test waits for a process of its own, so they run side by side.
describe.concurrent("divisi", () => {
  it("teaches with examples and exit codes, without a question asked", async () => {
    const { code, output } = await divisi(["run", "--help"])
    assert.strictEqual(code, 0)
    for (const text of ["EXAMPLES", "--max-cost", "3 limit reached", "4 refused"]) assert.include(output, text)
    assert.isBelow(output.indexOf("EXAMPLES"), output.indexOf("FLAGS"))
    assert.match(output, /\n\d+ more flags, details and examples: divisi help run\n/)
    const whole = await divisi(["help", "run"])
    assert.include(whole.output, "best-of:<n>")
    assert.notInclude(output, "best-of:<n>")
    assert.isAbove(whole.output.length, output.length)
  })

  for (const command of ["run", "chat", "serve", "eval", "mcp", "train", "learn", "cluster work", "runs fork"]) {
    it(`fits the help of \`${command}\` on one screen`, async () => {
      const { output } = await divisi([...command.split(" "), "--help"])
      assert.isBelow(output.split("\n").length, 50)
    })
  }

  it("shows its help when it is called alone", async () => {
    const { code, output } = await divisi([])
    assert.strictEqual(code, 0)
    assert.include(output, "Set up:")
  })

  for (const args of [
    ["run", "--bogus"],
    ["run", "--max-cost", "much"],
    ["runn"],
    ["serve", "--dry-run"],
    ["chat", "--durable"],
    ["mcp", "--journal", "runs.sqlite"],
    ["cluster", "work", "--quiet"],
    ["workflow", "read", "--pool-size", "0"]
  ]) {
    it(`calls \`${args.join(" ")}\` wrong usage, on the error output alone`, async () => {
      const { code, errors, output } = await divisi(args)
      assert.deepStrictEqual([code, output], [2, ""])
      assert.match(errors, /^divisi: .*\n[\s\S]*--help/)
    })
  }
})

describe.concurrent("divisi run", () => {
  it("gives a pipe the answer alone, and the error output the rest in plain lines", async () => {
    const { code, errors, output } = await divisi(["run", "Which?", ...quick])
    assert.deepStrictEqual([code, output], [0, "one\n"])
    assert.match(errors, /^question Which\?\n/)
    assert.include(errors, "\ntotal    answered in")
    assert.notInclude(errors, "answer   one")
    assert.notInclude(errors, "\u001b")
  })

  it("prints the answer alone with --quiet, and shows a run without one", async () => {
    const [answered, failed, both] = await Promise.all([
      divisi(["run", "Which?", "--quiet", ...quick]),
      divisi(["run", "Which?", "--quiet", "--config", config("failing")]),
      divisi(["run", "Which?", "--quiet", "--json", ...quick])
    ])
    assert.deepStrictEqual([answered.code, answered.output, answered.errors], [0, "one\n", ""])
    assert.deepStrictEqual([failed.code, failed.output], [1, ""])
    assert.include(failed.errors, "refused the credentials")
    assert.deepStrictEqual([both.code, both.output], [2, ""])
    assert.include(both.errors, "Use either --json or --quiet.")
  })

  it("gives the gym's team the tool that a question needs", async () => {
    const { code, output } = await divisi(["run", "--json", "How many copper kettles are in stock?"])
    assert.strictEqual(code, 0)
    const events = output
      .trimEnd()
      .split("\n")
      .map((text) => JSON.parse(text))
    const told = events.find(({ type }) => type === "tool-finished")
    assert.strictEqual(JSON.parse(told.content).pieces, 6199)
    assert.deepInclude(events.at(-1), { type: "run-finished", answer: "6199" })
  })

  it("declines questions that no gym worker understands before any call, and says which models can help", async () => {
    const what = ["run", "What is the capital of France?", "--config", "none"]
    const [{ code, errors, output }, json] = await Promise.all([divisi(what), divisi([...what, "--json"])])
    assert.deepStrictEqual([code, output], [4, ""])
    assert.include(errors, "cannot answer this kind of question")
    assert.match(errors, /refused in .* · 0 calls/)
    assert.include(errors, "--pool openai:")
    const last = JSON.parse(json.output.trim().split("\n").at(-1)!)
    assert.deepInclude(last, { type: "run-finished", ending: "refused" })
    assert.strictEqual(json.code, 4)
  })

  it("marks play money as such, also for programs", async () => {
    const what = ["run", "What is 17% of 2,350?", "--config", "none"]
    const [{ errors, output }, json] = await Promise.all([divisi(what), divisi([...what, "--json"])])
    assert.strictEqual(output, "399.5\n")
    assert.match(errors, /answered in .* \$0\.0\d* play money/)
    assert.notMatch(errors, /\$[\d.]+(?! play money|[\d.])/)
    assert.strictEqual(JSON.parse(json.output.split("\n")[0]!).pool[0].isPlay, true)
  })

  it("tells a failure once", async () => {
    const { errors } = await divisi(["run", "Which?", "--config", config("failing")])
    assert.lengthOf(errors.match(/refused the credentials/g)!, 1, errors)
  })

  it("takes the question from unquoted words, from a file, from `-` and from a pipe", async () => {
    await inFolder(async (folder) => {
      const file = path.join(folder, "question.txt")
      writeFileSync(file, "From where?\n")
      const runs = await Promise.all([
        divisi(["run", "From", "where?", ...quick]),
        divisi(["run", "--file", file, ...quick]),
        divisi(["run", "-", ...quick], { input: "From where?\n" }),
        divisi(["run", ...quick], { input: "From where?" })
      ])
      for (const { errors } of runs) assert.match(errors, /^question From where\?\n/)
    })
  })

  it("asks a built-in question when nothing is asked", async () => {
    const { code, errors } = await divisi(["run", ...quick])
    assert.strictEqual(code, 0)
    assert.match(errors, /^question 1\. How many minutes/)
  })

  it("prints events that can be read back", async () => {
    const { output } = await divisi(["run", "Which?", "--json", ...quick])
    const events = Result.getOrThrow(Wire.decodeRunEvents(output))
    assert.deepStrictEqual([events[0]?.type, events.at(-1)?.type], ["run-started", "run-finished"])
  })

  it("lets flags win over the config", async () => {
    const { output } = await divisi(["run", "Which?", "--policy", "single:second", "--pool", "-first", ...quick])
    assert.strictEqual(output, "two\n")
  })

  it("stops within its budget, and reports it with exit code 3", async () => {
    const { code, errors } = await divisi(["run", "Which?", "--max-cost", "0.0000001", ...quick])
    assert.strictEqual(code, 3)
    assert.lengthOf(errors.match(/cost limit of 0\.0000001 USD.*Raise the limit/g)!, 1, errors)
  })

  it.each(["1ms", "300ms"])("stops when its time of %s is over", async (time) => {
    const { code, errors } = await divisi(["run", "Which?", "--timeout", time, "--silence", "1m", ...hanging])
    assert.strictEqual(code, 3)
    assert.include(errors, "time limit")
  })

  it("fails with exit code 1, and writes the transcript all the same", async () => {
    await inFolder(async (folder) => {
      const file = path.join(folder, "run.json")
      const { code, errors } = await divisi(["run", "Which?", "--config", config("failing"), "--transcript", file])
      assert.strictEqual(code, 1)
      assert.include(errors, "refused the credentials")
      assert.strictEqual(Result.getOrThrow(Wire.decodeTranscript(readFileSync(file, "utf8"))).ending, "failed")
    })
  })

  for (const [signal, expected] of [
    ["SIGINT", 130],
    ["SIGTERM", 143]
  ] as const) {
    it(`stops at ${signal}: shows what was done, writes it, and exits with ${expected}`, async () => {
      await inFolder(async (folder) => {
        const file = path.join(folder, "run.json")
        const { code, errors, output } = await divisi(["run", "Which?", "--transcript", file, ...hanging], {
          onOutput: (output, child) => {
            // Once: a second signal would end the process before it has written anything.
            if (!child.killed && output.includes("stuck started")) child.kill(signal)
          }
        })
        assert.strictEqual(code, expected, errors)
        // A step's text on its subtask is shown as the step's, and is not an answer.
        assert.match(errors, /step 0 {3}quick \([^)]*\): done\n/)
        assert.strictEqual(output, "")
        assert.include(errors, "total    interrupted in")
        const transcript = Result.getOrThrow(Wire.decodeTranscript(readFileSync(file, "utf8")))
        assert.deepStrictEqual(
          [transcript.ending, transcript.answer, transcript.rounds[0]?.steps[0]?.text],
          ["interrupted", undefined, "done"]
        )
        assert.deepStrictEqual(readdirSync(folder), ["run.json"])
      })
    })
  }

  it("refuses a transcript that could not be written, before anything is paid", async () => {
    const { code, errors, output } = await divisi([
      "run",
      "Which?",
      "--transcript",
      "/no/such/folder/run.json",
      ...quick
    ])
    assert.deepStrictEqual([code, output], [2, ""])
    assert.include(errors, "Cannot write the transcript")
  })

  it("stops, and pays no further, if its output is closed", async () => {
    const { code, errors } = await divisi(["run", "Which?", "--json", "--config", config("talking")], {
      onOutput: (_, child) => void child.stdout.destroy()
    })
    assert.deepStrictEqual([code, errors], [141, "asked\n"])
  })

  it.skipIf(!existsSync("/dev/full"))(
    "writes the transcript, and says why it stopped, when its output cannot be written",
    () =>
      inFolder(async (folder) => {
        const file = path.join(folder, "run.json")
        const { code, errors } = await divisi(
          ["run", "Which?", "--json", "--transcript", file, "--config", config("talking")],
          {
            outputTo: "/dev/full"
          }
        )
        assert.deepStrictEqual([code, JSON.parse(readFileSync(file, "utf8")).ending], [1, "interrupted"])
        assert.include(errors, "divisi: Cannot write the output: the disk is full")
        assert.notInclude(errors, "    at ")
      })
  )

  it.skipIf(!existsSync("/dev/full"))("goes on when only its error output cannot be written", async () => {
    const solved = await divisi(["gym", "solve", "--tasks", "3", "--policy", "oracle"], { errorsTo: "/dev/full" })
    assert.strictEqual(solved.code, 0)
    assert.include(solved.output, "accuracy  100.0%")
  })

  for (const args of [
    ["--policy", "nonsense"],
    ["--policy", "single:nobody"],
    ["--policy", "best-of:0"],
    ["--policy", "best-single"],
    ["--pool", "nobody"],
    ["--file", "/no/such/file"],
    ["--timeout", "30"]
  ]) {
    it(`calls \`${args.join(" ")}\` wrong usage`, async () => {
      const { code, errors, output } = await divisi([
        "run",
        ...(args[0] === "--file" ? [] : ["Which?"]),
        ...args,
        ...quick
      ])
      assert.deepStrictEqual([code, output], [2, ""])
      assert.match(errors, /^divisi: /)
    })
  }
})

describe.concurrent("the config", () => {
  const broken: ReadonlyArray<readonly [string, string, RegExp]> = [
    [
      "a TypeScript syntax error",
      "const a = 1\nexport default { maxSteps: = 3 }\n",
      /^divisi: Syntax error in divisi\.config\.ts, line 2: .*\n$/
    ],
    [
      "TypeScript that Node cannot strip",
      "enum A { B }\nexport default {}\n",
      /^divisi: Syntax error in divisi\.config\.ts.*: .*\n$/
    ],
    [
      "a missing import",
      'import "not-installed-anywhere"\nexport default {}\n',
      /^divisi: .*not-installed-anywhere.*Install it.*\n$/
    ],
    [
      "a thrown error",
      'throw new Error("my own problem")\n',
      /^divisi: divisi\.config\.ts threw an error on line 1 .*my own problem\n$/
    ],
    ["no default export", "export const maxSteps = 3\n", /^divisi: divisi\.config\.ts has no default export.*\n$/],
    [
      "a wrong field",
      'export default { budget: { costUsd: "hunter2" } }\n',
      /^divisi: divisi\.config\.ts: budget\.costUsd: expected a number, got a string\.\n$/
    ]
  ]
  for (const [name, source, message] of broken) {
    it(`with ${name} is one clear message and exit code 2`, async () => {
      await inFolder(async (folder) => {
        writeFileSync(path.join(folder, "divisi.config.ts"), source)
        const { code, errors, output } = await divisi(["run", "Which?"], { cwd: folder })
        assert.deepStrictEqual([code, output], [2, ""])
        assert.match(errors, message)
        assert.notInclude(errors, "hunter2")
      })
    })
  }

  it("is found in a folder above, also as .mjs", async () => {
    await inFolder(async (folder) => {
      writeFileSync(path.join(folder, "divisi.config.mjs"), "export default { maxSteps: 0 }\n")
      mkdirSync(path.join(folder, "a/b"), { recursive: true })
      const { errors } = await divisi(["run", "Which?"], { cwd: path.join(folder, "a/b") })
      assert.include(errors, "maxSteps: expected a whole number of at least 1, got 0.")
    })
  })

  it("that is named must be there", async () => {
    const { code, errors } = await divisi(["run", "Which?", "--config", "nowhere.ts"])
    assert.strictEqual(code, 2)
    assert.strictEqual(errors, "divisi: Config file nowhere.ts does not exist.\n")
  })
})

describe.concurrent("divisi workflow", () => {
  it("reads a completion from standard input and from a file", async () => {
    await inFolder(async (folder) => {
      const file = path.join(folder, "completion.txt")
      writeFileSync(file, completion)
      const expected = '{"steps":[{"worker":1,"subtask":"a","access":[]},{"worker":0,"subtask":"b","access":"all"}]}\n'
      for (const run of [divisi(["workflow", "read"], { input: completion }), divisi(["workflow", "read", file])]) {
        assert.deepStrictEqual(await run, { code: 0, output: expected, errors: "" })
      }
    })
  })

  it("shows where and why a completion is invalid, with exit code 1", async () => {
    const { code, errors, output } = await divisi(["workflow", "check", "--pool-size", "1"], { input: completion })
    assert.deepStrictEqual([code, output], [1, ""])
    assert.match(errors, /^divisi: Line 1, column 13: .*\n {2}1 \| model_id = \[1, 0\]\n {4}\| {13}\^\n$/)
  })

  it("describes a valid one", async () => {
    const { code, output } = await divisi(["workflow", "check"], { input: `So:\n${completion}` })
    assert.strictEqual(code, 0)
    assert.match(output, /^Valid: 2 steps, chain, width 1, depth 2\.\n {2}note: /)
  })

  it("draws in every format", async () => {
    const [text, mermaid, dot, svg] = await Promise.all(
      ["text", "mermaid", "dot", "svg"].map((format) =>
        divisi(["workflow", "render", "--format", format], { input: completion })
      )
    )
    assert.include(text!.output, "●  1  worker 0, sees all")
    assert.include(mermaid!.output, "flowchart")
    assert.include(dot!.output, "digraph")
    assert.match(svg!.output, /^<svg [\s\S]*<\/svg>\n$/)
  })

  it("reads thousands of lines, one result each", async () => {
    const input = `${JSON.stringify(completion)}\n"prose"\n`.repeat(5_000)
    const { code, output } = await divisi(["workflow", "read", "--lines"], { input })
    const results = output.trimEnd().split("\n")
    assert.deepStrictEqual([code, results.length], [0, 10_000])
    assert.deepStrictEqual([JSON.parse(results[9_998]!).ok, JSON.parse(results[9_999]!).ok], [true, false])
  })

  it("ends quietly when the reader of its results goes away", async () => {
    const input = `${JSON.stringify(completion)}\n`.repeat(50_000)
    const { code, errors } = await divisi(["workflow", "read", "--lines"], {
      input,
      onOutput: (_, child) => void child.stdout.destroy()
    })
    assert.deepStrictEqual([code, errors], [141, ""])
  })

  it("says which file it cannot read", async () => {
    const { code, errors } = await divisi(["workflow", "read", "--lines", "/no/such/file"])
    assert.strictEqual(code, 2)
    assert.include(errors, "/no/such/file")
  })
})

describe.concurrent("divisi replay", () => {
  it("shows again what run showed, from a transcript and from events", async () => {
    await inFolder(async (folder) => {
      const file = path.join(folder, "run.json")
      const shown = await divisi(["run", "Which?", "--transcript", file, ...quick])
      assert.isTrue(existsSync(file))
      const replayed = await divisi(["replay", file])
      assert.strictEqual(replayed.output.replace("\nanswer   one\n", "\n"), shown.errors)
      const { output: events } = await divisi(["run", "Which?", "--json", ...quick])
      assert.include((await divisi(["replay", "-"], { input: events })).output, "\nanswer   one\n")
    })
  })

  it("reports in one line that a file is not a recording", async () => {
    const { code, errors } = await divisi(["replay", "package.json"])
    assert.strictEqual(code, 2)
    assert.strictEqual(
      errors,
      "divisi: package.json is not a run transcript or event file. Write a transcript with: divisi run <question> --transcript <file>\n"
    )
  })
})

describe.concurrent("divisi gym", () => {
  it("prints tasks with their answers, the same for the same seed", async () => {
    const args = ["gym", "sample", "--count", "3", "--seed", "5", "--family", "calendar", "--json"]
    const [first, second] = await Promise.all([divisi(args), divisi(args)])
    assert.strictEqual(first!.output, second!.output)
    const tasks = first!.output
      .trimEnd()
      .split("\n")
      .map((line) => Result.getOrThrow(Wire.decodeTask(line)))
    assert.strictEqual(tasks.length, 3)
    for (const task of tasks) assert.isString(task.reference)
  })

  it("says which families there are", async () => {
    const { code, errors } = await divisi(["gym", "sample", "--family", "poetry"])
    assert.strictEqual(code, 2)
    assert.include(errors, "calendar")
  })

  it("measures a policy, and ends with one line of JSON", async () => {
    const { code, output } = await divisi(["gym", "solve", "--tasks", "20", "--policy", "oracle", "--json"])
    assert.strictEqual(code, 0)
    const report = JSON.parse(output.trimEnd().split("\n").at(-1)!)
    assert.deepStrictEqual(Object.keys(report), [
      "policy",
      "accuracy",
      "standardError",
      "isPlay",
      "costUsd",
      "meanSteps",
      "tasks",
      "notMeasured",
      "notMeasuredBy"
    ])
    assert.strictEqual(report.tasks, 20)
    assert.isAbove(report.accuracy, 0.8)
  })

  it("prints what was done when it is interrupted", async () => {
    const { code, output } = await divisi(["gym", "solve", "--tasks", "2", "--json", "--config", config("talking")], {
      onOutput: (text, child) => {
        if (!child.killed && text.includes("asked")) child.kill("SIGINT")
      }
    })
    assert.strictEqual(code, 130)
    assert.strictEqual(JSON.parse(output).tasks, 0)
  })
})
