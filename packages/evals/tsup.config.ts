import { build } from "../../tsup.base.ts"

// The thread of computer algebra and the process of the sandbox are files of their own, and stand where they are sought.
export default build({ entry: ["src/*.ts", "src/math/algebra.worker.ts", "src/sandbox/pyodide.child.ts"] })
