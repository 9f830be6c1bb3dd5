import { build } from "../../tsup.base.ts"

// The code of the threads is a file of its own, and stands where it is sought.
export default build({ "internal/compute.worker": "src/internal/compute.worker.ts" })
