/** @jsxImportSource preact */
/** Announces finished runs and errors to screen readers. */
import { signal } from "@preact/signals"

const message = signal("")

export const announce = (text: string): void => {
  message.value = text
}

export const Announcer = () => (
  <p class="unseen" aria-live="polite">
    {message}
  </p>
)
