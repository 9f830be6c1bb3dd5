// `npm start -- "<question>"`: sets everything up where that is needed, then is `divisi run "<question>"`.
import { withNode } from "./setup/with-node.mjs"

withNode(() => import("./setup/start.mjs"))
