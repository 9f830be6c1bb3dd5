import { build } from "../../tsup.base.ts"

// The thread of computer algebra and the process of the sandbox are files of their own.
export default build({
  "math/algebra.worker": "src/math/algebra.worker.ts",
  "sandbox/pyodide.child": "src/sandbox/pyodide.child.ts"
})
