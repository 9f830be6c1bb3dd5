/** @jsxImportSource preact */
/** Lists the evaluations or training runs in a folder. */
import type { ComponentChildren } from "preact"
import * as Format from "../run/Format.ts"
import { useData } from "./Data.ts"
import { type Column, Failed, Head, Skeleton } from "./Parts.tsx"

interface Props<Line> {
  readonly title: string
  /** Name of the table. */
  readonly label: string
  readonly path: string
  /** Reload interval, in milliseconds. Default: never. */
  readonly everyMillis?: number
  readonly columns: ReadonlyArray<Column>
  readonly row: (line: Line, now: number) => ComponentChildren
  /** Content to show if the table is empty. */
  readonly empty: ComponentChildren
}

/** Renders the list. */
export const FolderList = <Line,>({ columns, empty, everyMillis, label, path, row, title }: Props<Line>) => {
  const { error, retry, value } = useData<{ readonly data: ReadonlyArray<Line> }>(path, everyMillis)
  const lines = value?.data
  return (
    <div class="page-list">
      <header class="bar">
        <h1>{title}</h1>
        {lines !== undefined && <span class="dim">{Format.whole(lines.length)} in all</span>}
      </header>
      {lines === undefined ? (
        error === undefined ? (
          <Skeleton rows={6} />
        ) : (
          <Failed isPart error={error} retry={retry} />
        )
      ) : lines.length === 0 ? (
        empty
      ) : (
        <div class="list-holder" role="group" aria-label={`${label}, scrollable`} tabIndex={0}>
          <table class="table">
            <caption class="unseen">{label}</caption>
            <Head columns={columns} />
            <tbody>{lines.map((line) => row(line, Date.now()))}</tbody>
          </table>
        </div>
      )}
    </div>
  )
}
