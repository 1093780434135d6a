// The development server of @langchain/langgraph-api, started as its command line does, with its 10 workers and its files in the
// folder given. Its log is turned off: it writes a line for every request, and an error for every run that is cancelled.

process.env['LOG_LEVEL'] = 'none'
process.env['LANGSMITH_TRACING'] = 'false'
const { startServer } = await import('@langchain/langgraph-api/server')
const { answerDriver } = await import('./work.ts')

const [folder = process.cwd()] = process.argv.slice(2)
const { host } = await startServer({
  port: 0,
  nWorkers: 10,
  host: '127.0.0.1',
  cwd: folder,
  graphs: { bench: `${new URL('./langgraph-graph.ts', import.meta.url).pathname}:graph` },
})
answerDriver(`http://${host}`)
