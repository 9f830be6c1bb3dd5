"use client"

/** The page of a Next app: `useChat` shows each step of the team, then the answer. */
import { useChat } from "@ai-sdk/react"
import type { TeamMessage } from "@divisi/providers-ai-sdk"

export default function Page() {
  const { messages, sendMessage, status } = useChat<TeamMessage>()
  return (
    <>
      {messages.flatMap(({ id, parts }) =>
        parts.map((part) => {
          if (part.type === "data-step") {
            return (
              <li key={`${id} ${part.id}`}>
                {part.data.worker}: {part.data.state}
              </li>
            )
          }
          return part.type === "text" ? <p key={`${id} ${part.text}`}>{part.text}</p> : null
        })
      )}
      <button type="button" disabled={status !== "ready"} onClick={() => sendMessage({ text: "Write about the sea." })}>
        Ask
      </button>
    </>
  )
}
