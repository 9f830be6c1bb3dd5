/** @jsxImportSource preact */
/** Components for evaluation and training pages: cards, tables of figures, and bars of shares. */
import type { ComponentChildren } from "preact"
import * as Format from "../run/Format.ts"
import { Head } from "./Parts.tsx"

/** Formats a value that may be unknown. */
export const known = (value: number | null | undefined, show: (value: number) => string): string =>
  value === null || value === undefined || !Number.isFinite(value) ? "unknown" : show(value)

/** A section of a page with a heading. Wide content scrolls within it. */
export const Card = ({
  children,
  note,
  title
}: {
  readonly title: string
  readonly note?: string
  readonly children: ComponentChildren
}) => (
  <section class="card" aria-label={title}>
    <header>
      <h2>{title}</h2>
      {note !== undefined && <span class="dim">{note}</span>}
    </header>
    <div class="body" role="group" aria-label={`${title}, scrollable`} tabIndex={0}>
      {children}
    </div>
  </section>
)

/**
 * A column of figures: its heading, a function that renders its cell for an item, and a CSS class for both. Figures are
 * right-aligned by default.
 */
export type Figure<A> = readonly [head: string, cell: (item: A) => ComponentChildren, kind?: string]

/** A table with one row per item. The first column names the row. */
export const Figures = <A,>({
  caption,
  columns: [first, ...others],
  items
}: {
  readonly caption: string
  readonly columns: readonly [Figure<A>, ...ReadonlyArray<Figure<A>>]
  readonly items: ReadonlyArray<A>
}) => (
  <table class="table">
    <caption class="unseen">{caption}</caption>
    <Head columns={[first[0], ...others.map(([head, , kind = "right"]) => [head, kind] as const)]} />
    <tbody>
      {items.map((item, index) => (
        <tr key={index}>
          <th scope="row">{first[1](item)}</th>
          {others.map(([head, cell, kind = "right"]) => (
            <td key={head} class={kind}>
              {cell(item)}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
)

/** A share of a whole. */
export interface Share {
  readonly name: string
  /** From 0 to 1. */
  readonly share: number
}

/** Returns the CSS classes for a color by position. The seventh to twelfth have lighter shades of the first six. */
export const colourOf = (index: number): string => `s${(index % 6) + 1}${index % 12 > 5 ? " light" : ""}`

const at = (share: number): string => `${(100 * share).toFixed(2)}%`

const spoken = (shares: ReadonlyArray<Share>): string =>
  shares.map(({ name, share }) => `${Format.oneLine(name, 60)} ${Format.share(share)}`).join(", ")

/** A bar of adjacent shares. The color of each depends on the position of its name in `names`. */
const Bar = ({ names, shares }: { readonly shares: ReadonlyArray<Share>; readonly names: ReadonlyArray<string> }) => {
  let end = 0
  return (
    <>
      <svg class="strip-svg" width="100%" height="20" aria-hidden="true">
        {names.map((name, index) => {
          const share = shares.find((one) => one.name === name)?.share ?? 0
          const from = end
          end += share
          return share === 0 ? null : (
            <g key={name}>
              <title>{spoken([{ name, share }])}</title>
              <rect class={`share ${colourOf(index)}`} x={at(from)} width={at(share)} y="2" height="16" />
              {share > 0.06 * String(index + 1).length && (
                <text x={at(from + share / 2)} y="14" text-anchor="middle">
                  {index + 1}
                </text>
              )}
            </g>
          )
        })}
      </svg>
      <span class="unseen">{spoken(shares)}</span>
    </>
  )
}

/** A row with a bar and a figure next to it. */
export interface BarRow {
  readonly name: string
  readonly shares: ReadonlyArray<Share>
  readonly value?: string
}

/** Bars with a legend, and a table of their figures. `names` are in drawing order. */
export const Bars = ({
  caption,
  names,
  rows
}: {
  readonly caption: string
  readonly names: ReadonlyArray<string>
  readonly rows: ReadonlyArray<BarRow>
}) => (
  <>
    <ol class="legend wraps" aria-hidden="true">
      {names.map((name, index) => (
        <li key={name}>
          <i class={`swatch share ${colourOf(index)}`} /> <b>{index + 1}</b> {Format.oneLine(name, 40)}
        </li>
      ))}
    </ol>
    <table class="table forest shares">
      <caption class="unseen">{caption}</caption>
      <tbody>
        {rows.map(({ name, shares, value }) => (
          <tr key={name}>
            <th scope="row">{Format.oneLine(name, 40)}</th>
            <td class="strip">
              <Bar names={names} shares={shares} />
            </td>
            {value !== undefined && <td class="right">{value}</td>}
          </tr>
        ))}
      </tbody>
    </table>
    <details>
      <summary>As table</summary>
      <Figures
        caption={`${caption}, in percent`}
        items={rows}
        columns={[
          ["", ({ name }) => Format.oneLine(name, 60)],
          ...names.map(
            (name): Figure<BarRow> => [
              Format.oneLine(name, 40),
              ({ shares }) => Format.share(shares.find((one) => one.name === name)?.share ?? 0)
            ]
          )
        ]}
      />
    </details>
  </>
)

/** Returns the names of all shares, most frequent first. */
export const namesOf = (rows: ReadonlyArray<Pick<BarRow, "shares">>): ReadonlyArray<string> => {
  const totals = new Map<string, number>()
  for (const { name, share } of rows.flatMap(({ shares }) => shares)) totals.set(name, (totals.get(name) ?? 0) + share)
  return [...totals].sort(([, one], [, other]) => other - one).map(([name]) => name)
}
