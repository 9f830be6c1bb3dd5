/** The HTML document of a report: a self-contained file without scripts or network requests. */
import { type Html, html, raw, type Value } from "./Html.ts"
import { style } from "./Style.ts"

/**
 * Renders the document. Its content security policy allows only its own style sheet, regardless of what a model wrote.
 */
export const page = (title: string, header: Html, sections: ReadonlyArray<Html | undefined>): string =>
  String(html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title><style>${raw(style)}</style></head>
<body><header>${header}</header>
<main>
${sections}
</main></body></html>
`)

/** Renders key figures for the top of a page, each with a name and an optional remark. */
export const tiles = (
  items: ReadonlyArray<readonly [name: string, value: string, remark?: string | undefined]>
): Html =>
  html`<dl class="tiles">${items.map(
    ([name, value, remark]) =>
      html`<div class="tile"><dt>${name}</dt><dd><b>${value}</b>${remark !== undefined && html`<span class="note">${remark}</span>`}</dd></div>`
  )}</dl>
`

/** Renders a section with a heading. */
export const section = (id: string, title: string, content: Value): Html =>
  html`<section id="${id}"><h2>${title}</h2>
${content}</section>
`

/** Renders a remark in a muted color. */
export const note = (text: Value): Html => html`<p class="note">${text}</p>
`
