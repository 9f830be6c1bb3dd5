// `npm install`: sets everything up where that is needed, as `npm start` does.
import { checkNode } from "./setup/node-version.mjs"

if (checkNode()) import("./setup/install.mjs")
