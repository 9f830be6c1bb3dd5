/**
 * Styles for pictures, with a light and a dark theme. Colors for named items are numbered: the class `c0` draws with the
 * first color, and `b0` uses it as the background.
 */

/** Adjacent colors also differ in lightness for color-blind readers. Names or numbers are always shown next to them. */
const day = "#2a6fdb #e07a1f #0f9d76 #8a4fc7 #d6a700 #d14a61 #3aa6c9 #7a8b2a #9c5b34 #e58bc0 #1d3f8f #7fc46b".split(" ")
const night = "#5b9bff #f0954a #2fbf93 #b48af0 #e3bf3f #f07a8c #63c5e3 #a9bb55 #c98a62 #f4b3d8 #8aa4f0 #9fe08a".split(
  " "
)

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
