import { build } from "../../tsup.base.ts"

// The code of the threads is a file of its own, and stands where it is sought.
export default build({ entry: ["src/*.ts", "src/internal/compute.worker.ts"] })
