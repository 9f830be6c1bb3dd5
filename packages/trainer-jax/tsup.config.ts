import { build } from "../../tsup.base.ts"

// The code of the threads is a separate file, at the path where it is loaded from.
export default build({ "internal/compute.worker": "src/internal/compute.worker.ts" })
