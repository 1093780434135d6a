import { existsSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

// What users may import, values and types. A name that appears or goes is a decision: change this table with it.
const publicNames: Readonly<Record<string, readonly string[]>> = {
  '.': [
    'AcceptedRun',
    'Agent',
    'AgentCode',
    'AgentContext',
    'AgentFunction',
    'AgentSummary',
    'Agents',
    'Ask',
    'Asked',
    'BackgroundTasks',
    'BackgroundTasksOptions',
    'BackgroundTool',
    'CancelOptions',
    'Clock',
    'CreateRuntimeOptions',
    'EndedCall',
    'ErrorCode',
    'Event',
    'EventData',
    'EventType',
    'Finish',
    'Handler',
    'HandlerOptions',
    'HoldfastError',
    'HookRecord',
    'Inbox',
    'InboxItem',
    'InboxOptions',
    'Limits',
    'ListOptions',
    'Logger',
    'Message',
    'MessagePage',
    'MessageToSend',
    'MetricsPort',
    'OnBusy',
    'OnEnded',
    'OnResult',
    'ParentContext',
    'Part',
    'PersistedTask',
    'PersistedTasks',
    'PlainAgent',
    'Principal',
    'PruneOptions',
    'Pruned',
    'Question',
    'QuestionAnswer',
    'QuestionOptions',
    'Readiness',
    'RestoreAnswer',
    'Result',
    'Retention',
    'Role',
    'RunOptions',
    'Runtime',
    'RuntimeInfo',
    'RuntimeOptions',
    'SchemaAgent',
    'ScriptOptions',
    'SendAnswer',
    'ServeOptions',
    'Server',
    'SignedWebhookOptions',
    'SpawnOptions',
    'StandardSchema',
    'Status',
    'Store',
    'SubscribeOptions',
    'Task',
    'TaskError',
    'TaskErrorCode',
    'TaskId',
    'TaskLine',
    'TaskList',
    'TaskSummary',
    'TaskView',
    'TasksChange',
    'ThreadId',
    'ThreadPage',
    'ThreadSnapshot',
    'ThreadSummary',
    'ToolPlace',
    'Usage',
    'VerifyOptions',
    'ViewChange',
    'agent',
    'backgroundTasks',
    'cancelled',
    'createHandler',
    'createInbox',
    'createRuntime',
    'decodeTasks',
    'demoAgent',
    'echoAgent',
    'encodeTasks',
    'failed',
    'isHoldfastError',
    'isTerminal',
    'persistTask',
    'reduceTasks',
    'reduceView',
    'restoreTasks',
    'scriptAgent',
    'serve',
    'signedWebhook',
    'snapshotTasks',
    'verifyWebhook',
    'viewText',
  ],
  './ai-sdk': ['AfterCrash', 'AiSdkAgentOptions', 'SdkAgent', 'ToolCall', 'ToolPolicy', 'aiSdkAgent', 'toolCall'],
  './chaos': [
    'ChaosOptions',
    'ChaosReport',
    'Counts',
    'HistoryEntry',
    'RoundGoal',
    'Verdict',
    'Violation',
    'chaos',
    'checkHistory',
    'reportText',
  ],
  './client': [
    'Accepted',
    'AgentLine',
    'AgentName',
    'AnyAgents',
    'Ask',
    'AttachItem',
    'AttachOptions',
    'CallOptions',
    'Calls',
    'Client',
    'ClientClock',
    'ClientNotice',
    'ClientOptions',
    'Connection',
    'ConnectionState',
    'CustomEvent',
    'CustomOf',
    'EndedTask',
    'ErrorCode',
    'Finish',
    'FirehoseItem',
    'FirehoseOptions',
    'HoldfastError',
    'InputOf',
    'Limits',
    'ListOptions',
    'LogPageOptions',
    'Message',
    'NoticeItem',
    'OnBusy',
    'OnResult',
    'PageOptions',
    'Part',
    'PruneOptions',
    'Pruned',
    'Question',
    'QuestionEvent',
    'Ready',
    'Result',
    'ResultOf',
    'Role',
    'RunOptions',
    'SnapshotItem',
    'SocketConstructor',
    'SocketLike',
    'SpawnOptions',
    'Status',
    'Task',
    'TaskError',
    'TaskErrorCode',
    'TaskId',
    'TaskOf',
    'ThreadEvent',
    'ThreadHandle',
    'ThreadId',
    'ThreadLine',
    'ThreadSnapshot',
    'ThreadView',
    'Usage',
    'ViewChange',
    'createClient',
    'createThreadView',
    'isHoldfastError',
    'isTerminal',
    'reduceView',
  ],
  './react': [
    'ChatChunk',
    'ChatMetadata',
    'ChatTransport',
    'ChatTransportOptions',
    'ChatUIMessage',
    'ChatUIPart',
    'ConnectionStatus',
    'EventFilter',
    'HoldfastProvider',
    'HoldfastProviderProps',
    'LiveError',
    'SendOptions',
    'TaskFilter',
    'ThreadActions',
    'UseAgentsResult',
    'UseEventsResult',
    'UseQuestionsResult',
    'UseTaskOptions',
    'UseTaskResult',
    'UseTasksResult',
    'UseThreadOptions',
    'UseThreadResult',
    'UseThreadsResult',
    'createChatTransport',
    'toUIMessages',
    'useAgents',
    'useClient',
    'useConnection',
    'useEvents',
    'useQuestions',
    'useTask',
    'useTasks',
    'useThread',
    'useThreads',
    'withStop',
  ],
  './testing': [
    'Fault',
    'FaultyStore',
    'ManualClock',
    'StoreCase',
    'StoreFixture',
    'faultyStore',
    'manualClock',
    'storeCases',
  ],
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  exports: Record<string, string | { default: string }>
}

// A subpath that is a plain file, such as package.json, exports no names.
const sources = new Map(
  Object.entries(manifest.exports).flatMap(([subpath, target]) =>
    typeof target === 'string' ? [] : [[subpath, sourceOf(target.default)] as const],
  ),
)

describe('the public names', () => {
  it('are listed here for every subpath', () => {
    expect(Object.keys(publicNames).sort()).toEqual([...sources.keys()].sort())
  })

  const program = ts.createProgram([...sources.values()], compilerOptions())

  it.each([...sources])('of %s are those of the table', (subpath, source) => {
    expect(existsSync(source), `${source}, the source of the export "${subpath}", does not exist`).toBe(true)
    const names = exportedNames(program, source)
    const asRow = `If this is meant, the row of the table is now:\n  '${subpath}': [${names.map((name) => `'${name}'`).join(', ')}],\n`
    expect(names, asRow).toEqual(publicNames[subpath] ?? [])
  })

  it('are named one by one, never with export *', () => {
    const starred = [...sources.values()].filter((file) => existsSync(file) && hasStarExport(file))
    expect(starred).toEqual([])
  })
})

function sourceOf(distPath: string): string {
  return distPath.replace(/^\.\/dist\//, 'src/').replace(/\.js$/, '.ts')
}

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile) as { config: unknown }
  return ts.parseJsonConfigFileContent(config, ts.sys, '.').options
}

function exportedNames(program: ts.Program, source: string): string[] {
  const file = program.getSourceFile(source)
  const checker = program.getTypeChecker()
  const module = file && checker.getSymbolAtLocation(file)
  if (module === undefined) return []
  return checker
    .getExportsOfModule(module)
    .map((symbol) => symbol.name)
    .sort()
}

function hasStarExport(source: string): boolean {
  const file = ts.createSourceFile(source, readFileSync(source, 'utf8'), ts.ScriptTarget.Latest)
  return file.statements.some((node) => ts.isExportDeclaration(node) && node.exportClause === undefined)
}
