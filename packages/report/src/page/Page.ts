/** The document around a report: one file that needs nothing else, runs nothing and asks nothing of the network. */
import { type Html, html, raw, type Value } from "./Html.ts"
import { style } from "./Style.ts"

/** The whole file. The policy in it allows its own style sheet and nothing more, whatever a model wrote. */
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

/** A few figures at the top of a page, each with its name and a remark. */
export const tiles = (
  items: ReadonlyArray<readonly [name: string, value: string, remark?: string | undefined]>
): Html =>
  html`<dl class="tiles">${items.map(
    ([name, value, remark]) =>
      html`<div class="tile"><dt>${name}</dt><dd><b>${value}</b>${remark !== undefined && html`<span class="note">${remark}</span>`}</dd></div>`
  )}</dl>
`

/** A part of the page under a heading. */
export const section = (id: string, title: string, content: Value): Html =>
  html`<section id="${id}"><h2>${title}</h2>
${content}</section>
`

/** A remark in a softer colour. */
export const note = (text: Value): Html => html`<p class="note">${text}</p>
`
