import { describe, expect, it } from 'vitest'
import { checkOutline, outline } from '../../site/outline.ts'
import { between, placeOf } from '../../site/places.ts'

const groups = [{ title: 'Start', pages: ['README.md', 'docs/agents.md'] }]

describe('the outline of the site', () => {
  it('refuses a page that stands in no group, and says where to put it', () => {
    const present = new Set(['README.md', 'docs/agents.md', 'docs/new.md'])
    expect(() => checkOutline(groups, present)).toThrow('docs/new.md stands in no group of site/outline.ts. Add it')
  })

  it('refuses a page that is not there', () => {
    expect(() => checkOutline(groups, new Set(['README.md']))).toThrow('lists docs/agents.md, which is not there')
  })

  it('refuses a page that is listed twice', () => {
    const twice = [...groups, { title: 'More', pages: ['README.md'] }]
    expect(() => checkOutline(twice, new Set(['README.md', 'docs/agents.md']))).toThrow('lists README.md twice')
  })

  it('gives every page a place of its own', () => {
    const places = outline.flatMap(({ pages }) => pages).map(placeOf)
    expect(new Set(places).size).toBe(places.length)
    expect(placeOf('docs/client.md')).toBe('client.html')
    expect(placeOf('holdfast/client')).toBe('api/client.html')
    expect(placeOf('docs/decisions/0001-a.md')).toBe('decisions/0001-a.html')
  })

  it('leads from page to page without the address of the site', () => {
    expect(between('api/client.html', 'index.html')).toBe('../index.html')
    expect(between('decisions/index.html', 'decisions/0001-a.html')).toBe('0001-a.html')
    expect(between('a.html', 'a.html')).toBe('a.html')
  })
})
