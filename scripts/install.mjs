// `npm install`: sets up the clone if necessary, as `npm start` does.
import { withNode } from "./setup/with-node.mjs"

// `npx divisi` installs a link to the clone in npm's cache, then runs the command, which sets up the clone.
if (process.env.npm_command !== "exec") withNode(() => import("./setup/install.mjs"))
