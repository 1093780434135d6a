import type { Command } from 'commander'
import { type Client, createClient, HoldfastError, isHoldfastError } from '../client/index.ts'
import { commandStart } from './command-start.ts'
import { connectionNotices } from './connection-notices.ts'
import { Ending } from './ending.ts'
import { exitCodes } from './exit-code.ts'
import { failureText, type LeftWork } from './failure.ts'
import { oneLine } from './show/plain-text.ts'
import { createShow, type Show, type ShowOptions } from './show/show.ts'
import type { Surroundings } from './surroundings.ts'
import { wrongServer } from './wrong-server.ts'

/** The flags of every command. */
export interface GlobalFlags {
  readonly url?: string
  readonly token?: string
  readonly json?: true
  readonly quiet?: true
  readonly color: boolean
  readonly timeout?: number
}

export interface ConnectOptions {
  /** Waits for a server that went away in the meantime, instead of failing at once. */
  readonly isPatient?: boolean
}

/** What a command is given. */
export interface Cli {
  readonly around: Surroundings
  readonly global: ShowOptions
  /** Fires at --timeout, at an interrupt that the command does not take itself, and when nobody reads its output. */
  readonly signal: AbortSignal
  /** The client of the server that is meant: one, made when first asked for, and closed when the command ends. */
  client(options?: ConnectOptions): Promise<Client>
  /** From now on what the client has to say goes there, instead of to stderr. */
  takeNotices(say: (text: string) => void): void
  /** What goes on if the command ends before it: said to programs in the problem that it ends with. */
  leaves(work: LeftWork): void
  /** Says what went wrong, where the command does not end by it. */
  complain(error: unknown, exitCode?: number): void
  /** What a command begins with that is to be copied. */
  readonly start: string
  readonly show: Show
}

/**
 * Makes the action of a command. The number it resolves with is the exit code; without one a command that used a client ends
 * with 0, and any other goes on for as long as its process has something to do.
 */
export type Act = <Given extends unknown[]>(
  // biome-ignore lint/suspicious/noConfusingVoidType: a command that has nothing to say returns nothing.
  work: (cli: Cli, ...given: Given) => Promise<number | void>,
) => (...given: Given) => Promise<void>

/** How the command that was asked for ended; undefined if its process goes on. */
export interface CommandEnd {
  code: number | undefined
}

export function createAct(program: Command, around: Surroundings, end: CommandEnd): Act {
  return (work) =>
    async (...given) => {
      const flags = program.opts<GlobalFlags>()
      const ending = new Ending(around, flags.timeout)
      const cli = new CommandLine(flags, around, ending)
      try {
        const code = await ending.of(work(cli, ...given))
        end.code = typeof code === 'number' ? code : cli.hasClient ? exitCodes.ok : undefined
      } catch (error) {
        throw await cli.named(error)
      } finally {
        cli.close()
      }
      if (ending.hasTimedOut) cli.complain(new Error('gave up; --timeout has passed'), exitCodes.timeout)
      if (ending.wasInterrupted) cli.tellInterrupt()
    }
}

interface Asked {
  readonly url: string
  /** What gave the token, if one was found. */
  readonly tokenFrom: string | undefined
  readonly health: Client['health']
}

class CommandLine implements Cli {
  readonly around: Surroundings
  readonly global: Cli['global']
  readonly show: Show
  readonly start: string
  readonly #flags: GlobalFlags
  readonly #ending: Ending
  #client: Promise<Client> | undefined
  /** Who was asked, as far as it is known. */
  #asked: Asked | undefined
  #say: (text: string) => void
  #left: LeftWork | undefined

  constructor(flags: GlobalFlags, around: Surroundings, ending: Ending) {
    this.#flags = flags
    this.#ending = ending
    this.around = surroundingsOf(around, ending)
    const { json = false, quiet = false } = flags
    this.global = { json, quiet, color: flags.color && isColourful(this.around) }
    this.show = createShow(this.around, this.global)
    this.start = commandStart(around.env, flags.url)
    this.#say = this.show.notice
  }

  get signal(): AbortSignal {
    return this.#ending.signal
  }

  get hasClient(): boolean {
    return this.#client !== undefined
  }

  /** Bound, so that a command can take what it is given apart. */
  readonly client = (options: ConnectOptions = {}): Promise<Client> => {
    this.#client ??= this.#connect(options)
    return this.#client
  }

  readonly takeNotices = (say: (text: string) => void): void => {
    this.#say = say
  }

  leaves(work: LeftWork): void {
    this.#left = work
  }

  complain(error: unknown, exitCode?: number): void {
    const { url } = this.#flags
    const ended = exitCode === undefined ? {} : { exitCode, ...(this.#left && { left: this.#left }) }
    this.around.err(failureText(error, { ...this.global, env: this.around.env, url, ...ended }))
  }

  /** A person knows that it was interrupted, and was told what goes on; a program has only this. */
  tellInterrupt(): void {
    if (this.global.json && this.#left) this.complain(new Error('interrupted'), exitCodes.interrupted)
  }

  close(): void {
    this.#client?.then(
      (client) => client.close(),
      () => {},
    )
  }

  /** The error with what the command line alone knows: what gave a token that is refused, and that the URL may be wrong. */
  async named(error: unknown): Promise<unknown> {
    if (!this.#asked) return error
    const { url, tokenFrom, health } = this.#asked
    if (tokenFrom === undefined || !isHoldfastError(error, 'unauthenticated')) {
      return wrongServer(error, { url, health, clock: this.around.clock })
    }
    const message = `The server refused the token of ${tokenFrom}`
    return new HoldfastError('unauthenticated', message, { facts: error.facts, cause: error })
  }

  /** Said whatever is to be left unsaid: the command may ask another server than was thought. */
  readonly #warn = (message: string): void => this.around.err(`holdfast: ${oneLine(message)}\n`)

  async #connect({ isPatient = false }: ConnectOptions): Promise<Client> {
    const { signal } = this.#ending
    const { serverAddress } = await import('./settings/server-address.ts')
    const { tokenFrom, ...address } = await serverAddress(this.#flags, this.around, this.#warn)
    const onNotice = connectionNotices((text) => this.#say(text))
    const client = createClient({ ...address, onNotice, retryForMs: 0 })
    this.#asked = { url: address.url, tokenFrom, health: client.health }
    if (!isPatient) return client
    // Whoever waits for a server that is away has found it there before.
    await client.health({ signal })
    client.close()
    return createClient({ ...address, onNotice })
  }
}

/** As the process has them, but that nobody watches a build, and that interrupts go through what ends the command. */
function surroundingsOf(around: Surroundings, ending: Ending): Surroundings {
  const nobody = { out: false, err: false, input: false }
  const { env, folder, out, err, columns, rows, onOutputClosed, clock } = around
  return {
    env,
    folder,
    out,
    err,
    columns,
    rows,
    onOutputClosed,
    clock,
    // Asked for late: a standard input that is merely looked at is a stream that was opened.
    get input() {
      return around.input
    },
    isTty: isBuild(env) ? nobody : around.isTty,
    onInterrupt: (listener) => ending.takeInterrupts(listener),
  }
}

function isColourful({ env, isTty }: Surroundings): boolean {
  return isTty.out && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
}

/** Some say that it is none by setting it to that. */
function isBuild({ CI: text = '' }: Surroundings['env']): boolean {
  return text !== '' && text !== 'false' && text !== '0'
}
