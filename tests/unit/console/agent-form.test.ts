import { describe, expect, it } from 'vitest'
import { draftOf, faultsOf, readDraft } from '../../../console/src/views/agents/draft.ts'
import { fieldOf } from '../../../console/src/views/agents/field.ts'
import { HoldfastError } from '../../../src/client/index.ts'

const schema = {
  type: 'object',
  required: ['topic', 'depth'],
  properties: {
    topic: { type: 'string', maxLength: 10, title: 'Topic' },
    depth: { type: 'integer', minimum: 1, maximum: 5, default: 2 },
    loud: { type: 'boolean' },
    tone: { enum: ['dry', 'warm'], description: 'How it sounds' },
    tags: { type: 'array', items: { type: 'string' } },
    place: { $ref: '#/$defs/place' },
    extra: {},
  },
  $defs: { place: { type: 'object', required: ['city'], properties: { city: { type: ['string', 'null'] } } } },
}

const form = fieldOf(schema)

describe('a form', () => {
  it('has a field for each kind of schema, and JSON for the rest', () => {
    if (form.kind !== 'group') throw new Error('It is no group')
    expect(form.members.map(({ name, field }) => [name, field.kind])).toEqual([
      ['topic', 'text'],
      ['depth', 'number'],
      ['loud', 'flag'],
      ['tone', 'choice'],
      ['tags', 'list'],
      ['place', 'group'],
      ['extra', 'json'],
    ])
    expect(form.members[0]).toMatchObject({ isRequired: true, field: { title: 'Topic', maxLength: 10 } })
  })

  it('begins with the defaults and leaves out what is not given', () => {
    const draft = draftOf(form)
    expect(draft).toMatchObject({ topic: '', depth: '2' })
    expect(readDraft(form, { ...(draft as object), topic: 'owls' })).toEqual({
      value: { topic: 'owls', depth: 2 },
      faults: [],
    })
  })

  it('reads all that is given, nested as well', () => {
    const draft = {
      topic: 'owls',
      depth: '3',
      loud: false,
      tone: '1',
      tags: ['a', 'b'],
      place: { city: 'Brno' },
      extra: '{"x": [1]}',
    }
    expect(readDraft(form, draft).value).toEqual({
      topic: 'owls',
      depth: 3,
      loud: false,
      tone: 'warm',
      tags: ['a', 'b'],
      place: { city: 'Brno' },
      extra: { x: [1] },
    })
  })

  it('has nothing in a list for an item that is not filled in yet', () => {
    const { value, faults } = readDraft(form, { topic: 'owls', depth: '2', tags: ['a', ''] })
    expect(value).toEqual({ topic: 'owls', depth: 2, tags: ['a'] })
    expect(faults.map(({ path }) => path)).toEqual(['input.tags.1'])
  })

  it('says what is missing and wrong, at its place, as the server names places', () => {
    const draft = { topic: '', depth: '9', tags: [''], extra: '{' }
    expect(readDraft(form, draft).faults.map(({ path }) => path)).toEqual([
      'input.topic',
      'input.depth',
      'input.tags.0',
      'input.extra',
    ])
  })

  it('does not follow a schema that contains itself without end', () => {
    const tree = { type: 'object', properties: { left: { $ref: '#' } } }
    expect(JSON.stringify(draftOf(fieldOf(tree)))).toContain('left')
  })

  it('takes the faults from the refusal of a server', () => {
    const errors = [{ path: 'input.topic', message: 'expected string' }]
    expect(faultsOf(new HoldfastError('invalid_input', 'no', { facts: { errors } }))).toEqual(errors)
    expect(faultsOf(new Error('other'))).toEqual([])
  })

  it.each([
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'text'],
    [{ oneOf: [{ const: 'a' }, { const: 'b' }] }, 'choice'],
    [{ const: 3 }, 'choice'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 'json'],
    [{ type: 'object', additionalProperties: { type: 'string' } }, 'json'],
    [{ type: 'array' }, 'json'],
    [{ $ref: 'https://elsewhere.test/schema' }, 'json'],
  ])('reads %j as %s', (given, kind) => {
    expect(fieldOf(given).kind).toBe(kind)
  })
})
