/** @jsxImportSource preact */
/** Components shared by several pages: numbers, model output, empty states. */
import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useErrorBoundary } from "preact/hooks"
import * as Format from "../run/Format.ts"
import { Icon } from "./Icons.tsx"
import { href, place } from "./Router.ts"
import { isMounted, SourceError } from "./Source.ts"

/** Displays an amount of money. `isPartial` marks a sum that excludes calls with an unknown price. */
export const Money = ({
  isPartial = false,
  isPlay = false,
  usd
}: {
  readonly usd: number | undefined
  readonly isPlay?: boolean
  readonly isPartial?: boolean
}) => {
  const isKnown = usd !== undefined && !(isPartial && usd === 0)
  return (
    <span class="money">
      {isKnown && isPartial && "≥ "}
      {Format.money(isKnown ? usd : undefined, isPlay)}
    </span>
  )
}

/** Number of characters of long text to show initially, and to add with each click. */
const pieceLength = 20_000

/**
 * Displays model output as plain text. Characters that change the reading order are made visible, and long text is
 * truncated.
 */
export const Text = ({ text, kind = "text" }: { readonly text: string; readonly kind?: string }) => {
  const shown = useSignal(pieceLength)
  if (text === "") return <p class={`${kind} dim`}>(empty)</p>
  const isCut = text.length > shown.value
  return (
    <div class={kind}>
      <bdi>{Format.visible(isCut ? text.slice(0, shown.value) : text)}</bdi>
      {isCut && (
        <p class="more">
          <span class="dim">
            {Format.whole(shown.value)} of {Format.whole(text.length)} characters.{" "}
          </span>
          <button type="button" class="button" onClick={() => (shown.value += pieceLength)}>
            Show more
          </button>
        </p>
      )}
    </div>
  )
}

/** A column: a name, or a name and CSS classes. */
export type Column = string | readonly [name: ComponentChildren, kind?: string]

/** Renders the header of a table. */
export const Head = ({ columns }: { readonly columns: ReadonlyArray<Column> }) => (
  <thead>
    <tr>
      {columns.map((column, index) => {
        const [name, kind] = typeof column === "string" ? [column] : column
        return (
          <th key={index} scope="col" class={kind}>
            {name}
          </th>
        )
      })}
    </tr>
  </thead>
)

/**
 * Renders the legend for bars: calls on the critical path, other calls, and failed calls if they are shown separately.
 */
export const BarLegend = ({ hasFailed = false }: { readonly hasFailed?: boolean }) => (
  <span class="legend" aria-hidden="true">
    <span>
      <i class="swatch critical" />
      critical path
    </span>
    <span>
      <i class="swatch" />
      other
    </span>
    {hasFailed && (
      <span>
        <i class="swatch failed" />
        failed call
      </span>
    )}
  </span>
)

/** Renders an empty page or pane with the reason and a suggestion. */
export const Empty = ({
  children,
  icon,
  isPage = false,
  title
}: {
  readonly title: string
  /** Whether the page contains nothing else, so that the title is its heading. */
  readonly isPage?: boolean
  readonly icon?: ComponentChildren
  readonly children?: ComponentChildren
}) => (
  <div class="empty">
    {icon}
    {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
    {children}
  </div>
)

const statusOf = (error: Error): number | undefined => (error instanceof SourceError ? error.status : undefined)

const titles: Readonly<Record<number, string>> = {
  0: "No connection",
  401: "An API key is needed",
  403: "Not permitted",
  404: "Not found",
  422: "This record cannot be read"
}

const titleOf = (error: Error): string => titles[statusOf(error) ?? Number.NaN] ?? "The data could not be loaded"

/** Renders an error for a page, or a part of one, that failed to load, with a retry button. */
export const Failed = ({
  again = "Retry",
  error,
  isPart = false,
  retry,
  title = titleOf(error)
}: {
  /** Label of the button. */
  readonly again?: string
  readonly error: Error
  /** Whether the page has another heading. */
  readonly isPart?: boolean
  readonly retry?: () => void
  readonly title?: string
}) => (
  <div class="empty" role="alert">
    {isPart ? <h2>{title}</h2> : <h1>{title}</h1>}
    <p>{Format.visible(error.message)}</p>
    {isMounted() && (statusOf(error) === 401 || statusOf(error) === 403) && (
      <p>Set such a key with "API key" in the navigation.</p>
    )}
    {statusOf(error) === 404 && (
      <a class="button" href={href([place.value.path[0] ?? "runs"])}>
        Go to the list
      </a>
    )}
    {statusOf(error) !== 404 && retry !== undefined && (
      <button type="button" class="button" onClick={retry}>
        {again}
      </button>
    )}
  </div>
)

/** An error boundary: if rendering its content fails, the error is shown instead. */
export const Guarded = ({ children }: { readonly children: ComponentChildren }) => {
  const [error, retry] = useErrorBoundary((error: unknown) => console.error(error))
  if (error === undefined) return <>{children}</>
  return <Failed error={error as Error} retry={retry} title="This page could not be displayed" />
}

/** Renders a placeholder for a list, after a delay of 150 ms. */
export const Skeleton = ({ rows = 8 }: { readonly rows?: number }) => (
  <div class="skeletons" role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, index) => (
      <div key={index} class={`skeleton s-${index % 4}`} />
    ))}
  </div>
)

/** Displays a number with its name and a note. */
export const Stat = ({
  children,
  name,
  note,
  tone
}: {
  readonly name: string
  readonly children: ComponentChildren
  readonly note?: ComponentChildren
  readonly tone?: string
}) => (
  <div class="stat">
    <dt>{name}</dt>
    <dd class="value">{children}</dd>
    {note !== undefined && <dd class={`note ${tone === undefined ? "" : `tone-${tone}`}`}>{note}</dd>}
  </div>
)

/** A button with an icon. */
export const Action = ({
  children,
  icon,
  keyName,
  kind = "",
  pressed,
  ...rest
}: {
  readonly children: ComponentChildren
  readonly icon?: string
  readonly keyName?: string
  readonly kind?: string
  /** Whether the button is selected, if it is part of a group. */
  readonly pressed?: boolean
  readonly onClick?: () => void
  readonly disabled?: boolean
  readonly type?: "button" | "submit"
}) => (
  <button type="button" class={`button ${kind}`} aria-pressed={pressed} {...rest}>
    {icon !== undefined && <Icon name={icon} />}
    {children}
    {keyName !== undefined && <kbd aria-hidden="true">{keyName}</kbd>}
  </button>
)
