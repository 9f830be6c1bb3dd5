/** Cases for images and files. */
import assert from "node:assert/strict"
import type { ContentPart, FilePart, ImagePart } from "@divisi/core/Message"
import type { Case } from "../../ProviderContract.ts"
import * as Script from "../../Script.ts"
import { assertAccepts, assertFails, assertSucceeds, type Setting, type Subject } from "../subject.ts"

const png: ImagePart = { type: "image", data: "iVBORw0KGgo=", mediaType: "image/png" }
const jpeg: ImagePart = { type: "image", data: "/9j/4AAQSkY=", mediaType: "image/jpeg" }
const linked: ImagePart = { type: "image", url: "https://example.com/cat.png?size=2&x=%20", mediaType: "image/png" }
const pdf: FilePart = { type: "file", name: "Plan 1.pdf", data: "JVBERi0xLjQK", mediaType: "application/pdf" }
const linkedPdf: FilePart = {
  type: "file",
  name: "b.pdf",
  url: "https://example.com/b.pdf",
  mediaType: "application/pdf"
}

/** Returns the fields that every vendor supports. URLs have no media type, and file names are optional. */
const told = (part: ContentPart): unknown => {
  if (part.type === "text") return part.text
  return "url" in part ? { type: part.type, url: part.url } : { type: part.type, data: part.data, of: part.mediaType }
}

type Parts = readonly [ContentPart, ...Array<ContentPart>]

const sent = async ({ ask }: Subject, content: Parts, setting?: Setting) => {
  const outcome = await ask([Script.answer("A cat.")], { messages: [{ role: "user", content }] })
  if (setting === undefined) assertSucceeds(outcome)
  else assertAccepts(outcome, setting)
  const messages = outcome.server.exchanges[0]?.sent.messages ?? []
  assert.ok(messages.every(({ role }) => role === "user"))
  const parts = messages.flatMap((message) => message.parts ?? [])
  assert.deepEqual(parts.map(told), content.map(told))
  return parts
}

/** URLs that only some vendors fetch. They are passed on, or rejected by name. */
const url = async (subject: Subject, setting: Setting, part: ContentPart, word: RegExp) => {
  const expectation = subject.options.settings?.[setting] ?? "passed"
  const content: Parts = [{ type: "text", text: "What is this?" }, part]
  if (expectation === "passed" || expectation.type !== "rejected") return void (await sent(subject, content, setting))
  const outcome = await subject.ask([Script.answer("ok")], { messages: [{ role: "user", content }] })
  assert.match(assertFails(outcome, "InvalidRequest").message, word)
  assert.equal(outcome.server.exchanges.length, 0, "A rejected request must not be sent.")
}

export const sights: ReadonlyArray<Case> = [
  {
    id: "image/data",
    name: "shows a picture that is given as its bytes",
    needs: "images",
    run: async (subject) => {
      await sent(subject, [{ type: "text", text: "What is this?" }, png])
    }
  },
  {
    id: "image/url",
    name: "shows a picture by its URL, or rejects it by name",
    needs: "images",
    run: (subject) => url(subject, "imageUrl", linked, /image|picture|url/i)
  },
  {
    id: "image/order",
    name: "shows several pictures between texts, in order",
    needs: "images",
    run: async (subject) => {
      await sent(subject, [png, { type: "text", text: "or" }, jpeg, { type: "text", text: "?" }])
    }
  },
  {
    id: "image/turns",
    name: "shows a picture of an earlier turn",
    needs: "images",
    run: async ({ ask }) => {
      const outcome = await ask([Script.answer("Grey.")], {
        messages: [
          { role: "user", content: [png] },
          { role: "assistant", content: "A cat." },
          { role: "user", content: "Of which colour?" }
        ]
      })
      assertSucceeds(outcome)
      const [shown, ...others] = outcome.server.exchanges[0]?.sent.messages ?? []
      assert.deepEqual(shown?.parts?.map(told), [told(png)])
      assert.deepEqual(
        others.map(({ content, role }) => [role, content]),
        [
          ["assistant", "A cat."],
          ["user", "Of which colour?"]
        ]
      )
    }
  },
  {
    id: "image/texts",
    name: "sends parts that are texts alone, each of them",
    run: async ({ ask }) => {
      const content = [
        { type: "text", text: "One." },
        { type: "text", text: "Two." }
      ] as const
      const outcome = await ask([Script.answer("ok")], { messages: [{ role: "user", content }] })
      assertSucceeds(outcome)
      assert.match(outcome.server.exchanges[0]?.sent.messages[0]?.content ?? "", /^One\.\s*Two\.$/)
    }
  },
  {
    id: "file/data",
    name: "gives a file as its bytes to read",
    needs: "files",
    run: async (subject) => {
      const [, file] = await sent(subject, [{ type: "text", text: "Summarise this." }, pdf])
      // Some vendors have no names for files.
      if (file?.type === "file") assert.ok([undefined, pdf.name].includes(file.name), `It is called ${file.name}.`)
    }
  },
  {
    id: "file/unnamed",
    name: "gives a file without a name to read",
    needs: "files",
    run: async (subject) => {
      const { name: _, ...unnamed } = pdf
      await sent(subject, [unnamed as FilePart, { type: "text", text: "Summarise this." }])
    }
  },
  {
    id: "file/url",
    name: "gives a file by its URL to read, or rejects it by name",
    needs: "files",
    run: (subject) => url(subject, "fileUrl", linkedPdf, /file|url/i)
  }
]
