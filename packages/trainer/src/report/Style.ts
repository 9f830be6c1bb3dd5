/** How a report looks, by day and by night. Colours are numbered: `c0` draws with the first, `b0` fills with it. */
import { Html } from "./Html.ts"

/**
 * The colours of things with a name; grey is for all the rest. Beside every picture stand names and numbers, for those
 * who cannot tell so many colours apart.
 */
const day = "#2a6fdb #e07a1f #0f9d76 #8a4fc7 #d6a700 #d14a61 #3aa6c9 #7a8b2a #9c5b34 #e58bc0 #1d3f8f #7fc46b".split(" ")
const night = "#5b9bff #f0954a #2fbf93 #b48af0 #e3bf3f #f07a8c #63c5e3 #a9bb55 #c98a62 #f4b3d8 #8aa4f0 #9fe08a".split(
  " "
)

/** How many colours there are for things with a name. */
export const colours = day.length

/** The colour of what is counted together. */
export const rest = day.length

const variables = (palette: ReadonlyArray<string>, grey: string): string =>
  [...palette, grey].map((colour, index) => `--k${index}:${colour}`).join(";")

const classes = [...day, ""]
  .map((_, index) => `.c${index}{stroke:var(--k${index});fill:var(--k${index})}.b${index}{background:var(--k${index})}`)
  .join("\n")

const light =
  "--page:#fff;--card:#f7f8fa;--line:#dfe3e8;--text:#1c2128;--soft:#59636e;--good:#1a7f37;--bad:#b3261e;--half:#8a6100"
const dark =
  "--page:#0e1116;--card:#171b22;--line:#2c333d;--text:#e6eaf0;--soft:#9aa5b1;--good:#4cc26b;--bad:#ff7b72;--half:#e0b040"

/** The style sheet. */
export const style: Html = new Html(`
:root{color-scheme:light dark;${light};${variables(day, "#9aa3ad")}}
@media (prefers-color-scheme:dark){:root{${dark};${variables(night, "#6b7682")}}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1180px;padding:24px 20px 64px;background:var(--page);color:var(--text);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 4px}
h2{font-size:1.2rem;margin:44px 0 4px}
h3{font-size:1rem;margin:0}
p{margin:4px 0 12px;max-width:75ch}
.note{color:var(--soft);font-size:.87rem;margin:2px 0 8px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:20px 0;padding:0}
.tile,figure,.sample{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px}
.tile dt{color:var(--soft);font-size:.85rem}
.tile dd{margin:2px 0 0}
.tile b{font-size:1.45rem;font-weight:650;display:block;line-height:1.25}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,430px),1fr));gap:16px;margin-top:14px}
figure{margin:0;min-width:0}
svg{display:block;width:100%;height:auto}
.grid{stroke:var(--line);stroke-width:1}
.tick{fill:var(--soft);font-size:11.5px}
.line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.raw{fill:none;stroke-width:1;opacity:.3}
.dot{stroke:none}
.phase{stroke:var(--soft);stroke-width:1;stroke-dasharray:3 4}
.area{stroke:var(--card);stroke-width:1}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:2px 16px;margin:0 0 8px;padding:0;font-size:.85rem}
.swatch{display:inline-block;width:11px;height:11px;border-radius:3px;margin-right:6px;vertical-align:-1px}
details{margin-top:8px;font-size:.85rem}
summary{cursor:pointer;color:var(--soft)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;margin-top:6px;font-variant-numeric:tabular-nums;overflow-wrap:normal}
caption{text-align:left;color:var(--soft);position:sticky;left:0}
th,td{padding:3px 14px 3px 0;text-align:right;border-bottom:1px solid var(--line);font-weight:400;white-space:nowrap}
thead th{color:var(--soft)}
th:first-child{text-align:left}
.shares{display:grid;grid-template-columns:auto 1fr;gap:4px 10px;align-items:center;margin:6px 0 12px;font-size:.85rem}
.bar{display:flex;height:22px;gap:1px;min-width:0}
.bar span{display:block;min-width:0;border-radius:2px}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,430px),1fr));gap:12px;margin:8px 0 20px}
.sample{min-width:0}
.sample h4{margin:0 0 6px;font-size:.87rem;color:var(--soft);font-weight:500}
.sample ol{margin:8px 0;padding-left:1.6em}
.sample li{margin-bottom:4px}
.question{white-space:pre-wrap;margin:0 0 8px}
.reward{font-weight:650}
.right{color:var(--good)}.wrong{color:var(--half)}.unread{color:var(--bad)}
.sees{color:var(--soft);font-size:.85rem}
pre{white-space:pre-wrap;margin:6px 0 0;padding:10px;border:1px solid var(--line);border-radius:8px;
font:12.5px/1.45 ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;max-height:420px;overflow:auto}
.graph{width:auto;max-width:100%;height:auto;margin:8px 0}
.graph path{fill:none;stroke:var(--soft);stroke-width:1.5}
.graph text{font-size:11.5px;fill:var(--text)}
.graph rect{fill:var(--page);stroke:var(--soft)}
.graph .last{stroke:var(--good);stroke-width:2}
${classes}
:focus-visible{outline:2px solid var(--k0);outline-offset:2px}
@media (max-width:520px){body{padding:16px 12px 40px}.tile,figure,.sample{padding:12px}.tick{font-size:14px}
.tiles{grid-template-columns:repeat(2,1fr)}}
@media print{figure,.sample,.tile{break-inside:avoid}}
`)
