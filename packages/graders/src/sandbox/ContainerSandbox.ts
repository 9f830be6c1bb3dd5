/**
 * A sandbox of containers (docker or podman): for the environment that a benchmark pins as an image, such as that of
 * BigCodeBench with its libraries.
 */

import { Options as Tables } from "@divisi/core"
import * as Group from "@divisi/files/ProcessGroup"
import * as Effect from "effect/Effect"
import * as PythonProcess from "./pythonProcess.ts"
import { type Sandbox, SandboxError } from "./Sandbox.ts"
import { processes, usable } from "./usable.ts"

/** Which image, by which engine. */
export interface Options {
  /** With its digest (`name@sha256:…`), so that it is the same tomorrow. It must be there: nothing is pulled. */
  readonly image: string
  /** By default the first that answers: docker, then podman. */
  readonly engine?: "docker" | "podman" | undefined
  /** The interpreter in the image; `python3` by default. */
  readonly python?: string | undefined
  /** The number of parallel programs; 1 by default. */
  readonly processes?: number | undefined
}

const failure = (reason: SandboxError["reason"], detail: string) =>
  new SandboxError({ sandbox: "container", reason, detail })

/** The command for one run. */
export const command = (
  { engine = "docker", image, python = "python3" }: Options,
  { folder, id, limits }: PythonProcess.Run
): ReadonlyArray<string> => [
  engine,
  ...[
    "run",
    "--rm",
    "--interactive",
    "--pull",
    "never",
    "--name",
    id,
    "--network",
    "none",
    "--read-only",
    "--cap-drop",
    "ALL"
  ],
  ...["--security-opt", "no-new-privileges", "--user", "65534:65534", "--pids-limit", "64", "--cpus", "1"],
  ...["--memory", `${limits.memoryMegabytes}m`, "--memory-swap", `${limits.memoryMegabytes}m`],
  ...["--ulimit", "core=0", "--tmpfs", "/tmp:size=256m,mode=1777", "--tmpfs", "/work:size=256m,mode=1777"],
  ...["--workdir", "/work", "--env", "HOME=/work", "--env", "MPLBACKEND=Agg"],
  ...["--mount", `type=bind,source=${folder},target=/program,readonly`],
  ...["--entrypoint", python, image, "-B", "-s", "/program/main.py"]
]

const findEngine = (wanted: Options["engine"]) =>
  Effect.firstSuccessOf(
    (wanted === undefined ? (["docker", "podman"] as const) : [wanted]).map((engine) =>
      Effect.as(PythonProcess.ask([engine, "info"]), engine)
    )
  ).pipe(Effect.mapError((detail) => failure("missing", `neither docker nor podman responds (last error: ${detail})`)))

const table = Tables.table(
  {
    image: Tables.name,
    engine: Tables.oneOf("docker", "podman"),
    python: Tables.name,
    processes
  } satisfies Tables.ShapeOf<Options>,
  { required: ["image"] }
)

/** Makes a sandbox; a `SandboxError` says what is missing: an engine that answers, the image, its digest. */
export const make = (options: Options): Effect.Effect<Sandbox, SandboxError> =>
  Effect.gen(function* () {
    yield* usable("ContainerSandbox.make", options, table)
    if (!/@sha256:[0-9a-f]{64}$/.test(options.image)) {
      return yield* failure("missing", `the image ${options.image} is not pinned; give it as name@sha256:…`)
    }
    const engine = yield* findEngine(options.engine)
    yield* Effect.mapError(PythonProcess.ask([engine, "image", "inspect", options.image]), (detail) =>
      failure("missing", `the image is not here; ${engine} pull ${options.image} (${detail})`)
    )
    return yield* PythonProcess.make({
      name: `${engine} ${options.image}`,
      processes: options.processes ?? 1,
      limitsMemory: true,
      command: (run) => command({ ...options, engine }, run),
      kill: ({ id }) => {
        Group.start([engine, "kill", id], { stdio: "ignore" })
      }
    })
  })
