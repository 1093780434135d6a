import type { Command } from 'commander'
import { type AgentLine, HoldfastError } from '../../client/index.ts'
import type { Act, Cli } from '../command.ts'
import { withExamples } from '../help.ts'
import { nearestHint } from '../nearest.ts'
import { jsonText } from '../show/json-text.ts'
import { oneLine } from '../show/plain-text.ts'

interface Flags {
  readonly schema?: true
}

/** `holdfast agents`: what the server can run. */
export function define(program: Command, act: Act): void {
  const command = program
    .command('agents')
    .summary('list the agents of the server')
    .description(
      'Lists the agents that the server can run.\n\n' +
        'In a pipe: name, version, description, how much of it executes at once over all nodes (empty if there is no limit), and with ' +
        '--schema the JSON schema of its input, tab-separated.',
    )
    .argument('[name]', 'only this one')
    .option('--schema', 'with what each takes as its input, as a JSON schema')
    .action(act(agents))
  withExamples(command, [
    ['holdfast agents', 'their names and what they do'],
    ['holdfast agents script --schema', 'what the agent script takes'],
    ['holdfast agents --json', 'one document, schemas included'],
  ])
}

async function agents(
  { client, around, global, show, signal }: Cli,
  name: string | undefined,
  flags: Flags,
): Promise<void> {
  const all = await (await client()).agents({ signal })
  const found = name === undefined ? all : all.filter((agent) => agent.name === name)
  if (name !== undefined && found.length === 0) throw unknownAgent(name, all)
  if (global.json) return show.json({ agents: found })
  if (flags.schema && around.isTty.out) {
    for (const agent of found) show.line(drawn(agent, show.style.bold))
    return
  }
  show.table<AgentLine>(
    [
      { title: 'NAME', value: (agent) => agent.name },
      { title: 'VERSION', value: ({ version = '' }) => version, hides: true },
      { title: 'DESCRIPTION', value: ({ description = '' }) => description, shrinks: true },
      { title: 'AT ONCE', value: ({ concurrency }) => String(concurrency ?? ''), hides: true },
      ...(flags.schema ? [{ title: 'INPUT', value: (agent: AgentLine) => schemaText(agent) }] : []),
    ],
    found,
  )
  if (found.length === 0) show.hint('The server has no agents. Give it some in holdfast.config.ts: agents: { … }')
}

function drawn(agent: AgentLine, bold: (text: string) => string): string {
  return `${bold(oneLine(agent.name))}  ${oneLine(agent.description ?? '')}\n${schemaText(agent, 2) || 'takes any input'}\n`
}

function schemaText({ inputSchema }: AgentLine, indent?: number): string {
  return inputSchema ? jsonText(inputSchema, indent) : ''
}

function unknownAgent(name: string, all: readonly AgentLine[]): Error {
  const names = all.map((agent) => agent.name)
  return new HoldfastError('unknown_agent', `The server has no agent ${name}${nearestHint(name, names)}`)
}
