// `npm start -- "<question>"`: sets up the clone if necessary, then runs `divisi run "<question>"`.
import { withNode } from "./setup/with-node.mjs"

withNode(() => import("./setup/start.mjs"))
