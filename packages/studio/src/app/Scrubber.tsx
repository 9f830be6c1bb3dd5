/** @jsxImportSource preact */
/** A slider over the timeline of a run, with a tick for each event and a replay button. */
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import * as Format from "../run/Format.ts"
import { Icon } from "./Icons.tsx"
import { keys } from "./Keys.ts"

interface Props {
  /** In milliseconds since 1970, like the other times here. */
  readonly moments: ReadonlyArray<number>
  readonly start: number
  readonly end: number
  readonly time: number
  /** Called with milliseconds since the start, or `undefined` for the end. */
  readonly onTime: (millis: number | undefined) => void
  /** Moves to the next or previous event. */
  readonly onEvent: (by: 1 | -1) => void
  readonly isLive: boolean
}

/** Maximum duration of a replay, in milliseconds. Longer runs are replayed faster. */
const maxReplay = 12_000

/** Keys that move to another event. */
const eventKeys: Readonly<Record<string, 1 | -1>> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }

export const Scrubber = ({ end, isLive, moments, onEvent, onTime, start, time }: Props) => {
  const isPlaying = useSignal(false)
  const millis = Math.max(1, end - start)
  useEffect(() => {
    if (!isPlaying.value) return
    const from = time >= end ? 0 : time - start
    const began = performance.now()
    const speed = Math.max(1, millis / maxReplay)
    let frame = requestAnimationFrame(function step(now) {
      const at = from + (now - began) * speed
      if (at >= millis) {
        isPlaying.value = false
        return onTime(undefined)
      }
      onTime(at)
      frame = requestAnimationFrame(step)
    })
    return () => cancelAnimationFrame(frame)
  }, [isPlaying.value])
  useEffect(() => keys({ " ": () => (isPlaying.value = !isPlaying.value) }), [])
  return (
    <div class="scrubber">
      <button
        type="button"
        class="button quiet square"
        aria-label={isPlaying.value ? "Pause the replay" : "Replay the run"}
        onClick={() => (isPlaying.value = !isPlaying.value)}
      >
        <Icon name={isPlaying.value ? "pause" : "play"} size={14} />
      </button>
      <div class="track">
        <svg viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true">
          {moments.slice(0, 400).map((at) => (
            <path key={at} d={`M${((at - start) / millis) * 1000} 0v8`} />
          ))}
        </svg>
        <input
          type="range"
          min="0"
          max={millis}
          step="1"
          value={time - start}
          aria-label="Time in the run"
          aria-valuetext={`${Format.duration(time - start)} of ${Format.duration(millis)}`}
          onInput={(event) => {
            isPlaying.value = false
            onTime(Number(event.currentTarget.value))
          }}
          onKeyDown={(event) => {
            const by = eventKeys[event.key]
            if (by === undefined) return
            event.preventDefault()
            isPlaying.value = false
            onEvent(by)
          }}
        />
      </div>
      <span class="num">
        {Format.duration(time - start)} <span class="dim">of {isLive ? "now" : Format.duration(millis)}</span>
      </span>
      <span class="hints wide-only" aria-hidden="true">
        <kbd>←</kbd> <kbd>→</kbd> event
      </span>
    </div>
  )
}
