import type { ScriptRules } from './script-program.ts'

type Schema = Readonly<Record<string, unknown>>

const anything: Schema = {}
const text: Schema = { type: 'string' }
const word: Schema = { type: 'string', minLength: 1, maxLength: 200 }
const question: Schema = { type: 'string', minLength: 1 }
const optionList: Schema = { type: 'array', items: text, minItems: 1 }
const flag: Schema = { type: 'boolean' }
const count: Schema = { type: 'integer', minimum: 1 }
const duration: Schema = { type: 'integer', minimum: 0, maximum: 2 ** 31 - 1, description: 'Milliseconds' }
const program: Schema = { $ref: '#/$defs/program' }

/** The JSON Schema of what `readProgram` accepts, for those who write scripts: it explains, and checks nothing here. */
export function scriptSchema(rules: ScriptRules): object {
  return {
    ...fields({ script: program }),
    $defs: {
      program: { type: 'array', items: { $ref: '#/$defs/op' } },
      op: { anyOf: opSchemas(rules) },
    },
  }
}

function opSchemas({ allowEffects }: ScriptRules): Schema[] {
  const effect: Schema = { type: 'string', format: 'uri', description: 'An http URL on loopback' }
  const name: Schema = { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' }
  return [
    op('One text.delta', { say: text }),
    op('One thinking', { think: text }),
    op('One progress', { progress: { type: 'number', minimum: 0, maximum: 1 } }),
    op('A custom event', { emit: word }, { payload: anything, everyMs: duration }),
    op(
      'Custom events whose payload gains n',
      { emit: word, times: count },
      { payload: { type: 'object' }, everyMs: duration },
    ),
    op('A tool call', { tool: word }, { input: anything, output: anything, ms: duration }),
    op('A durable step', { step: word }, { sleepMs: duration, value: anything, ...(allowEffects && { effect }) }),
    op('A wait', { sleepMs: duration }),
    op('A child task', { spawn: fields({ script: program }, { name, detached: flag, wait: flag }) }),
    op('The next message of its inbox', { receive: fields({}, { timeoutMs: duration }) }),
    op('A question to people', {
      ask: fields({ text: question }, { options: optionList, timeoutMs: duration, default: anything }),
    }),
    op('The answer; the last one counts', { answer: anything }),
    op('The end, as failed', { fail: text }),
    op('The end, with a result', { return: anything }),
    op('Never ends by itself', { hang: { enum: [true, 'hard'] } }),
    ...(allowEffects ? [op('Blocks the event loop', { blockMs: duration })] : []),
  ]
}

function op(
  description: string,
  needed: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): Schema {
  return { description, ...fields(needed, optional) }
}

function fields(needed: Readonly<Record<string, Schema>>, optional: Readonly<Record<string, Schema>> = {}): Schema {
  return {
    type: 'object',
    properties: { ...needed, ...optional },
    required: Object.keys(needed),
    additionalProperties: false,
  }
}
