import { build } from "../../tsup.base.ts"

// The thread of computer algebra is a file of its own, and stands where Algebra looks for it.
export default build({ entry: ["src/*.ts", "src/math/algebra.worker.ts"] })
