import type { LanguageModelMiddleware } from 'ai'

type WrapStream = NonNullable<LanguageModelMiddleware['wrapStream']>

/** What the SDK hands to the middleware of a streamed model call. */
export type StreamCall = Parameters<WrapStream>[0]

/** The answer of a model: a stream of parts, with what is known of request and response. */
export type StreamResult = Awaited<ReturnType<WrapStream>>

/** A part of a model's answer, of the latest specification; the SDK brings older models up to it. */
export type StreamPart = StreamResult['stream'] extends ReadableStream<infer Part> ? Part : never

/** What a model is asked. */
export type ModelPrompt = StreamCall['params']['prompt']
