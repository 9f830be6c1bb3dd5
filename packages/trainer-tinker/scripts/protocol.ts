/** Generates the messages of `proto/tinker.proto`. Needs `protoc` on the path. */
import { execFileSync } from "node:child_process"
import path from "node:path"

const root = path.join(import.meta.dirname, "..")
const options = "target=ts,erasable_syntax=true,import_extension=ts"

const run = (command: string, args: ReadonlyArray<string>) =>
  execFileSync(command, args, { cwd: root, stdio: "inherit" })

const folder = "src/internal"

run("protoc", [
  "--proto_path=proto",
  `--plugin=protoc-gen-es=${path.join(root, "node_modules/.bin/protoc-gen-es")}`,
  `--es_out=${folder}`,
  `--es_opt=${options}`,
  "tinker.proto"
])
run("npx", ["biome", "format", "--write", `${folder}/tinker_pb.ts`])
