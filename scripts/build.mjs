// `pnpm build`: builds all packages with their declarations, unless they already are.
import { withNode } from "./setup/with-node.mjs"

withNode(() => import("./setup/build.mjs"))
