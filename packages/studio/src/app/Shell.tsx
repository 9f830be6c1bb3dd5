/** @jsxImportSource preact */
/** The frame around all pages: navigation, theme, API key and shortcuts. */
import { signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { Announcer, announce } from "./Announcer.tsx"
import { Icon } from "./Icons.tsx"
import { areOn, isEditing, isGoing, keys, setOn } from "./Keys.ts"
import { shownPages } from "./Pages.tsx"
import { Action, Empty, Guarded } from "./Parts.tsx"
import { go, href, place } from "./Router.ts"
import { totals, useRuns } from "./RunList.ts"
import { apiKey, isExported, isMounted, isReached, setApiKey } from "./Source.ts"

const themeName = "divisi-theme"

const theme = signal(globalThis.localStorage?.getItem(themeName) ?? "")

const applyTheme = () => {
  const root = document.documentElement
  if (theme.value === "") delete root.dataset.theme
  else root.dataset.theme = theme.value
}

const nextTheme = () => {
  const isDark = theme.peek() === "" ? matchMedia("(prefers-color-scheme: dark)").matches : theme.peek() === "dark"
  theme.value = isDark ? "light" : "dark"
  localStorage.setItem(themeName, theme.value)
  applyTheme()
}

const shortcuts: ReadonlyArray<readonly [string, string]> = [
  ["/", "Search"],
  ["J, K", "Next or previous run"],
  ["Enter", "Open the run"],
  ["X, C", "Select a run, compare two"],
  ["↑, ↓", "Previous or next step"],
  ["←, →", "Previous or next event"],
  ["Space", "Replay"],
  ["P", "The policy's part"],
  ["F", "Fork from the step"],
  ["T", "Dark or light"],
  ["?", "This list"],
  ["Esc", "Back"]
]

const Help = ({ onClose }: { readonly onClose: () => void }) => (
  <dialog
    class="help"
    aria-label="Shortcuts"
    ref={(element) => {
      if (element !== null && !element.open) element.showModal()
    }}
    onClose={onClose}
  >
    <header>
      <h2>Shortcuts</h2>
      <span class="grow" />
      <button type="button" class="button quiet square" aria-label="Close" onClick={onClose}>
        <Icon name="close" />
      </button>
    </header>
    <dl>
      {[
        ...shortcuts,
        [
          `G, then ${shownPages()
            .map(({ letter }) => letter.toUpperCase())
            .join(", ")}`,
          "Go to a page"
        ]
      ].map(([key, what]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
    <label>
      <input type="checkbox" checked={areOn.value} onChange={(event) => setOn(event.currentTarget.checked)} /> Shortcuts
      of a single letter
    </label>
  </dialog>
)

const KeyBox = () => {
  const isOpen = useSignal(false)
  if (!isOpen.value) {
    return (
      <button type="button" class="nav-item" onClick={() => (isOpen.value = true)}>
        <Icon name="key" />
        <span class="label">{apiKey.value === "" ? "API key" : "API key set"}</span>
      </button>
    )
  }
  return (
    <form
      class="key-box"
      onSubmit={(event) => {
        event.preventDefault()
        setApiKey(new FormData(event.currentTarget).get("key")?.toString().trim() ?? "")
        location.reload()
      }}
    >
      <label>
        API key
        <input name="key" type="password" autocomplete="off" value={apiKey.value} />
      </label>
      <Action kind="primary" type="submit">
        Use
      </Action>
    </form>
  )
}

/** Renders the page in the address within the frame. */
export const Shell = () => {
  const isHelpOpen = useSignal(false)
  const retry = useRuns()
  useEffect(() => {
    applyTheme()
    let timer: ReturnType<typeof setTimeout> | undefined
    const setGoing = (is: boolean) => {
      clearTimeout(timer)
      isGoing.value = is
      if (is) timer = setTimeout(() => (isGoing.value = false), 1_200)
    }
    const pageKeys = shownPages().map(({ letter, path }) => [
      letter,
      () => {
        setGoing(false)
        go(href([path]))
      }
    ])
    const stops = [
      keys(Object.fromEntries(pageKeys), true),
      keys({
        t: nextTheme,
        "?": () => (isHelpOpen.value = true),
        g: () => setGoing(true),
        Escape: () => {
          const { activeElement } = document
          if (isEditing(activeElement)) activeElement.blur()
          else if (place.peek().path.length > 1) go(href([place.peek().path[0]!]))
        }
      })
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }, [])
  const { path } = place.value
  const page = shownPages().find((one) => one.path === path[0])
  useEffect(() => {
    document.title = `${page?.name ?? "Not found"} · Divisi studio`
    announce("")
  }, [path.join("/")])
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault()
          document.getElementById("main")?.focus()
        }}
      >
        Skip to content
      </a>
      <nav class="rail" aria-label="Studio">
        <span class="brand">
          <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
            <path
              d="M2 10h5c4 0 3-6 8-6h3M7 10h11M7 10c4 0 3 6 8 6h3"
              fill="none"
              stroke="currentColor"
              stroke-width="2"
              stroke-linecap="round"
            />
          </svg>
          <b>divisi</b>
        </span>
        {shownPages().map(({ icon, name, path: own }) => (
          <a
            key={own}
            class="nav-item"
            href={href([own])}
            {...(own === path[0] && { "aria-current": "page" as const })}
          >
            <Icon name={icon} />
            <span class="label">{name}</span>
            {own === "runs" && totals.value.waiting > 0 && (
              <span class="badge">
                {totals.value.waiting}
                <span class="unseen"> {totals.value.waiting === 1 ? "needs you" : "need you"}</span>
              </span>
            )}
          </a>
        ))}
        <span class="grow" />
        {!isExported() && isMounted() && <KeyBox />}
        <button type="button" class="nav-item" onClick={nextTheme}>
          <Icon name="theme" />
          <span class="label">Theme</span>
        </button>
        <p class="where">
          <span class={`dot ${isExported() || !isReached.value ? "still" : ""}`} />
          <span class="label">
            {isExported() ? "Exported" : `${isReached.value ? "Live" : "No connection"} · ${location.host}`}
          </span>
        </p>
      </nav>
      <main id="main" tabIndex={-1}>
        {page === undefined ? (
          <Empty isPage title="There is no such page">
            <a class="button" href={href(["runs"])}>
              Go to the runs
            </a>
          </Empty>
        ) : (
          <Guarded key={path.slice(0, 2).join("/")}>{page.render(place.value, retry)}</Guarded>
        )}
      </main>
      {isHelpOpen.value && <Help onClose={() => (isHelpOpen.value = false)} />}
      <Announcer />
    </>
  )
}
