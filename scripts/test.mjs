// `npm test`: sets up the clone if necessary, then runs the tests. Arguments are passed to vitest.
import { withNode } from "./setup/with-node.mjs"

withNode(() => import("./setup/test.mjs"))
