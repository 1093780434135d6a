import type { ServerResponse } from 'node:http'
import type { AppContext } from '../app-env.ts'
import type { ServerParts } from '../server-parts.ts'
import type { StreamFormat } from './encode-batch.ts'
import { NodeSink } from './node-sink.ts'
import { type BatchSource, Stream } from './stream.ts'
import { WebSink } from './web-sink.ts'

/** Opens what is to be streamed; what it rejects with is the answer instead. */
export type OpenSource = () => Promise<BatchSource & { readonly isOver?: boolean }>

/**
 * Answers with a stream. Where Node's response is at hand it is written to directly, since a web stream for each reader
 * costs most of what serving it does; whoever gave the response sees by `headersSent` that it is taken care of.
 */
export async function openStream(
  c: AppContext,
  { streams, log }: Pick<ServerParts, 'streams' | 'log'>,
  format: StreamFormat,
  open: OpenSource,
): Promise<Response> {
  const place = streams.open(c.get('principal'))
  const source = await open().catch((error: unknown) => {
    place.close()
    throw error
  })
  const headers = {
    ...c.get('headers'),
    'content-type': format.contentType,
    // A proxy that compresses or gathers would keep events back.
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  }
  if (source.isOver || c.req.method === 'HEAD') {
    const status = source.isOver ? format.statusWhenOver : 200
    source.close()
    place.close()
    return new Response(null, { status, headers: status === 204 ? c.get('headers') : headers })
  }
  const outgoing = c.env?.outgoing
  const sink = outgoing ? nodeSink(outgoing, headers, format) : webSink(format)
  Stream.begin({ source, sink, format, place, log })
  return new Response(sink instanceof WebSink ? sink.stream : null, { headers })
}

function nodeSink(outgoing: ServerResponse, headers: Record<string, string>, { opening }: StreamFormat): NodeSink {
  outgoing.writeHead(200, headers)
  if (opening) outgoing.write(opening)
  else outgoing.flushHeaders()
  return new NodeSink(outgoing)
}

function webSink({ opening }: StreamFormat): WebSink {
  const sink = new WebSink()
  if (opening) sink.write(opening)
  return sink
}
