/** @jsxImportSource preact */
/** State indicators and control icons, as SVG. */
import type { ComponentChildren, JSX } from "preact"

/** The icon and label for a state of a run or step. */
export interface StateLook {
  readonly word: string
  readonly tone: "answered" | "failed" | "running" | "waiting" | "quiet" | "cached"
  readonly mark:
    | "tick"
    | "arc"
    | "alert"
    | "cross"
    | "half"
    | "minus"
    | "square"
    | "slash"
    | "dash"
    | "bolt"
    | "question"
}

const looks: Readonly<Record<string, StateLook>> = {
  answered: { word: "Answered", tone: "answered", mark: "tick" },
  running: { word: "Running", tone: "running", mark: "arc" },
  waiting: { word: "Needs you", tone: "waiting", mark: "alert" },
  suspended: { word: "Needs you", tone: "waiting", mark: "alert" },
  failed: { word: "Failed", tone: "failed", mark: "cross" },
  damaged: { word: "Damaged record", tone: "failed", mark: "cross" },
  budget: { word: "Budget reached", tone: "waiting", mark: "half" },
  refused: { word: "Refused", tone: "quiet", mark: "minus" },
  interrupted: { word: "Cancelled", tone: "quiet", mark: "square" },
  stopped: { word: "Stopped", tone: "waiting", mark: "square" },
  skipped: { word: "Skipped", tone: "quiet", mark: "slash" },
  pending: { word: "Pending", tone: "quiet", mark: "dash" },
  cached: { word: "Cached", tone: "cached", mark: "bolt" },
  reused: { word: "From the forked run", tone: "cached", mark: "bolt" },
  supplied: { word: "Supplied by the caller", tone: "answered", mark: "tick" },
  unconfirmed: { word: "Unconfirmed", tone: "waiting", mark: "question" }
}

/** Returns the icon and label for a state. */
export const lookOf = (state: string): StateLook =>
  Object.hasOwn(looks, state) ? looks[state]! : { word: state, tone: "quiet", mark: "dash" }

const disc = <circle cx="8" cy="8" r="6.5" fill="currentColor" />
const ring = <circle cx="8" cy="8" r="5.75" fill="none" stroke="currentColor" stroke-width="1.5" />
const line = (d: string, color = "var(--surface)"): JSX.Element => (
  <path d={d} fill="none" stroke={color} stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" />
)

const marks: Readonly<Record<StateLook["mark"], ComponentChildren>> = {
  tick: [disc, line("M5 8.2l2.1 2.1L11 6")],
  arc: [
    <circle cx="8" cy="8" r="5.75" fill="none" stroke="var(--bar-weak)" stroke-width="1.75" />,
    <path
      class="turning"
      d="M8 2.25A5.75 5.75 0 0 1 13.75 8"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
    />
  ],
  alert: [
    <path d="M8 1.6l6.7 12H1.3z" fill="currentColor" stroke="currentColor" stroke-linejoin="round" />,
    line("M8 6v3.4M8 11.7v.1")
  ],
  cross: [
    <path d="M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3z" fill="currentColor" />,
    line("M5.9 5.9l4.2 4.2M10.1 5.9l-4.2 4.2")
  ],
  half: [ring, <path d="M8 2.25a5.75 5.75 0 0 1 0 11.5z" fill="currentColor" />],
  minus: [ring, line("M5.5 8h5", "currentColor")],
  square: [ring, <rect x="5.75" y="5.75" width="4.5" height="4.5" rx=".5" fill="currentColor" />],
  slash: [
    <circle cx="8" cy="8" r="5.75" fill="none" stroke="currentColor" stroke-width="1.25" stroke-dasharray="2.2 2" />,
    line("M5.8 10.2l4.4-4.4", "currentColor")
  ],
  dash: (
    <circle cx="8" cy="8" r="5.75" fill="none" stroke="currentColor" stroke-width="1.25" stroke-dasharray="2.2 2" />
  ),
  bolt: <path d="M9 1.5L3.5 9H7l-.8 5.5L12 6.7H8.3z" fill="currentColor" />,
  question: [disc, line("M6.2 6.3a1.9 1.9 0 1 1 2.6 1.8c-.6.3-.8.6-.8 1.2M8 11.6v.1")]
}

/** The icon for a state, without its label. */
export const Mark = ({ state, size = 14 }: { readonly state: string; readonly size?: number }) => (
  <svg class={`mark tone-${lookOf(state).tone}`} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
    {marks[lookOf(state).mark]}
  </svg>
)

/** The icon for a state, with its label. */
export const State = ({ state, word }: { readonly state: string; readonly word?: string }) => (
  <span class={`state tone-${lookOf(state).tone}`}>
    <Mark state={state} />
    {word ?? lookOf(state).word}
  </span>
)

const paths: Readonly<Record<string, string>> = {
  runs: "M2.5 4h11M2.5 8h8M2.5 12h9.5",
  compare: "M5 2.5v11M2.5 5L5 2.5 7.5 5M11 13.5v-11M8.5 11l2.5 2.5 2.5-2.5",
  evaluations: "M3 13.5v-4M6.5 13.5v-8M10 13.5v-6M13.5 13.5v-11",
  training: "M2 13c4 0 3.5-9 6.5-9S11.5 8 14 7.5",
  costs:
    "M8 1.5v13M11 4.5c-.6-1-1.7-1.5-3-1.5-1.8 0-3 1-3 2.4 0 3.3 6.2 1.8 6.2 5.1 0 1.5-1.3 2.5-3.2 2.5-1.5 0-2.7-.6-3.3-1.7",
  playground: "M4.5 2.8l8 5.2-8 5.2z",
  operate: "M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.5 10.5l3 3",
  play: "M4.5 2.8l8 5.2-8 5.2z",
  pause: "M5 3v10M11 3v10",
  link: "M6.5 9.5l3-3M7 4.5l1.5-1.5a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5L7.5 13A3 3 0 0 1 3 8.5L4.5 7",
  export: "M8 9.5v-7M5 5l3-3 3 3M3 9v4.5h10V9",
  fork: "M5 13.5V9.5l6-3V2.5M5 9.5V2.5",
  up: "M5 7.5L8 2.5c1.5 0 1.5 1.5 1 4h4l-1.5 6.5H5zM2.5 7.5H5v6H2.5z",
  down: "M5 8.5L8 13.5c1.5 0 1.5-1.5 1-4h4L11.5 3H5zM2.5 8.5H5v-6H2.5z",
  theme: "M8 2a6 6 0 1 0 6 6 4.5 4.5 0 0 1-6-6z",
  close: "M4 4l8 8M12 4l-8 8",
  key: "M10 2.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM7.5 8.5l-5 5M4 12l1.5 1.5"
}

/** An icon for a control. */
export const Icon = ({ name, size = 16 }: { readonly name: string; readonly size?: number }) => (
  <svg class="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
    <path
      d={paths[name] ?? ""}
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
  </svg>
)
