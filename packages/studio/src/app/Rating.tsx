/** @jsxImportSource preact */
/** Buttons for rating a run's answer as good or bad. */

import { useSignal } from "@preact/signals"
import * as Format from "../run/Format.ts"
import { Action } from "./Parts.tsx"
import { post } from "./Source.ts"

export const Rating = ({ run }: { readonly run: string }) => {
  const state = useSignal<
    { readonly is: "none" | "sending" | "up" | "down" } | { readonly is: "failed"; readonly why: string }
  >({ is: "none" })
  const rate = (rating: "up" | "down") => {
    state.value = { is: "sending" }
    post(`v1/runs/${Format.segment(run)}/rating`, { rating }).then(
      () => {
        state.value = { is: rating }
      },
      (error: Error) => {
        state.value = { is: "failed", why: error.message }
      }
    )
  }
  const { value } = state
  return (
    <p class="rating">
      <span class="dim">Is this answer right?</span>
      <Action
        icon="up"
        kind={value.is === "up" ? "small on" : "small"}
        onClick={() => rate("up")}
        disabled={value.is === "sending"}
      >
        Yes
      </Action>
      <Action
        icon="down"
        kind={value.is === "down" ? "small on" : "small"}
        onClick={() => rate("down")}
        disabled={value.is === "sending"}
      >
        No
      </Action>
      {(value.is === "up" || value.is === "down") && (
        <span class="dim" role="status">
          Rating stored
        </span>
      )}
      {value.is === "failed" && (
        <span class="tone-failed" role="alert">
          {value.why}
        </span>
      )}
    </p>
  )
}
