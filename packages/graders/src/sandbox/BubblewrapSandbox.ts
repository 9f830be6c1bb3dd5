/**
 * A sandbox that runs a local Python interpreter in Linux namespaces (bubblewrap). Programs run at native speed with
 * the installed libraries, but without access to the network, files or processes of the host.
 */
import fs from "node:fs"
import { Options as Tables } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as PythonProcess from "./pythonProcess.ts"
import { limits, type Sandbox, SandboxError } from "./Sandbox.ts"
import { processes, usable } from "./usable.ts"

/** Options for {@link make}. */
export interface Options {
  /** The Python interpreter, for example one from a virtual environment. Default: `python3`. */
  readonly python?: string | undefined
  /** Maximum number of concurrent programs. Default: 1. */
  readonly processes?: number | undefined
}

interface Python {
  readonly executable: string
  /** Folders that the interpreter requires. */
  readonly folders: ReadonlyArray<string>
  readonly version: string
}

const question =
  "import json, sys; print(json.dumps({'executable': sys.executable, 'folders': [sys.prefix, sys.base_prefix], 'version': sys.version.split()[0]}))"

const failure = (reason: SandboxError["reason"], detail: string) =>
  new SandboxError({ sandbox: "bubblewrap", reason, detail })

/** Folders for dynamically linked programs. On many systems, these are links into `/usr`. */
const system = ["/bin", "/lib", "/lib64"].flatMap((place) => {
  const found = fs.lstatSync(place, { throwIfNoEntry: false })
  if (found === undefined) return []
  return found.isSymbolicLink() ? ["--symlink", fs.readlinkSync(place), place] : ["--ro-bind", place, place]
})

const walls = (python: Python, { folder }: PythonProcess.Run): ReadonlyArray<string> => [
  "bwrap",
  ...[
    "--unshare-all",
    "--die-with-parent",
    "--new-session",
    "--clearenv",
    "--cap-drop",
    "ALL",
    "--hostname",
    "sandbox"
  ],
  ...["--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME", "/work", "--setenv", "LANG", "C.UTF-8"],
  ...["--setenv", "MPLBACKEND", "Agg"],
  ...["--ro-bind", "/usr", "/usr", ...system, "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"],
  ...["--proc", "/proc", "--dev", "/dev", "--size", "268435456", "--tmpfs", "/tmp", "--size", "268435456"],
  ...["--tmpfs", "/work", "--ro-bind", folder, "/program"],
  ...python.folders.filter((one) => !one.startsWith("/usr")).flatMap((one) => ["--ro-bind", one, one]),
  ...["--chdir", "/work", "--", python.executable, "-B", "-s", "/program/main.py"]
]

/** Id of the user `nobody`. Linux enforces process limits for every user except root. */
const nobody = 65_534

/**
 * Starts an interpreter in the sandbox once. When grading as root, it runs as `nobody` if that user can access the
 * interpreter.
 */
const probe = (python: Python): Effect.Effect<number | undefined, SandboxError> => {
  const folder = "/usr/share"
  const wall = walls(python, { id: "", folder, work: folder, limits: limits({ code: "" }) })
  const command = [...wall.slice(0, wall.indexOf("--") + 1), python.executable, "-c", "pass"]
  const asUser = (user?: number) => Effect.as(PythonProcess.ask(command, user), user)
  const attempt = process.getuid?.() === 0 ? Effect.catch(asUser(nobody), () => asUser()) : asUser()
  return Effect.mapError(attempt, (detail) => failure("start", `namespaces are not available: ${detail}`))
}

const table = { python: Tables.name, processes } satisfies Tables.ShapeOf<Options>

/**
 * Creates a sandbox that uses the installed `bwrap`. Fails with a `SandboxError` if `bwrap` is missing or not allowed
 * to create namespaces.
 *
 * **Gotchas**
 *
 * The memory limit applies to each process of a program, and the process limit applies to all programs of the user
 * together. The interpreter sets both before the program starts. Linux does not enforce process limits for root, so
 * programs started by root run as the user `nobody`. If `nobody` cannot access the interpreter (for example under
 * `/root`), only the time limit stops a fork bomb and the processes that it started.
 */
export const make = (options: Options = {}): Effect.Effect<Sandbox, SandboxError> =>
  Effect.gen(function* () {
    yield* usable("BubblewrapSandbox.make", options, table)
    const bwrap = yield* Effect.mapError(PythonProcess.ask(["bwrap", "--version"]), (detail) =>
      failure("missing", `bwrap cannot be run (${detail}); install bubblewrap`)
    )
    const answer = yield* Effect.mapError(PythonProcess.ask([options.python ?? "python3", "-c", question]), (detail) =>
      failure("missing", `Python was not found: ${detail}`)
    )
    const python: Python = JSON.parse(answer)
    const user = yield* probe(python)
    return yield* PythonProcess.make({
      name: `${bwrap.trim()}, Python ${python.version}`,
      processes: options.processes ?? 1,
      user,
      command: (run) => walls(python, run)
    })
  })
