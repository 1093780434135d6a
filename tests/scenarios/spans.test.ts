import { INVALID_SPAN_CONTEXT, type SpanContext, type Tracer, trace } from '@opentelemetry/api'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachStore } from './world.ts'

const spans: { readonly name: string; readonly parent: SpanContext | undefined }[] = []

/** Notes the spans that are started, as an SDK would. */
const tracer: Pick<Tracer, 'startSpan'> = {
  startSpan: (name, _options, context) => {
    spans.push({ name, parent: context && trace.getSpanContext(context) })
    return trace.wrapSpanContext(INVALID_SPAN_CONTEXT)
  },
}

beforeAll(() => void trace.setGlobalTracerProvider({ getTracer: () => tracer as Tracer }))
afterAll(() => trace.disable())

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('the span of a task belongs to the trace that asked for it, if one did', async () => {
    const runtime = await world().open()
    spans.length = 0
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    for (const options of [{ traceparent }, {}]) {
      const { id } = await runtime.spawn({ thread: 't', run: () => 1, ...options })
      await runtime.wait(id)
    }
    const parent = {
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: 'b7ad6b7169203331',
      traceFlags: 1,
      isRemote: true,
    }
    expect(spans).toEqual([
      { name: 'task agent', parent },
      { name: 'task agent', parent: undefined },
    ])
  })
})
