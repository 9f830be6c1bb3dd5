/** Single-key shortcuts. They are ignored while text is being edited, and can be disabled. */
import { signal } from "@preact/signals"

const name = "divisi-shortcuts"

/** Whether single-letter shortcuts are enabled. */
export const areOn = signal(globalThis.localStorage?.getItem(name) !== "off")

export const setOn = (on: boolean): void => {
  areOn.value = on
  localStorage.setItem(name, on ? "on" : "off")
}

/** Whether G was just pressed, so that the next letter opens a page. */
export const isGoing = signal(false)

/** Whether the user can enter text in an element. */
export const isEditing = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement &&
  target.closest("input:not([type=range]), textarea, select, [contenteditable]") !== null

const isInDialog = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest("dialog") !== null

const isControl = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest("button, a, summary, [role=button], input[type=range]") !== null

/**
 * Listens for key presses outside of dialogs, or for those after G. Returns a function that removes the listener.
 */
export const keys = (actions: Readonly<Record<string, () => void>>, isAfterG = false): (() => void) => {
  const hear = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key]
    if (action === undefined || isInDialog(event.target)) return
    if (event.key === "Escape" ? false : isEditing(event.target)) return
    if (event.key.length === 1 && event.key !== " " && !areOn.peek()) return
    if (event.key.length === 1 && isGoing.peek() !== isAfterG) return
    const isOwn = event.key === " " || event.key === "Enter" || event.key.startsWith("Arrow")
    if (isOwn && isControl(event.target)) return
    event.preventDefault()
    action()
  }
  addEventListener("keydown", hear)
  return () => removeEventListener("keydown", hear)
}
