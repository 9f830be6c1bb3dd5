/** The look of a report: one style sheet, light and dark, wide and narrow. */
import { raw } from "./markup.ts"

/** Eight colours that people with any colour vision tell apart (Okabe and Ito), and one for the rest. */
export const colours = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b5a900", "#7a5bb5"] as const
export const restColour = "#8a8f98"

export const style = raw(`
:root { color-scheme: light dark; --text: #1c2026; --soft: #5a626d; --ground: #ffffff; --panel: #f5f6f8;
  --line: #d9dde3; --accent: #0063a3; --good: #00704f; --bad: #a63c00 }
@media (prefers-color-scheme: dark) { :root { --text: #e8eaee; --soft: #a4acb8; --ground: #14171b; --panel: #1d2126;
  --line: #343a43; --accent: #6cb8f0; --good: #4fd0a5; --bad: #ff9c66 } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem 1rem 4rem; background: var(--ground); color: var(--text);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .25rem } h2 { font-size: 1.3rem; margin: 3rem 0 .5rem }
h3 { font-size: 1.02rem; margin: 1.5rem 0 .4rem } h4 { font-size: .92rem; margin: .9rem 0 .2rem }
p { max-width: 46rem; margin: .4rem 0 }
a { color: var(--accent) } .soft, figcaption { color: var(--soft) } .soft, figcaption, table { font-size: .9rem }
nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; list-style: none; margin: .8rem 0 0; padding: 0 }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .75rem; margin: 1.25rem 0 }
.tile { background: var(--panel); border-radius: .5rem; padding: .7rem .9rem } .tile b { display: block; font-size: 1.25rem }
.scroll { overflow-x: auto; max-width: 100% } .scroll:focus-visible { outline: 2px solid var(--accent) }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100% }
th, td { text-align: right; padding: .3rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap }
th { color: var(--soft); font-weight: 600 } th:first-child, td:first-child { text-align: left }
tbody th { color: inherit; font-weight: 400; position: sticky; left: 0; background: var(--ground); max-width: 18rem;
  overflow: hidden; text-overflow: ellipsis }
td.best { font-weight: 700 } tr.reference th, tr.reference td { background: var(--panel) }
figure { margin: 1rem 0 0 } figcaption { margin-bottom: .6rem; max-width: 46rem }
.row { display: grid; grid-template-columns: minmax(9rem, 15rem) 1fr 6.5rem; gap: 0 .8rem; align-items: center }
.row .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: .88rem }
.row .value { text-align: right; font-size: .85rem; font-variant-numeric: tabular-nums; color: var(--soft) }
.row.reference .name { font-weight: 700 }
svg { display: block; width: 100%; overflow: visible } svg text { fill: var(--soft); font-size: 11px }
svg .grid { stroke: var(--line) } svg .whisker { stroke: var(--soft); stroke-width: 2 }
svg .dot { fill: var(--soft) } svg .dot.reference { fill: var(--accent) } svg .dot.front { stroke: var(--text); stroke-width: 1.5 }
svg .whisker.reference { stroke: var(--accent) } svg .front-line { stroke: var(--text); stroke-dasharray: 4 4; opacity: .55 }
svg .mark { fill: var(--text); font-weight: 600 } svg .inside { fill: #fff; font-weight: 600; paint-order: stroke;
  stroke: rgba(0, 0, 0, .55); stroke-width: 2px }
.legend { display: flex; flex-wrap: wrap; gap: .15rem .9rem; list-style: none; padding: 0; margin: .5rem 0; font-size: .85rem }
.legend i { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .35em }
details { margin: .5rem 0 } summary { cursor: pointer; color: var(--accent) } summary:focus-visible { outline: 2px solid }
.sample { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .8rem } .sample summary { color: inherit }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: .8rem }
pre { white-space: pre-wrap; background: var(--panel); border-radius: .4rem; padding: .55rem .7rem; margin: .3rem 0;
  font: .82rem/1.45 ui-monospace, SFMono-Regular, Menlo, monospace; max-height: 22rem; overflow: auto }
.right { color: var(--good); font-weight: 600 } .wrong { color: var(--bad); font-weight: 600 }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; font-size: .9rem } dt { color: var(--soft) }
dd { margin: 0 }
@media (max-width: 40rem) { body { padding: 1rem .8rem 3rem } h1 { font-size: 1.4rem }
  .row { grid-template-columns: 1fr auto; margin-top: .35rem } .row svg { grid-column: 1 / -1; grid-row: 2 }
  .row.axis { margin: 0 } tbody th { min-width: 9.5rem; max-width: 11rem; white-space: normal } dl { grid-template-columns: 1fr } dt { margin-top: .4rem } }
@media print { body { max-width: none } details > * { display: block } }
`)
