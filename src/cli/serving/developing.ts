import type { Runtime } from '../../index.ts'
import { isLoopback, loginLink } from '../../server/index.ts'
import type { Cli } from '../command.ts'
import { commandStart } from '../command-start.ts'
import { portDefault } from '../settings/server-url.ts'
import { storeText } from '../settings/store-url.ts'
import { oneLine } from '../show/plain-text.ts'
import { packageVersion } from '../version.ts'
import { listeningLine, type ServeFlags, type Started, start } from './serving.ts'

export interface DevFlags extends ServeFlags {
  readonly demo: boolean
}

type Speaking = Pick<Cli, 'around' | 'show'>

const demo = { thread: 'demo', agent: 'demo' } as const
// Whoever presses Ctrl-C wants the terminal back; what has not ended by then goes on at the next start.
const shutdownMs = 500
const stopSignals = ['SIGINT', 'SIGTERM'] as const
// Somebody who has taken more ports in a row than this has taken them all.
const portsTriedMax = 50

/** A server for whoever tries things out at a terminal, with a run to watch. */
export async function develop({ demo: hasDemo, ...flags }: DevFlags, cli: Speaking): Promise<void> {
  const { around, show } = cli
  const taken: number[] = []
  const nextPort = (port: number): number => {
    taken.push(port)
    return taken.length < portsTriedMax && port < 65_535 ? port + 1 : 0
  }
  const started = await start(flags, around, { defaults: { logLevel: 'warn', shutdownMs }, nextPort })
  if (taken[0] !== undefined) show.notice(`Port ${taken[0]} is taken; this is ${started.server.port}.`)
  const run = hasDemo ? await demoRun(started) : undefined
  tell(started, run, cli)
  tellOfStop(started, show)
  around.out(listeningLine(started.server))
}

/** The server drains at a signal, and says nothing about it. A second one ends it at once. */
function tellOfStop({ settings }: Started, { notice }: Speaking['show']): void {
  const kept = isKept(settings) ? 'what has not ended goes on at the next start' : 'memory: keeps nothing'
  const onSignal = (): void => {
    for (const signal of stopSignals) process.off(signal, onSignal)
    notice(`Stopping; ${kept}`)
  }
  for (const signal of stopSignals) process.on(signal, onSignal)
}

function isKept({ store }: Started['settings']): boolean {
  return store !== 'memory:'
}

interface DemoRun {
  readonly id: string
  readonly isNew: boolean
}

/** A demo of before has been resumed by now; another would only queue behind it. */
async function demoRun({ runtime, settings }: Started): Promise<DemoRun> {
  const asOwner: Runtime = runtime.as(demoPrincipal(Object.keys(settings.tokens)))
  const { tasks } = await asOwner.list({ thread: demo.thread, type: 'run', status: ['pending', 'running'] })
  const live = tasks.at(-1)
  if (live) return { id: live.id, isNew: false }
  const { id } = await asOwner.run({ ...demo, prompt: 'What lets a background run hold fast?' })
  return { id, isNew: true }
}

/** Whoever logs in by the link, or with the one token, is the owner; else the first who can log in at all. */
function demoPrincipal(principals: readonly string[]): string {
  return principals.includes('owner') ? 'owner' : (principals[0] ?? 'owner')
}

function tell(started: Started, run: DemoRun | undefined, { around, show }: Speaking): void {
  const { server, settings, assistant } = started
  const command = commandStart(around.env, server.port === portDefault ? undefined : server.url)
  const lines = [
    ['Holdfast', `${packageVersion()}, process ${process.pid}`],
    ['Server', server.url],
    ['Console', consoleLine(started)],
    ['Store', storeLine(settings.store)],
    ...(run ? [['Demo', `${run.id}, thread demo, ${run.isNew ? 'started' : 'goes on from before'}`]] : []),
    ...(assistant ? [['Assistant', assistant.line]] : []),
    ['Stop', isKept(settings) ? 'Ctrl-C stops; tasks stay' : 'Ctrl-C stops; memory: keeps nothing'],
    ['Next', [`${command} ps`, ...(run ? [`${command} attach ${demo.thread}`] : [])].join('; ')],
    ...(run ? [['Again', `${command} run ${demo.agent} "What holds fast?"`]] : []),
  ]
  for (const [name = '', text = ''] of lines) show.notice(`${name.padEnd(9)} ${text}`)
}

/** Whoever reads the terminal of a server on this machine started it, with the token of its owner in hand. */
function consoleLine({ server, isTokenMade, settings: { host, tokens } }: Started): string {
  const mayLogIn = isTokenMade || (isLoopback(host) && Object.hasOwn(tokens, 'owner'))
  return mayLogIn ? `${loginLink(server)}  (logs in once, within 10 minutes)` : `${server.url}/console`
}

function storeLine(store: Started['settings']['store'] = ''): string {
  return oneLine(storeText(store).replace(/^sqlite:/, ''))
}
