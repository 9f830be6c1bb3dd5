// `npm install`: sets up the clone if necessary, as `npm start` does.
import { withNode } from "./setup/with-node.mjs"

withNode(() => import("./setup/install.mjs"))
