/**
 * Styles for pages and pictures, with a light and a dark theme. Colors for named items are numbered: the class `c0`
 * draws with the first color, and `b0` uses it as the background.
 */

/** Adjacent colors also differ in lightness for color-blind readers. Names or numbers are always shown next to them. */
const day = "#2a6fdb #e07a1f #0f9d76 #8a4fc7 #d6a700 #d14a61 #3aa6c9 #7a8b2a #9c5b34 #e58bc0 #1d3f8f #7fc46b".split(" ")
const night = "#5b9bff #f0954a #2fbf93 #b48af0 #e3bf3f #f07a8c #63c5e3 #a9bb55 #c98a62 #f4b3d8 #8aa4f0 #9fe08a".split(
  " "
)

/** Number of colors available for named items. */
export const colours = day.length

/** Color index for items that are counted together. */
export const rest = day.length

/** Returns the color index for an item by its position. Items beyond the available colors share one. */
export const colourOf = (place: number): number => (place < colours ? place : rest)

const variables = (palette: ReadonlyArray<string>): string =>
  palette.map((colour, index) => `--k${index}:${colour}`).join(";")

const light = `--page:#fff;--card:#f7f8fa;--line:#dfe3e8;--text:#1c2128;--soft:#59636e;--good:#1a7f37;--bad:#b3261e;--half:#8a6100;${variables([...day, "#9aa3ad"])}`
const dark = `--page:#0e1116;--card:#171b22;--line:#2c333d;--text:#e6eaf0;--soft:#9aa5b1;--good:#4cc26b;--bad:#ff7b72;--half:#e0b040;${variables([...night, "#6b7682"])}`

const classes = [...day, ""]
  .map((_, index) => `.c${index}{stroke:var(--k${index});fill:var(--k${index})}.b${index}{background:var(--k${index})}`)
  .join("\n")

/** The colors and drawing styles for standalone pictures. */
export const pictureStyle = `
:root{color-scheme:light dark;${light}}
@media (prefers-color-scheme:dark){:root{${dark}}}
${classes}
svg text{font:11px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:var(--soft);stroke:none}
.grid,.phase{stroke:var(--line);stroke-width:1}
.phase{stroke:var(--soft);stroke-dasharray:3 4}
.line,.raw{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round;vector-effect:non-scaling-stroke}
.raw{stroke-width:1;opacity:.3}
.area{stroke:var(--card);stroke-width:1;vector-effect:non-scaling-stroke}
.edge{fill:none;stroke:var(--soft);stroke-width:1.5}.tip{fill:var(--soft)}
.box{fill:var(--page);stroke:var(--soft)}.box.last{stroke:var(--good);stroke-width:2}`

/** The style sheet for all pages. */
export const style = `${pictureStyle}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1180px;padding:24px 20px 64px;background:var(--page);color:var(--text);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 4px} h2{font-size:1.25rem;margin:44px 0 6px}
h3{font-size:1rem;margin:0} section>h3{margin:24px 0 8px} h4{font-size:.9rem;margin:12px 0 4px}
p{margin:4px 0 12px;max-width:75ch} a{color:var(--k0)}
.note{color:var(--soft);font-size:.87rem;margin:2px 0 8px}
nav ul{display:flex;flex-wrap:wrap;gap:4px 18px;list-style:none;margin:12px 0 0;padding:0}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:20px 0;padding:0}
.tile,figure,.sample{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px;min-width:0}
.tile dt{color:var(--soft);font-size:.85rem} .tile dd{margin:2px 0 0}
.tile b{font-size:1.45rem;font-weight:650;display:block;line-height:1.25}
.charts,.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,430px),1fr));gap:16px;margin-top:14px}
figure{margin:0} figcaption{margin-bottom:6px}
svg{display:block;width:100%;overflow:visible}
.row{display:grid;grid-template-columns:minmax(9rem,15rem) 1fr 6.5rem;gap:0 12px;align-items:center}
.row .name{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;font-size:.88rem}
.row .value{text-align:right;font-size:.85rem;font-variant-numeric:tabular-nums;color:var(--soft)}
.row.reference .name{font-weight:700}
.charts .row{grid-template-columns:2.6rem 1fr;margin:2px 0} .charts .row svg{grid-area:1/2}
.whisker{stroke:var(--soft);stroke-width:2} .whisker.reference{stroke:var(--k0)}
.dot{fill:var(--soft)} .dot.reference{fill:var(--k0)} .dot.front{stroke:var(--text);stroke-width:1.5}
.front-line{stroke:var(--text);stroke-dasharray:4 4;opacity:.55}
svg .mark{fill:var(--text);font-weight:600}
svg .inside{fill:#fff;font-weight:600;paint-order:stroke;stroke:rgba(0,0,0,.55);stroke-width:2px}
.part{stroke:var(--card)}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:2px 16px;margin:4px 0 8px;padding:0;font-size:.85rem}
.legend i{display:inline-block;width:11px;height:11px;border-radius:3px;margin-right:6px;vertical-align:-1px}
details{margin-top:8px;font-size:.85rem} summary{cursor:pointer;color:var(--soft)}
.sample>summary{color:inherit;font-size:.95rem}
.scroll{overflow-x:auto;max-width:100%}
table{border-collapse:separate;border-spacing:0;margin-top:6px;font-size:.87rem;font-variant-numeric:tabular-nums;overflow-wrap:normal}
section>.scroll table{width:100%}
th,td{padding:4px 14px 4px 0;text-align:right;border-bottom:1px solid var(--line);font-weight:400;white-space:nowrap}
thead th{color:var(--soft);font-weight:600} th:first-child,td:first-child{text-align:left}
th:first-child{position:sticky;left:0;background:var(--page);max-width:18rem;overflow:hidden;text-overflow:ellipsis}
figure th:first-child,.sample th:first-child{background:var(--card)}
td.best{font-weight:700} section>.scroll tr.reference :is(th,td){background:var(--card)}
section>dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;font-size:.9rem}
section>dl dt{color:var(--soft)} section>dl dd{margin:0}
.sample{margin:8px 0} .sample h4:first-child{margin:0 0 6px;color:var(--soft);font-weight:500}
.pair .sample{margin:0} .sample ol{margin:8px 0;padding-left:1.6em} .sample li{margin-bottom:4px}
.question{white-space:pre-wrap;margin:0 0 8px}
.verdict{font-weight:650} .right{color:var(--good)} .wrong{color:var(--half)} .unread{color:var(--bad)}
.soft{color:var(--soft);font-size:.87rem}
pre{white-space:pre-wrap;margin:6px 0 0;padding:10px;border:1px solid var(--line);border-radius:8px;
font:12.5px/1.45 ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;max-height:420px;overflow:auto}
.graph{width:auto;max-width:100%;height:auto;margin:8px 0} .graph text{fill:var(--text)}
:focus-visible{outline:2px solid var(--k0);outline-offset:2px}
@media (max-width:640px){body{padding:16px 12px 40px} h1{font-size:1.4rem} .tile,figure,.sample{padding:12px}
.tiles{grid-template-columns:repeat(2,1fr)} .tile b{font-size:1.2rem}
.row{grid-template-columns:1fr auto;margin-top:6px} .row svg{grid-column:1/-1;grid-row:2} .row.axis{margin:0}
thead{display:none} table,tbody{display:block}
tr{display:flex;flex-wrap:wrap;gap:0 14px;padding:5px 0;border-bottom:1px solid var(--line)}
th:first-child{position:static;flex:1 0 100%;max-width:none;white-space:normal;font-weight:600}
:is(th,td){border:0;padding:0;white-space:normal} tr.reference{background:var(--card)}
td::before{content:attr(data-head) " ";color:var(--soft);font-weight:400}
section>dl{grid-template-columns:1fr} section>dl dt{margin-top:6px}}
@media print{body{max-width:none} figure,.sample,.tile{break-inside:avoid}}
`
