// Prints the path of a supported Node, for shell scripts. Exits with code 1 if there is none.
import { report } from "./progress.mjs"
import { supportedNode } from "./with-node.mjs"

supportedNode().then((node) => process.stdout.write(`${node}\n`), report)
