// @a2a-js/sdk: DefaultRequestHandler with its own in-memory task store and event bus, by its HTTP+JSON handler on Express. An event of
// an agent is a status update that carries it as metadata: the lightest event there is. An artifact update, the protocol's way for
// output, is kept in the task, which the store clones for every event, so that a run gets slower with each.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type AgentCard, type Task, TaskState } from '@a2a-js/sdk'
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server'
import { restHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import express from 'express'
import { answerDriver, noteEnded, noteWaiting, produce, type Work } from './work.ts'

// Node warns of the eleventh listener of each event bus, and every subscriber is one.
process.removeAllListeners('warning')

const card: AgentCard = {
  name: 'bench',
  description: 'emits',
  version: '1',
  supportedInterfaces: [{ url: 'http://127.0.0.1', protocolBinding: 'HTTP+JSON', tenant: '', protocolVersion: '1.0' }],
  provider: undefined,
  capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  signatures: [],
}

function workOf({ userMessage }: RequestContext): Work {
  const content = userMessage.parts[0]?.content
  return JSON.parse(content?.$case === 'text' ? content.value : '{}') as Work
}

/** Publishes to the bus of one task. */
class Publisher {
  readonly #taskId: string
  readonly #contextId: string
  readonly #bus: ExecutionEventBus

  constructor(taskId: string, contextId: string, bus: ExecutionEventBus) {
    this.#taskId = taskId
    this.#contextId = contextId
    this.#bus = bus
  }

  task(): void {
    const task: Task = {
      id: this.#taskId,
      contextId: this.#contextId,
      status: { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: undefined },
      artifacts: [],
      history: [],
      metadata: undefined,
    }
    this.#bus.publish(AgentEvent.task(task))
  }

  status(state: TaskState, metadata?: Record<string, unknown>): void {
    const status = { state, message: undefined, timestamp: undefined }
    this.#bus.publish(AgentEvent.statusUpdate({ taskId: this.#taskId, contextId: this.#contextId, status, metadata }))
  }
}

const hanging = new Map<string, { publisher: Publisher; end: () => void }>()

const executor: AgentExecutor = {
  async execute(context, bus) {
    const work = workOf(context)
    const publisher = new Publisher(context.taskId, context.contextId, bus)
    publisher.task()
    if (work.kind === 'park') {
      publisher.status(TaskState.TASK_STATE_INPUT_REQUIRED)
      noteWaiting()
      bus.finished()
      return
    }
    if (work.kind === 'hang') {
      noteWaiting()
      await new Promise<void>((end) => hanging.set(context.taskId, { publisher, end }))
      publisher.status(TaskState.TASK_STATE_CANCELED)
    } else {
      await produce(work, ({ name, payload }) => publisher.status(TaskState.TASK_STATE_WORKING, { name, payload }))
      publisher.status(TaskState.TASK_STATE_COMPLETED)
      noteEnded()
    }
    bus.finished()
  },
  cancelTask: (taskId) => Promise.resolve(hanging.get(taskId)?.end()),
}

const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor)
const app = express()
app.use(restHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }))
const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
answerDriver(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
