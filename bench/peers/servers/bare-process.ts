// The bare servers of the other benchmarks, which here also tell how much memory they take. This listener comes before theirs, so its
// answer is the first to a question that they do not know, and the driver heeds the first alone.

process.on('message', ({ n, name }: { n: number; name: string }) => {
  if (name !== 'memory') return
  for (let i = 0; i < 4; i++) globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  process.send?.({ n, value: heapUsed + external })
})

await import('../../server/bare-process.ts')
