/** @jsxImportSource preact */
/** Shows the price of what a form would run. */
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import * as Format from "../run/Format.ts"
import { isRefusal } from "./Source.ts"
import { type PlanPrice, priceOf } from "./Steering.ts"

/** Delay after an edit before the price is requested, and before a failed request is repeated, in milliseconds. */
const askMillis = 300
const retryMillis = 2_000

interface Props {
  readonly run: string
  /** Returns the plan or fork that the form would run. */
  readonly of: (form: FormData) => Parameters<typeof priceOf>[1]
  /** Describes what the price includes. */
  readonly note?: string
}

/**
 * Shows the price shortly after each edit of the form that contains it, or the reason why there is none. If the server
 * cannot be reached, the request is repeated. An invalid plan has no price, because its editor shows the problem.
 */
export const FormPrice = ({ note, of, run }: Props) => {
  const holder = useRef<HTMLDivElement>(null)
  const found = useSignal<PlanPrice | string | undefined>(undefined)
  useEffect(() => {
    const form = holder.current!.closest("form")!
    let asked = 0
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = async (number: number) => {
      const isInvalid = form.querySelector("textarea[aria-invalid=true]") !== null
      const price = isInvalid ? undefined : await priceOf(run, of(new FormData(form))).catch((error: Error) => error)
      if (number !== asked) return
      found.value = price instanceof Error ? price.message : price
      if (price instanceof Error && !isRefusal(price)) after(retryMillis)
    }
    const after = (millis: number) => {
      asked += 1
      clearTimeout(timer)
      timer = setTimeout(ask, millis, asked)
    }
    const edited = () => after(askMillis)
    edited()
    form.addEventListener("input", edited)
    return () => {
      asked = -1
      clearTimeout(timer)
      form.removeEventListener("input", edited)
    }
  }, [run])
  return (
    <div ref={holder} role="status">
      <Found price={found.value} note={note} />
    </div>
  )
}

const Found = ({
  note,
  price
}: {
  readonly price: PlanPrice | string | undefined
  readonly note: string | undefined
}) => {
  if (price === undefined) return null
  if (typeof price === "string") return <p class="dim">No price: {Format.visible(price)}</p>
  const text = (name: "least" | "likely" | "most") => Format.money(price[name].cost_usd ?? undefined)
  const [least, most] = [price.least.calls, price.most.calls]
  const range = least >= most ? Format.whole(most) : `${Format.whole(least)} to ${Format.whole(most)}`
  return (
    <p>
      Price: at least {text("least")}, likely <b>{text("likely")}</b>, at most <b>{text("most")}</b>
      <span class="dim">
        {" "}
        · {range} {range === "1" ? "call" : "calls"}. {note}
      </span>
    </p>
  )
}
