// Prints the program of a Node that is new enough, for shell scripts; exit code 1 where there is none.
import { SetUpError } from "./progress.mjs"
import { supportedNode } from "./with-node.mjs"

supportedNode().then(
  (node) => process.stdout.write(`${node}\n`),
  (error) => {
    process.stderr.write(`\n${error instanceof SetUpError ? error.message : error.stack}\n`)
    process.exitCode = 1
  }
)
