import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { taskId } from '../../../src/core/id.ts'
import { mergeLineage, type ParentContext } from '../../../src/core/lineage.ts'

const outer = taskId('bg_1')
const run = taskId('bg_0')
const ambient: ParentContext = { task: outer, run, call: 'call_1', agent: 'helper' }

describe('mergeLineage', () => {
  it('inherits the whole ambient context when nothing is given', () => {
    expect(mergeLineage(undefined, ambient)).toEqual(ambient)
    expect(mergeLineage({}, ambient)).toEqual(ambient)
  })

  it('prefers each explicit field', () => {
    expect(mergeLineage({ call: 'call_2' }, ambient)).toEqual({ ...ambient, call: 'call_2' })
    expect(mergeLineage({ agent: 'other', run: outer }, ambient)).toEqual({ ...ambient, agent: 'other', run: outer })
  })

  it('inherits nothing beside an explicit task', () => {
    const task = taskId('bg_7')
    expect(mergeLineage({ task }, ambient)).toEqual({ task })
    expect(mergeLineage({ task, call: 'call_2' }, ambient)).toEqual({ task, call: 'call_2' })
  })

  it('takes an explicit field that is undefined as not given', () => {
    const explicit = { task: undefined, run: undefined, call: undefined, agent: 'other' } as unknown as ParentContext
    expect(mergeLineage(explicit, ambient)).toEqual({ ...ambient, agent: 'other' })
  })

  it('leaves an empty context out', () => {
    expect(mergeLineage(undefined, undefined)).toBeUndefined()
    expect(mergeLineage({}, {})).toBeUndefined()
    expect(mergeLineage({ call: undefined } as unknown as ParentContext, undefined)).toBeUndefined()
  })

  it('never holds a field that is undefined', () => {
    const field = fc.option(fc.constantFrom('bg_1', 'bg_2'), { nil: undefined })
    const context = fc.record({ task: field, run: field, call: field, agent: field }, { requiredKeys: [] })
    const any = fc.option(context, { nil: undefined }) as fc.Arbitrary<ParentContext | undefined>
    fc.assert(
      fc.property(any, any, (explicit, inherited) => {
        const merged = mergeLineage(explicit, inherited)
        expect(Object.values(merged ?? { none: true })).not.toContain(undefined)
        expect(merged).not.toEqual({})
      }),
    )
  })
})
