// `npm install`: sets everything up where that is needed, as `npm start` does.
import { withNode } from "./setup/with-node.mjs"

withNode(() => import("./setup/install.mjs"))
