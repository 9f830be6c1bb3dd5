/** Standalone SVG files with a light and a dark theme. */
import { type Html, html, raw } from "./Html.ts"
import { pictureStyle } from "./Style.ts"

/** The accessible name, size in pixels and style. The style defaults to the common style of all pictures. */
export interface Options {
  readonly title: string
  readonly width: number
  readonly height: number
  readonly style?: string | undefined
}

/** Renders the SVG file. */
export const render = ({ height, style = pictureStyle, title, width }: Options, content: Html): string =>
  String(html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="name">
<title id="name">${title}</title>
<style>${raw(style)}</style>
${content}</svg>`)
