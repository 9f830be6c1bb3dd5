import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { assert, describe, expect, it } from "vitest"
import * as Options from "../src/Options.ts"
import * as RunSettings from "../src/run/RunSettings.ts"
import { settingsTable } from "../src/run/tables.ts"

/** Every row of the table with the path of its setting. */
const rowsOf = (shape: Options.Shape, before = ""): ReadonlyArray<readonly [path: string, row: Options.Row]> =>
  Object.entries(shape).flatMap(([name, row]) =>
    typeof row === "function" || "kind" in row
      ? [[`${before}${name}`, row as Options.Row] as const]
      : rowsOf(row as Options.Shape, `${before}${name}.`)
  )

const rows = rowsOf(settingsTable)

/** The settings with one of them set. */
const withSetting = (path: string, value: unknown): object => {
  const [group, name] = path.split(".") as [string, string?]
  return { [group]: name === undefined ? value : { [name]: value } }
}

const words = ["never", "next", "again", "fail", "reassign", "report", "end", "require", "omit", "error", "x", ""]

const values: ReadonlyArray<unknown> = [
  ...words,
  ...["last-step", "every-step", "policy", "none"],
  ...[-1, -0.5, 0, 0.5, 1, 1.5, 2, 16, 2 ** 31, Number.MAX_SAFE_INTEGER, Number.MAX_VALUE],
  ...[Number.POSITIVE_INFINITY, Number.NaN, true, false, null, [], {}, () => undefined],
  ...[{ name: "a", score: () => 1 }, { name: "a", input: {} }, [{ name: "a", input: {} }], { type: "off" }],
  ...[
    { type: "effort", effort: "low" },
    { type: "effort", effort: "most" },
    { type: "budget", tokens: 1 }
  ],
  ...[{ type: "budget", tokens: -1 }, { a: () => true }, { a: 1 }]
]

/** Describes the values that a setting accepts. */
const accepted = (row: Options.Row): string => {
  if (typeof row === "function") return row(undefined) ?? ""
  if (!("each" in row)) return "an object"
  const { each, kind } = row as Options.Each
  return kind === "list" ? `a list; each element is ${accepted(each)}` : `an object; each value is ${accepted(each)}`
}

const decode = Schema.decodeUnknownResult(RunSettings.schema)

describe("the settings of a run", () => {
  it.each(rows)("%s is accepted by the schema exactly if the options accept it", (path) => {
    for (const value of values) {
      const settings = withSetting(path, value)
      const isOption = Options.problemOf(settings, settingsTable, "settings") === undefined
      assert.strictEqual(
        Result.isSuccess(decode(settings)),
        isOption,
        `${path}: ${String(JSON.stringify(value) ?? value)}`
      )
    }
  })

  it("have a row in the reference each, and no others", () => {
    assert.deepStrictEqual(Object.keys(RunSettings.reference).sort(), rows.map(([path]) => path).sort())
  })

  // `npx vitest run packages/core/test/settings.test.ts -u` writes the page.
  it("are on the page of settings", async () => {
    const lines = rows.map(([path, row]) => {
      const {
        default: fallback,
        doc,
        flag,
        unit = ""
      } = RunSettings.reference[path as keyof typeof RunSettings.reference]
      return `| \`${path}\` | ${doc} | ${accepted(row)} | ${unit} | ${fallback} | ${flag === undefined ? "" : `\`${flag}\``} |`
    })
    const page = [
      "# Settings of a run",
      "",
      "These settings apply to `conduct`, `Conductor.make` and `divisi.config.ts`, and to the runs of a server, an evaluation or a training. Each has a default, so none is required. The flags are those of `divisi run`. If a setting is unknown or out of range, the run fails before anything is paid for. No setting is read from the environment.",
      "",
      "| setting | what it is | accepts | unit | default | flag |",
      "|---|---|---|---|---|---|",
      ...lines,
      ""
    ].join("\n")
    await expect(page).toMatchFileSnapshot("../../../docs/reference/run-settings.md")
  })
})
