/** @jsxImportSource preact */
/** The entry point of the studio in the browser. */
import { render } from "preact"
import * as Router from "./Router.ts"
import { Shell } from "./Shell.tsx"
import { firstPath } from "./Source.ts"
import * as visibleTexts from "./visibleTexts.ts"

const first = location.hash === "" ? firstPath() : undefined
if (first !== undefined) location.replace(Router.href(first))
Router.start()
visibleTexts.start()
render(<Shell />, document.getElementById("studio")!)
