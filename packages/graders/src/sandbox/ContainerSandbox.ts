/**
 * A sandbox based on containers (docker or podman), for benchmarks that provide their environment as an image.
 * BigCodeBench, for example, requires many libraries.
 */

import { Options as Tables } from "@divisi/core"
import * as Group from "@divisi/files/ProcessGroup"
import * as Effect from "effect/Effect"
import * as PythonProcess from "./pythonProcess.ts"
import { type Sandbox, SandboxError } from "./Sandbox.ts"
import { processes, usable } from "./usable.ts"

/** Options for {@link make}. */
export interface Options {
  /**
   * The image with its digest (`name@sha256:…`), for reproducibility. It must exist locally, because images are never
   * pulled.
   */
  readonly image: string
  /** The container engine. Default: docker if it is available, otherwise podman. */
  readonly engine?: "docker" | "podman" | undefined
  /** The Python interpreter in the image. Default: `python3`. */
  readonly python?: string | undefined
  /** Maximum number of concurrent programs. Default: 1. */
  readonly processes?: number | undefined
}

const failure = (reason: SandboxError["reason"], detail: string) =>
  new SandboxError({ sandbox: "container", reason, detail })

/**
 * Returns the command for a single run.
 *
 * @internal
 */
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

/** Creates a sandbox. Fails with a `SandboxError` if the engine or the image is missing, or the image has no digest. */
export const make = (options: Options): Effect.Effect<Sandbox, SandboxError> =>
  Effect.gen(function* () {
    yield* usable("ContainerSandbox.make", options, table)
    if (!/@sha256:[0-9a-f]{64}$/.test(options.image)) {
      return yield* failure("missing", `the image ${options.image} is not pinned; give it as name@sha256:…`)
    }
    const engine = yield* findEngine(options.engine)
    yield* Effect.mapError(PythonProcess.ask([engine, "image", "inspect", options.image]), (detail) =>
      failure("missing", `the image is not available locally; run: ${engine} pull ${options.image} (${detail})`)
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
