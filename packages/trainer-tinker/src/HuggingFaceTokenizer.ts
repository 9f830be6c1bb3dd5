/**
 * Loads a base model's tokenizer and chat template from its Hugging Face files.
 *
 * Servers of the Tinker API accept only token ids, so text is tokenized locally, with `@huggingface/tokenizers` and
 * `@huggingface/jinja`: Hugging Face's ports to plain JavaScript, without native runtimes. Tests compare the results
 * with the reference implementation on a corpus.
 */
import fs from "node:fs/promises"
import path from "node:path"
import { Options as Tables } from "@divisi/core"
import type { Message } from "@divisi/core/Message"
import { Download, Hub, UserFolders, WholeFile } from "@divisi/files"
import type { Tokenizer } from "@divisi/trainer/Engine"
import { Template } from "@huggingface/jinja"
import { Tokenizer as Encoder } from "@huggingface/tokenizers"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The location of a tokenizer's files. */
export type Source =
  /** A model folder with `tokenizer.json` and `tokenizer_config.json`. */
  | { readonly folder: string }
  /** Paths of the files. The config defaults to the file in the tokenizer's folder. */
  | { readonly tokenizer: string; readonly config?: string | undefined }
  /** A model on Hugging Face, such as `Qwen/Qwen2.5-7B-Instruct`. Its files are stored in the cache folder. */
  | {
      readonly model: string
      readonly revision?: string | undefined
      readonly token?: Redacted.Redacted<string> | undefined
    }

/** Settings for a tokenizer. */
export interface Settings {
  /** The token that ends the model's turn. Default: the `eos_token` in the config. */
  readonly endToken?: string | undefined
  /** A Jinja template with the variables `messages` and `add_generation_prompt`. Default: the model's chat template. */
  readonly chatTemplate?: string | undefined
  /** Additional template variables, such as `{ enable_thinking: false }`. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined
}

/** A tokenizer that also gives access to its vocabulary. */
export interface HuggingFaceTokenizer extends Tokenizer {
  /** Returns the id of a token, given its text, such as `<|im_end|>`. */
  readonly tokenId: (token: string) => number | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Raised if a tokenizer cannot be loaded or used. */
export class TokenizerError extends Data.TaggedError("TokenizerError")<{
  /** The file or model that caused the error. */
  readonly source: string
  readonly detail: string
}> {
  override get message(): string {
    return `Cannot load the tokenizer of ${this.source}. ${this.detail}`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Files
// -------------------------------------------------------------------------------------------------------------------

interface Config {
  readonly eos_token?: string | { readonly content: string } | null | undefined
  readonly bos_token?: string | { readonly content: string } | null | undefined
  readonly chat_template?: string | ReadonlyArray<{ readonly name: string; readonly template: string }> | undefined
}

interface Files {
  readonly source: string
  readonly tokenizer: object
  readonly config: Config
  /** The chat template, which newer models have in a separate file. */
  readonly template: string | undefined
}

const wrong = (source: string, detail: string) => new TokenizerError({ source, detail })

const readJson = (file: string) =>
  Effect.tryPromise({
    try: async () => JSON.parse(await fs.readFile(file, "utf8")) as object,
    catch: (cause) => wrong(file, `it cannot be read as JSON (${(cause as Error).message}).`)
  })

const readText = (file: string) => Effect.promise(() => fs.readFile(file, "utf8").catch(() => undefined))

const readFiles = (tokenizer: string, config: string): Effect.Effect<Files, TokenizerError> =>
  Effect.all({
    source: Effect.succeed(tokenizer),
    tokenizer: readJson(tokenizer),
    config: readJson(config) as Effect.Effect<Config, TokenizerError>,
    template: readText(path.join(path.dirname(config), "chat_template.jinja"))
  })

// -------------------------------------------------------------------------------------------------------------------
// Download
// -------------------------------------------------------------------------------------------------------------------

const wanted = [
  { name: "tokenizer.json", isNeeded: true },
  { name: "tokenizer_config.json", isNeeded: true },
  { name: "chat_template.jinja", isNeeded: false }
] as const

type Remote = Extract<Source, { readonly model: string }>

/** Name of the file that marks a download as complete, so that files which a model lacks are not requested again. */
const mark = "whole"

const fetchFile = (source: Remote, { isNeeded, name }: (typeof wanted)[number], folder: string) =>
  Effect.gen(function* () {
    const { model, revision } = source
    const url = Hub.url({ kind: "model", repository: model, revision, file: name }, yield* Hub.endpoint)
    const token = source.token ?? (yield* Hub.token)
    yield* Download.file({ url, token, file: path.join(folder, name) }).pipe(
      Effect.catch((error) =>
        error.reason._tag === "Refused" && error.reason.status === 404 && !isNeeded ? Effect.void : Effect.fail(error)
      ),
      Effect.mapError(({ message }) =>
        wrong(model, `${message} You can also pass a folder with its files, or set HF_ENDPOINT.`)
      )
    )
  })

/** Returns the folder with a model's tokenizer, which is downloaded once. */
const fetched = (source: Remote) =>
  Effect.gen(function* () {
    const { model, revision = "main" } = source
    if (!/^[\w.-]+\/[\w.-]+$/.test(model)) {
      return yield* wrong(model, "a Hugging Face model has the form owner/name.")
    }
    const cache = yield* UserFolders.cache("tokenizers", "DIVISI_TOKENIZERS")
    const folder = path.join(cache, model.replace("/", "--"), revision.replaceAll(/[^\w.-]/g, "-"))
    const isWhole = yield* Effect.promise(() =>
      fs.access(path.join(folder, mark)).then(
        () => true,
        () => false
      )
    )
    if (isWhole) return folder
    yield* Effect.forEach(wanted, (file) => fetchFile(source, file, folder))
    yield* Effect.mapError(WholeFile.write(path.join(folder, mark), ""), ({ message }) => wrong(model, message))
    return folder
  })

const filesOf = (source: Source): Effect.Effect<Files, TokenizerError> => {
  const inFolder = (folder: string) =>
    readFiles(path.join(folder, "tokenizer.json"), path.join(folder, "tokenizer_config.json"))
  if ("folder" in source) return inFolder(source.folder)
  if ("model" in source) return Effect.flatMap(fetched(source), inFolder)
  const beside = path.join(path.dirname(source.tokenizer), "tokenizer_config.json")
  return readFiles(source.tokenizer, source.config ?? beside)
}

// -------------------------------------------------------------------------------------------------------------------
// Templates
// -------------------------------------------------------------------------------------------------------------------

const textOf = (token: Config["eos_token"]): string | undefined =>
  typeof token === "string" ? token : (token?.content ?? undefined)

const templateOf = ({ config, template }: Files, settings: Settings): string | undefined => {
  const own = config.chat_template
  const named = typeof own === "object" ? own.find(({ name }) => name === "default")?.template : own
  return settings.chatTemplate ?? template ?? named
}

/** Maximum length of a template in characters, because parsing takes quadratic time in the length of its whitespace. */
const longestTemplate = 65_536

/**
 * Returns a function that renders messages. Both throw a `TokenizerError`: this one if the template is invalid, the
 * returned one if the template rejects the messages.
 */
const rendererOf = (files: Files, settings: Settings) => {
  const text = templateOf(files, settings)
  if (text === undefined) throw wrong(files.source, "it has no chat template: pass one as chatTemplate.")
  if (text.length > longestTemplate) {
    throw wrong(
      files.source,
      `its chat template is longer than ${longestTemplate} characters: pass one as chatTemplate.`
    )
  }
  const attempt = <A>(run: () => A): A => {
    try {
      return run()
    } catch (cause) {
      throw wrong(files.source, `its chat template cannot be used (${(cause as Error).message}).`)
    }
  }
  const template = attempt(() => new Template(text))
  const { config } = files
  const tokens = { bos_token: textOf(config.bos_token) ?? "", eos_token: textOf(config.eos_token) ?? "" }
  return (messages: ReadonlyArray<Message>) =>
    attempt(() => template.render({ ...tokens, ...settings.variables, messages, add_generation_prompt: true }))
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Messages accepted by every template. */
const probe: ReadonlyArray<Message> = [{ role: "user", content: "Hello" }]

const fromFiles = (files: Files, settings: Settings): HuggingFaceTokenizer => {
  const encoder = new Encoder(files.tokenizer, files.config)
  const render = rendererOf(files, settings)
  const end = settings.endToken ?? textOf(files.config.eos_token)
  const endToken = end === undefined ? undefined : encoder.token_to_id(end)
  if (endToken === undefined) {
    const detail = end === undefined ? "its config names no eos_token" : `its vocabulary has no token "${end}"`
    throw wrong(files.source, `${detail}: set endToken to the token that ends a turn.`)
  }
  // Templates write special tokens themselves. The reference omits text missing from the vocabulary; the library
  // returns `undefined` for it if the file defines no `unk_token`.
  const encode = (text: string) => encoder.encode(text, { add_special_tokens: false }).ids.filter(Number.isInteger)
  // A template is a program, so one that can be parsed may still fail at run time.
  encode(render(probe))
  return {
    render: (messages) => encode(render(messages)),
    encode,
    // The library throws if there are no tokens to decode.
    decode: (tokens) =>
      tokens.length === 0
        ? ""
        : encoder.decode([...tokens], { skip_special_tokens: true, clean_up_tokenization_spaces: false }),
    endToken,
    tokenId: (token) => encoder.token_to_id(token)
  }
}

const sourceTable = {
  folder: Tables.table({ folder: Tables.name }),
  tokenizer: Tables.table({ tokenizer: Tables.name, config: Tables.name }),
  model: Tables.table({
    model: Tables.name,
    revision: Tables.name,
    token: Tables.expects("a Redacted", Redacted.isRedacted)
  })
}

const settingsTable = {
  endToken: Tables.name,
  chatTemplate: Tables.name,
  variables: Tables.anObject
} satisfies Tables.ShapeOf<Settings>

const isSource = (name: string): name is keyof typeof sourceTable => Object.hasOwn(sourceTable, name)

const checked = (source: Source, settings: Settings) => {
  const kind = Object.keys(source).find(isSource) ?? "model"
  return Effect.mapError(
    Effect.andThen(
      Tables.checked("HuggingFaceTokenizer.load", source, { ...sourceTable[kind], required: [kind] }),
      Tables.checked("HuggingFaceTokenizer.load", settings, settingsTable)
    ),
    ({ message }) => wrong(kind, message)
  )
}

/**
 * Loads a tokenizer.
 *
 * **Example**
 *
 * ```ts no-run
 * import * as HuggingFaceTokenizer from "@divisi/trainer-tinker/HuggingFaceTokenizer"
 * import * as Effect from "effect/Effect"
 *
 * const tokenizer = await Effect.runPromise(HuggingFaceTokenizer.load({ model: "Qwen/Qwen2.5-7B-Instruct" }))
 * console.log(tokenizer.decode(tokenizer.encode("Plan the work.")))
 * ```
 */
export const load = (source: Source, settings: Settings = {}): Effect.Effect<HuggingFaceTokenizer, TokenizerError> =>
  checked(source, settings).pipe(
    Effect.flatMap(() => filesOf(source)),
    Effect.flatMap((files) =>
      Effect.try({
        try: () => fromFiles(files, settings),
        catch: (cause) =>
          cause instanceof TokenizerError ? cause : wrong(files.source, `${(cause as Error).message}.`)
      })
    )
  )
