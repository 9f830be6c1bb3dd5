/** @jsxImportSource preact */
/** Sends a request on click, and displays its progress and the server's error message. */
import { type Signal, useSignal } from "@preact/signals"
import * as Format from "../run/Format.ts"
import { announce } from "./Announcer.tsx"

/** A request that can be sent. */
export interface Sending {
  readonly isBusy: Signal<boolean>
  readonly error: Signal<string>
  /** Sends the request, unless it is already in progress. */
  readonly send: (request: () => Promise<void>) => void
}

export const useSending = (): Sending => {
  const isBusy = useSignal(false)
  const error = useSignal("")
  const send = (request: () => Promise<void>) => {
    if (isBusy.peek()) return
    isBusy.value = true
    error.value = ""
    request()
      .catch((cause: Error) => {
        error.value = cause.message
        announce(cause.message)
      })
      .finally(() => {
        isBusy.value = false
      })
  }
  return { isBusy, error, send }
}

/** Whether the plan in a form is invalid. If so, the editor receives the focus. */
export const isRefused = (form: HTMLFormElement): boolean => {
  const area = form.querySelector<HTMLTextAreaElement>("textarea[aria-invalid=true]")
  area?.focus()
  return area !== null
}

/** Displays the error of a request. */
export const SendingError = ({ error }: Pick<Sending, "error">) =>
  error.value === "" ? null : (
    <p class="notice bad" role="alert">
      {Format.visible(error.value)}
    </p>
  )
