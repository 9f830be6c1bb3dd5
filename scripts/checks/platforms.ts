/**
 * Checks that calls which work differently on Windows are in the files that know the difference. Each rule names these
 * files; in any other file, such a call is reported with the function to use.
 */
import { execFileSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { root } from "../setup/workspace.mjs"
import { fromProblems, type Report } from "./Report.ts"

interface Rule {
  readonly call: RegExp
  readonly use: string
  /** Files that may contain the call, below `packages` or `scripts`. */
  readonly files: ReadonlyArray<string>
}

const rules: ReadonlyArray<Rule> = [
  {
    call: /\bprocess\.kill\(|\bdetached: true/,
    use: "`start`, `stop` and `kill` of @divisi/files/ProcessGroup",
    files: ["files/src/ProcessGroup.ts", "files/src/internal/platform.ts", "setup/lock.mjs", "setup/with-node.mjs"]
  },
  {
    call: /^import \{.*\} from "node:child_process"|^\} from "node:child_process"/,
    use: "`start` or `run` of @divisi/files/ProcessGroup",
    files: [
      "cli/src/config/ConfigModule.ts",
      "files/src/ProcessGroup.ts",
      "files/src/internal/platform.ts",
      "testkit/src/journals/PostgresServer.ts",
      "setup/chromium.ts",
      "setup/declarations.mjs",
      "setup/progress.mjs",
      "setup/set-up.mjs",
      "setup/test.mjs",
      "setup/with-node.mjs"
    ]
  },
  {
    call: /\bl?f?chmod(Sync)?\(|\bumask\(|\bmode: 0o/,
    use: "@divisi/files/OwnerOnly",
    files: [
      "files/src/OwnerOnly.ts",
      "graders/src/sandbox/pythonProcess.ts",
      "trainer/src/ToyEngine.ts",
      "setup/bin.mjs"
    ]
  },
  { call: /\bfs\.(sym)?link(Sync)?\(|\bmkfifo\b/, use: "a copy of the file", files: [] },
  {
    call: /\bprocess\.(on|once)\(("SIG|signal\b)/,
    use: "`HangUp`, or interruption of the command's effect",
    files: ["cli/src/main.ts", "setup/test.mjs", "setup/with-node.mjs"]
  },
  { call: /\bprocess\.(get|set)e?[ug]id\(/, use: "`process.getuid?.()`", files: [] },
  {
    call: /["'`]\/(bin|dev|etc|proc|tmp|usr)\b/,
    use: "`os.tmpdir()` or the `inShell` of a platform",
    files: [
      "files/src/ProcessGroup.ts",
      "files/src/internal/platform.ts",
      "graders/src/code/unitTests.ts",
      "graders/src/sandbox/BubblewrapSandbox.ts",
      "graders/src/sandbox/ContainerSandbox.ts",
      "graders/src/sandbox/PyodideProcess.ts",
      "testkit/src/corpus/agentRequests.ts",
      "testkit/src/journals/PostgresServer.ts"
    ]
  },
  { call: /\bimport\.meta\.url\)\.pathname/, use: "`fileURLToPath`", files: [] },
  { call: /\benv\.(HOME|USER|SHELL|TMPDIR)\b/, use: "@divisi/files/UserFolders", files: ["files/src/UserFolders.ts"] },
  { call: /\bPATH\b.*split\(":"\)/, use: "`path.delimiter`", files: ["files/src/ProcessGroup.ts"] },
  {
    call: /\b(spawn|spawnSync|execFile|execFileSync)\("(npm|npx|pnpm|yarn|corepack)"/,
    use: "`run` of scripts/setup/progress.mjs, since these are command files on Windows",
    files: ["setup/set-up.mjs"]
  }
]

const isComment = (line: string): boolean => /^\s*(\*|\/\/|\/\*)/.test(line)

/** Returns the lines of a file with a call that only other files may contain, each with its rule. */
export const findCalls = (file: string, text: string): ReadonlyArray<{ readonly line: number; readonly rule: Rule }> =>
  text
    .split("\n")
    .flatMap((line, index) =>
      isComment(line)
        ? []
        : rules
            .filter(({ call, files }) => call.test(line) && !files.some((known) => file.endsWith(`/${known}`)))
            .map((rule) => ({ line: index + 1, rule }))
    )

const patterns = ["packages/*/src/**", "packages/*/bin/**", "scripts/setup/**", "scripts/*.mjs"]

/** Checks the sources that run on the machines of users. */
export const check = (): Report => {
  const listed = execFileSync(
    "git",
    ["ls-files", "-co", "--exclude-standard", "--", ...patterns.map((one) => `:(glob)${one}`)],
    {
      cwd: root,
      encoding: "utf8"
    }
  )
  const sources = listed
    .split("\n")
    .filter((file) => /\.(ts|tsx|js|mjs)$/.test(file) && fs.existsSync(path.join(root, file)))
    .map((file) => ({ file, text: fs.readFileSync(path.join(root, file), "utf8") }))
  const found = sources.flatMap(({ file, text }) =>
    findCalls(file, text).map(({ line, rule }) => `${file}:${line}: differs on Windows. Use ${rule.use}.`)
  )
  const stale = rules.flatMap(({ call, files }) =>
    files
      .filter(
        (known) => !sources.some(({ file, text }) => file.endsWith(`/${known}`) && new RegExp(call, "m").test(text))
      )
      .map((known) => `${known} has no call of ${call} any more: remove it from the rule.`)
  )
  return fromProblems([...found, ...stale])
}
