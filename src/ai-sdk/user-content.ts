import type { ModelMessage } from 'ai'
import type { Part } from '../core/message.ts'

type UserContent = Exclude<Extract<ModelMessage, { role: 'user' }>['content'], string>

/** What a person said, as a model is given it. */
export function userContent(parts: readonly Part[]): UserContent {
  return parts.flatMap((part): UserContent => {
    switch (part.type) {
      case 'text':
        return [{ type: 'text', text: part.text }]
      case 'file':
        return [filePart(part) ?? { type: 'text', text: part.url }]
      case 'data':
        return [{ type: 'text', text: jsonText(part.value) }]
      default:
        return []
    }
  })
}

type FilePart = Extract<UserContent[number], { type: 'file' }>

/** Undefined if it is nowhere: what is no address, a model cannot be given. */
export function filePart({ mediaType, name, url }: Extract<Part, { type: 'file' }>): FilePart | undefined {
  if (!URL.canParse(url)) return undefined
  return { type: 'file', mediaType, data: new URL(url), ...(name !== undefined && { filename: name }) }
}

/** A text, a list of parts, or anything else, which is told as JSON. */
export function asParts(content: unknown): readonly Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (Array.isArray(content) && content.length > 0 && content.every(isPart)) return content
  return [{ type: 'data', name: 'input', value: content }]
}

export function jsonText(value: unknown): string {
  if (typeof value === 'string') return value
  return JSON.stringify(value) ?? 'nothing'
}

function isPart(value: unknown): value is Part {
  const type = typeof value === 'object' && value !== null ? (value as { type?: unknown }).type : undefined
  return type === 'text' || type === 'file' || type === 'data'
}
