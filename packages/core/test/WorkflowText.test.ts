import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { makeCorpus, makeWorkflows } from "../scripts/workflowTextCorpus.ts"
import * as Workflow from "../src/workflow/Workflow.ts"
import * as WorkflowText from "../src/workflow/WorkflowText.ts"

const pool = { poolSize: 7 }

/** The steps of a text that can be read, or the message of its error. */
const read = (text: string, options: Partial<WorkflowText.Options> = {}) => {
  const reading = WorkflowText.read(text, { ...pool, ...options })
  return Result.isSuccess(reading) ? reading.success.workflow.steps : reading.failure.message
}

const readStrict = (text: string, options: Partial<WorkflowText.Options> = {}) =>
  read(text, { ...options, mode: "strict" })

const notesOf = (text: string) =>
  Result.getOrThrow(WorkflowText.read(text, pool)).notes.toSorted((left, right) => (left < right ? -1 : 1))

const plan = `model_id = [1, 0]
subtasks = ["Plan.", "Do it."]
access_list = [[], "all"]`

const planned: ReadonlyArray<Workflow.Step> = [
  { worker: 1, subtask: "Plan.", access: [] },
  { worker: 0, subtask: "Do it.", access: "all" }
]

/** A text whose one subtask is written as given. */
const withSubtask = (literal: string) => `model_id = [0]\nsubtasks = [${literal}]\naccess_list = [[]]`
const subtaskOf = (literal: string, mode: "strict" | "tolerant" = "strict") => {
  const steps = read(withSubtask(literal), { mode })
  return typeof steps === "string" ? steps : steps[0]!.subtask
}

describe("strict reading", () => {
  it("gives Python's verdict and values on a recorded sample", () => {
    const lines = readFileSync(new URL("./fixtures/python-verdicts.jsonl", import.meta.url), "utf8")
      .trimEnd()
      .split("\n")
    expect(lines.length).toBe(400)
    for (const line of lines) {
      const { steps, text, verdict } = JSON.parse(line)
      const reading = WorkflowText.read(text, { poolSize: 1000, maxSteps: 1000, allowEmpty: true, mode: "strict" })
      const ours = Result.isSuccess(reading)
        ? { verdict: "read", steps: reading.success.workflow.steps }
        : { verdict: reading.failure.reason._tag === "Unreadable" ? "unreadable" : "invalid" }
      expect(ours, text).toEqual(verdict === "read" ? { verdict, steps } : { verdict })
    }
  })

  it("reads every quote, prefix and escape", () => {
    expect(
      subtaskOf(String.raw`R'\d' u"\x41\101\u00e9\U0001F600" """"hi" """ '\u2022\
!'`)
    ).toBe('\\dAAé😀"hi" •!')
    expect(subtaskOf(String.raw`"\400\q" r"\N{BULLET}"`)).toBe("\u0100\\q\\N{BULLET}")
  })

  it("refuses names of characters, which Python reads, and tolerant reading keeps them", () => {
    expect(subtaskOf(String.raw`"a \N{BULLET} b"`)).toBe(
      String.raw`Line 2, column 16: expected a character or its code (character names are not supported), found "\N".`
    )
    expect(subtaskOf(String.raw`"a \N{BULLET} b"`, "tolerant")).toBe(String.raw`a \N{BULLET} b`)
  })

  it("reads integers, tuples, groups, comments and chained assignments as Python does", () => {
    const text = `# plan\nmodel_id = 0b1, (+0x0), -0, # three\naccess_list = ((), [00], "al" 'l')\nsubtasks = ["a", ("b"), "c",];`
    expect(readStrict(text)).toEqual([
      { worker: 1, subtask: "a", access: [] },
      { worker: 0, subtask: "b", access: [0] },
      { worker: 0, subtask: "c", access: "all" }
    ])
    expect(readStrict("model_id = subtasks = access_list = []", { allowEmpty: true })).toEqual([])
  })

  it("reads the name of a list in parentheses as Python does", () => {
    const rest = "subtasks = access_list = []"
    const named = (target: string) => readStrict(`${target} = []\n${rest}`, { allowEmpty: true })
    for (const target of ["(model_id)", "((model_id))", "( # one\n model_id\n)", "model_id = (model_id)"])
      expect(named(target), target).toEqual([])
    expect(readStrict("(model_id) = (subtasks) = (access_list) = ([])", { allowEmpty: true })).toEqual([])
    for (const target of ["(model_id", "model_id)", "(model_id))", "()", "(model_id, subtasks)", "(Here)"])
      expect(named(target), target).toMatch(/^Line \d+, column \d+: expected/)
    expect(named(`${"(".repeat(200)}model_id${")".repeat(200)}`)).toEqual([])
    expect(named(`${"(".repeat(201)}model_id${")".repeat(201)}`)).toMatch(/^Line 1, column 1: expected/)
  })

  it("takes neither prose nor another spelling", () => {
    expect(readStrict(`Here:\n${plan}`)).toBe(
      'Line 1, column 1: expected model_id, subtasks or access_list, found "Here".'
    )
    expect(readStrict(plan.replace("=", ":"))).toBe('Line 1, column 10: expected "=", found ":".')
    expect(readStrict(`  ${plan}`)).toBe(
      "Line 1, column 3: expected a line without indentation, found an indented line."
    )
    expect(readStrict(plan.replace("[]", "none"))).toContain("Line 3, column 16: expected a value")
  })

  it("takes no value of another type", () => {
    expect(readStrict(plan.replace("1", "True"))).toBe("Line 1, column 13: expected the index of a worker, found True.")
    expect(readStrict(plan.replace("1", "1.0"))).toContain("found a number that is not an integer")
    expect(subtaskOf("b'x'")).toBe("Line 2, column 13: expected a subtask in quotes, found bytes.")
    expect(subtaskOf("f'{x}'")).toContain("found an f-string")
    expect(subtaskOf("{}")).toContain("found a dict or a set")
    expect(readStrict(plan.replace('"all"', '["all"]'))).toContain("expected the index of an earlier step")
  })
})

describe("tolerant reading", () => {
  it("gives what strict reading gives wherever that reads", () => {
    const rules = { poolSize: 1000, maxSteps: 1000, allowEmpty: true }
    let compared = 0
    for (const text of makeCorpus(7, 1500)) {
      const strict = WorkflowText.read(text, { ...rules, mode: "strict" })
      if (Result.isFailure(strict)) continue
      compared++
      expect(Result.getOrThrow(WorkflowText.read(text, rules))).toEqual(strict.success)
    }
    expect(compared).toBeGreaterThan(400)
  })

  it("finds the lists in prose and code fences, and notes it", () => {
    const text = `Two calls. The form is model_id = [...], so:\n\n\`\`\`python\n${plan}\n\`\`\`\nThat is all (a=[1]).`
    expect(read(text)).toEqual(planned)
    expect(notesOf(text)).toEqual(["Ignored the text around the lists."])
    expect(notesOf(plan)).toEqual([])
    const { span } = Result.getOrThrow(WorkflowText.read(text, pool))
    expect(text.slice(span.start, span.end)).toBe(plan)
  })

  it("reads JSON", () => {
    const json = '{"model_id": [1, 0], "subtasks": ["Plan \\/ a\\u00e9.", "Do it."], "access_list": [null, "all"]}'
    expect(read(json)).toEqual([{ ...planned[0], subtask: "Plan / aé." }, planned[1]])
    expect(
      read(
        `\`\`\`json\n${JSON.stringify({ models: [1, 0], sub_tasks: ["Plan.", "Do it."], access: [[], ["all"]] }, null, 2)}\n\`\`\``
      )
    ).toEqual(planned)
  })

  it.each([
    ['models: [1, 0]\nSubtasks: ["Plan.", "Do it."]\nAccess: [[], "all"]'],
    ['**model_ids** = [1, 0]\n**sub-tasks** = ["Plan.", "Do it."]\n**access lists** = [none, all]'],
    ['1. `workers` = [“Model 1”, "0"]\n2. `sub_tasks` = [“Plan.”, ‘Do it.’]\n3. `access` = [False, True]'],
    ['model_id: list[int] = [1.0, 0]\nsubtasks: list[str] = ["Plan.", "Do it."]\naccess_list = [[], [0]]'],
    ['model\\_id := [1, 0]\nsubtasks = ["Plan.", "Do it."]\naccess\\_list = ["none", 0]'],
    ['model_id = [1, 0\nsubtasks = ["Plan.", "Do it."\naccess_list = [[], "all"'],
    ['subtasks = ["Plan.", "Do it."] are two; model_id = [1, 0] as 1 plans well; access_list = [[], "all"] then']
  ])("forgives %j", (text) => {
    const steps = read(text)
    expect(typeof steps === "string" ? steps : steps.map(({ worker, subtask }) => ({ worker, subtask }))).toEqual(
      planned.map(({ worker, subtask }) => ({ worker, subtask }))
    )
    expect(steps[1]).toHaveProperty("access", text.includes("[0]") || text.includes('"none"') ? [0] : "all")
    expect(notesOf(text)).not.toEqual([])
  })

  it("names what it forgave, once each", () => {
    expect(notesOf('models: [1, 0]\nsubtasks = [“Plan.”, “Do it.”]\naccess_list = [null, ["all"]]')).toEqual([
      'Read ":" as "=".',
      'Read "models" as model_id.',
      'Read ["all"] as "all".',
      "Read curly quotes as straight ones.",
      "Read null as []."
    ])
  })

  it("keeps what a string should have escaped where its end is plain", () => {
    expect(subtaskOf("'Read Alice's notes, don't guess.'", "tolerant")).toBe("Read Alice's notes, don't guess.")
    expect(subtaskOf('"Say "hello there" to all."', "tolerant")).toBe('Say "hello there" to all.')
    expect(subtaskOf('"One.\r\nTwo."', "tolerant")).toBe("One.\nTwo.")
    expect(subtaskOf(String.raw`"Find \xi and \upsilon in \N."`, "tolerant")).toBe(
      String.raw`Find \xi and \upsilon in \N.`
    )
  })

  it("takes the last complete set", () => {
    const draft = 'model_id = [5]\nsubtasks = ["Draft."]\naccess_list = [[]]'
    expect(read(`${draft}\n\nNo, better:\n${plan}`)).toEqual(planned)
    expect(read(`${draft}\n${plan}`)).toEqual(planned)
    expect(read(`${plan}\n\nSo model_id = [6] is not needed, nor access_list = ["all"].`)).toEqual(planned)
    expect(read(`First, access_list = [[0]] or so, model_id = [3].\n${plan}`)).toEqual(planned)
    expect(read(`${draft}\nBut: ${plan.replaceAll("\n", "\nand then\n")}`)).toEqual(planned)
    expect(notesOf(`${draft}\n\nNo, better:\n${plan}`)).toContain("Took the last of 2 sets of lists.")
  })

  it("falls back to the set before one that is cut off, and notes it", () => {
    const text = `${plan}\n\nOr:\nmodel_id = [2, 3]\nsubtasks = ["Plan again, and`
    expect(read(text)).toEqual(planned)
    expect(notesOf(text)).toContain("Ignored a later subtasks list that cannot be read.")
  })

  it("does not look for lists within the strings of a list", () => {
    const text = `Ok:\n${plan.replace("Plan.", "Write model_id = [9], subtasks = [], access_list = [] first.")}`
    expect(read(text)).toEqual([
      { ...planned[0], subtask: "Write model_id = [9], subtasks = [], access_list = [] first." },
      planned[1]
    ])
  })

  it("does not let an open quote swallow the lists after it", () => {
    expect(read(`Draft: subtasks = ["Plan the\n${plan}`)).toEqual(planned)
    expect(read(`Draft: subtasks = ["Plan the... ${plan}`)).toEqual(planned)
    expect(read(`model_id = [ # which?\n${plan}`)).toEqual(planned)
  })

  it("does not guess where a list that is cut off would end", () => {
    expect(read(plan.replace(']"all"]', "").slice(0, -1))).toEqual(planned)
    expect(read(plan.slice(0, -3))).toContain("expected a closing quote")
    expect(read(plan.replace('"all"]', "[0"))).toContain('expected "," or "]", found the end of the text')
    expect(read('access_list = [[]]\nsubtasks = ["x"]\nmodel_id = [1')).toContain("found the end of the text")
    expect(read(plan.replace(', "all"]', ""))).toContain("The lists differ in length")
  })

  it("takes three empty lists for an empty workflow, where the rules allow one", () => {
    const text = "The answer stands.\nmodel_id = []\nsubtasks = []\naccess_list = []"
    expect(read(text, { allowEmpty: true })).toEqual([])
    expect(read(text)).toContain("Line 2, column 12: The workflow has no steps")
  })
})

describe("errors", () => {
  const failureOf = (text: string, options: Partial<WorkflowText.Options> = {}) => {
    const reading = WorkflowText.read(text, { ...pool, ...options })
    if (Result.isSuccess(reading)) throw new Error("read")
    return reading.failure
  }

  it("say what is missing", () => {
    expect(read("I do not know.")).toBe("Line 1, column 15: expected model_id = [...], found no list.")
    expect(read('model_id = [1]\nsubtasks = ["x"]')).toBe(
      "Line 2, column 17: expected access_list = [...], found no access_list."
    )
    expect(readStrict('model_id = [1]\nsubtasks = ["x"]\n')).toBe(
      "Line 3, column 1: expected access_list = [...], found the end of the text."
    )
  })

  it("are at the position where a list cannot be read", () => {
    expect(read(plan.replace("0]", "zero]"))).toBe('Line 1, column 16: expected a value, found "zero".')
    expect(readStrict('model_id = [0]\r\nsubtasks = ["é😀\n"]')).toBe(
      'Line 2, column 16: expected a closing quote ("), found the end of the line.'
    )
    expect(readStrict("model_id = [0]\rsubtasks = ['''x']")).toContain(
      "Line 2, column 13: expected three closing quotes"
    )
    expect(subtaskOf(String.raw`"\xg1"`)).toBe(
      String.raw`Line 2, column 14: expected 2 hexadecimal digits after "\x", found "\xg1".`
    )
    expect(readStrict(`${plan}\n# \0`)).toContain("Line 4, column 3: expected a text without NUL characters")
    expect(readStrict(`${plan}\n# \ud83d`)).toContain("found half of a surrogate pair")
    expect(readStrict(`model_id = [01]`)).toContain("expected a number without leading zeros")
  })

  it("are at the element that breaks a rule, and hold the broken rule", () => {
    const outOfRange = failureOf(plan.replace("0]", "9]"))
    expect([outOfRange.line, outOfRange.column, outOfRange.expected]).toEqual([1, 16, "a worker from 0 to 6"])
    expect(outOfRange.reason).toEqual({
      _tag: "InvalidWorkflow",
      error: new Workflow.WorkflowError({ reason: { _tag: "WorkerOutOfRange", step: 1, worker: 9, poolSize: 7 } })
    })
    const place = (text: string, options?: Partial<WorkflowText.Options>) => {
      const { column, line, reason } = failureOf(text, options)
      return [line, column, reason._tag === "InvalidWorkflow" ? reason.error.reason._tag : reason._tag]
    }
    expect(place(plan.replace('"all"', "[0, 1]"))).toEqual([3, 24, "AccessNotBackward"])
    expect(place(plan.replace('"all"', "[0, -1]"))).toEqual([3, 24, "AccessOutOfRange"])
    expect(place(plan, { maxSteps: 1 })).toEqual([1, 16, "TooManySteps"])
    expect(place(plan.replace("1, ", ""))).toEqual([1, 12, "UnequalLengths"])
    expect(place(plan.replace("[], ", ""))).toEqual([3, 15, "UnequalLengths"])
  })
})

describe("reading what was made to hurt", () => {
  const fill = (piece: string) => piece.repeat(Math.ceil(400_000 / piece.length))

  it.each([
    ["brackets", fill("[")],
    ["brackets in a list", `model_id = ${fill("[")}`],
    ["parentheses in a list", `model_id = [${fill("(")}`],
    ["heads", fill("model_id = [")],
    ["heads in comments", fill("model_id = [# ")],
    ["heads in strings", fill("model_id = ['\nsubtasks = [\"")],
    ["quotes", `subtasks = [${fill("'")}`],
    ["quotes and letters", `subtasks = ["${fill('a"')}`],
    ["blanks", `subtasks = ["${fill(" ")}"${fill(" ")}x`],
    ["backslashes", `subtasks = ["${fill("\\")}`],
    ["an unclosed string", `subtasks = ["""${fill("a\n")}`],
    ["digits", `model_id = [${fill("7")}`],
    ["signs", `model_id = [${fill("-")}`],
    ["objects", fill('{"model_id": [1, {')]
  ])("ends with an error on %s", (_, text) => {
    for (const mode of ["tolerant", "strict"] as const) expect(read(text, { mode })).toMatch(/^Line \d+, column \d+: /)
  })

  it.each([
    ["brackets", fill("[")],
    ["heads", fill("model_id = [")],
    ["heads in comments", fill("model_id = [# ")],
    ["quotes in a list", `subtasks = ["${fill('a"')}`],
    ["line breaks", fill("\r\n")],
    ["drafts", fill('model_id = [2]\nsubtasks = ["x"]\naccess_list = [[]]\n')]
  ])("still finds the lists behind %s", (_, text) => {
    expect(read(`${text}\n\n${plan}`)).toEqual(planned)
  })

  it("reads long lists and strings", () => {
    const long = "x".repeat(1_000_000)
    expect(subtaskOf(`"${long}"`, "tolerant")).toBe(long)
    const many = `model_id = [${"1,".repeat(100_000)}]\nsubtasks = [${"'',".repeat(100_000)}]\naccess_list = [${"[],".repeat(100_000)}]`
    expect(read(many)).toContain("Line 1, column 23: The workflow has 100000 steps")
  })

  it("refuses a name of millions of letters, whatever they are", () => {
    const expected = /^Line 1, column 1: expected model_id, subtasks or access_list, found/
    for (const letter of ["x", "á", "中"]) expect(readStrict(letter.repeat(4_194_304)), letter).toMatch(expected)
  })
})

describe("a thought, then strict reading", () => {
  const mode = "thought-then-strict"

  it("takes the lists behind a thought as Python does, and nothing behind them", () => {
    expect(read(`It is hard, so two.\n1. [x]\n\n${plan}`, { mode })).toEqual(planned)
    expect(read(plan, { mode })).toEqual(planned)
    expect(read(`A draft:\nmodel_id = [9]\nand now:\n${plan}`, { mode })).toEqual(planned)
    expect(read(`Thus:\n${plan}\nDone.`, { mode })).toMatch(/^Line \d+, column \d+: /)
  })

  it.each([
    ["colons", plan.replaceAll(" =", ":")],
    ["a code fence", `\`\`\`python\n${plan}\n\`\`\``],
    ["JSON", '{"model_id": [0], "subtasks": ["x"], "access_list": [[]]}'],
    ["other names", plan.replace("model_id", "models")]
  ])("refuses %s, which tolerant reading forgives", (_, text) => {
    expect(read(text)).toBeInstanceOf(Array)
    expect(read(text, { mode })).toMatch(/^Line \d+, column \d+: /)
  })

  it("counts lines from the beginning of the text", () => {
    expect(read("One.\nTwo.\nmodel_id: [2]", { mode })).toBe('Line 3, column 9: expected "=", found ":".')
  })
})

describe("write", () => {
  it("writes the paper's form", () => {
    expect(WorkflowText.write({ steps: planned })).toBe(`${plan}\n`)
    expect(WorkflowText.write({ steps: [] })).toBe("model_id = []\nsubtasks = []\naccess_list = []\n")
  })

  it("writes one element per line for people", () => {
    const workflow = {
      steps: [
        { worker: 1, subtask: "a", access: [] as const },
        { worker: 0, subtask: "b", access: [0] }
      ]
    }
    const text = WorkflowText.write(workflow, { isSpread: true })
    expect(text).toBe('model_id = [\n  1,\n  0\n]\nsubtasks = [\n  "a",\n  "b"\n]\naccess_list = [\n  [],\n  [0]\n]\n')
    const reading = Result.getOrThrow(WorkflowText.read(text, { poolSize: 2, mode: "strict" }))
    expect(reading.workflow).toEqual(workflow)
    expect(WorkflowText.write({ steps: [] }, { isSpread: true })).toBe(
      "model_id = []\nsubtasks = []\naccess_list = []\n"
    )
  })

  it("escapes invalid and invisible characters of a string", () => {
    const subtask = "\0\x01\n\r\t\"'\\\u0085\u2028\ufeff\ud800é😀"
    expect(WorkflowText.write({ steps: [{ worker: 0, subtask, access: [] }] }).split("\n")[1]).toBe(
      String.raw`subtasks = ["\x00\x01\n\r\t\"'\\\x85\u2028\ufeff\ud800é😀"]`
    )
  })

  it("is undone by strict reading", () => {
    for (const workflow of makeWorkflows(11, 2000)) {
      const text = WorkflowText.write(workflow)
      for (const mode of ["strict", "tolerant"] as const) {
        expect(read(text, { mode })).toEqual(workflow.steps)
      }
      expect(read(`Prose [ and " quotes.\n${text}`), text).toEqual(workflow.steps)
    }
  })
})
